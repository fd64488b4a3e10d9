"""Equal inputs give equal bytes, whatever the cache holds: with the real model, over chunkings of
several sizes."""

from pathlib import Path

import numpy as np
import pytest

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.pipeline.resources import Resources
from lab.retrieval.config import DEFAULT_MODEL
from lab.retrieval.encoder import SentenceEncoder
from lab.retrieval.rerank import TokenVectors
from lab.storage.cache import Cache
from tests.conftest import ROOT

QUESTIONS = ["pump", "Why does the pump leak?", "ERR-4042", "how often is the filter to be cleaned"]


@pytest.fixture(scope="module")
def corpus() -> lab.Corpus:
    return lab.Corpus(list(lab.read_corpus(ROOT / "corpora" / "devices"))[:2])


def texts_of(corpus: lab.Corpus, size: int) -> list[str]:
    return list(chunk(corpus, ChunkConfig(size=size)).texts)


def test_vectors_do_not_depend_on_what_the_cache_held(corpus: lab.Corpus) -> None:
    wanted = [*texts_of(corpus, 200), *texts_of(corpus, 90), "", "x", "a b"]
    cold = Resources(Cache(None)).embed(DEFAULT_MODEL, "passage", wanted)
    warmed = Resources(Cache(None))
    warmed.embed(DEFAULT_MODEL, "passage", texts_of(corpus, 130))
    partly = Resources(Cache(None))
    partly.embed(DEFAULT_MODEL, "passage", wanted[::3])
    for text in ("x", wanted[5]):
        partly.embed(DEFAULT_MODEL, "passage", [text])
    for filled in (warmed, partly):
        again = Resources(filled.cache)
        assert again.embed(DEFAULT_MODEL, "passage", wanted).tobytes() == cold.tobytes()
        assert again.counts["texts computed"]
    assert again.counts["texts cached"]


def test_pair_scores_do_not_depend_on_what_the_cache_held(corpus: lab.Corpus) -> None:
    texts = texts_of(corpus, 200)[:30]
    asked = [question for question in QUESTIONS for _ in texts]
    cold = Resources(Cache(None)).score_pairs("maxsim", asked, texts * len(QUESTIONS))
    partly = Resources(Cache(None))
    partly.score_pairs("maxsim", asked[::7], (texts * len(QUESTIONS))[::7])
    partly.score_pairs("maxsim", ["pump"], [texts[3]])
    again = partly.score_pairs("maxsim", asked, texts * len(QUESTIONS))
    assert again.tobytes() == cold.tobytes()


def test_a_run_writes_the_same_tables_from_any_cache(corpus: lab.Corpus, tmp_path: Path) -> None:
    queries = [
        query
        for query in lab.read_diagnostics(
            ROOT / "diagnostic_sets" / "devices", lab.read_corpus(ROOT / "corpora" / "devices")
        )
        if query.evidence and all(item.doc_id in corpus for item in query.evidence)
    ][:12]
    grid = lab.Grid(chunk_size=(150, 300), alpha=(0.0, 0.5, 1.0), rerank_depth=(0, 5))

    def rankings(cache: Path) -> str:
        run = lab.sweep(corpus, queries, grid, cache=cache)
        return run.table().to_csv() + run.causes().to_csv()

    cold, warm = tmp_path / "cold.sqlite", tmp_path / "warm.sqlite"
    first = rankings(cold)
    lab.sweep(corpus, queries, lab.Grid(chunk_size=220, mode="dense"), cache=warm)
    assert rankings(warm) == first
    assert rankings(cold) == first


def test_a_text_passes_the_model_once_for_vector_and_late_interaction(corpus: lab.Corpus) -> None:
    texts = texts_of(corpus, 200)[:30]
    asked = [question for question in QUESTIONS for _ in texts]

    def passes(resources: Resources, late_interaction_known: bool) -> tuple[bytes, bytes, int]:
        read = []
        encoder = resources.encoder(DEFAULT_MODEL)
        assert isinstance(encoder, SentenceEncoder)
        counting = encoder.model.register_forward_hook(
            lambda model, given, made: read.append(len(given[0]["input_ids"]))
        )
        if late_interaction_known:
            resources.scorer("maxsim")
        vectors = resources.embed(DEFAULT_MODEL, "passage", texts)
        scores = resources.score_pairs("maxsim", asked, texts * len(QUESTIONS))
        counting.remove()
        return vectors.tobytes(), scores.tobytes(), len(read)

    vectors, scores, of_both = passes(Resources(Cache(None)), late_interaction_known=False)
    *shared, of_one = passes(Resources(Cache(None)), late_interaction_known=True)
    assert shared == [vectors, scores]
    questions = len(QUESTIONS)  # each of another length: a batch of its own
    assert of_both - questions == 2 * (of_one - questions)


def test_token_vectors_that_have_no_room_are_read_again() -> None:
    kept = TokenVectors(room=100)
    kept.keep("a", np.ones((2, 4), dtype=np.float32))
    kept.keep("b", np.ones((10, 4), dtype=np.float32))
    kept.keep("c", np.ones((3, 4), dtype=np.float32))
    assert [kept.get(text) is not None for text in "abc"] == [True, False, True]
    assert kept.room == 100 - 4 * (2 + 3) * 4
