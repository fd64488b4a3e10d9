"""Equal inputs give equal bytes, whatever the cache holds: with the real model, over chunkings of
several sizes."""

from pathlib import Path

import pytest

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.pipeline.resources import Resources
from lab.retrieval.config import DEFAULT_MODEL
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
