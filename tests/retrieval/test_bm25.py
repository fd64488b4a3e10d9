"""BM25 against rank-bm25 and bm25s, and what a hit is."""

import json

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.arrays import NONE
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.corpus.read import read_corpus
from lab.retrieval.analyzer import ANALYZERS
from lab.retrieval.bm25 import build, compile_terms
from lab.retrieval.config import BM25Config
from tests.conftest import ROOT
from tests.given import corpus_of
from tests.retrieval.reference_bm25 import VARIANTS

DOCUMENTS = st.lists(
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=12), min_size=1, max_size=15
)
QUESTION = st.lists(st.sampled_from("abcdefghz"), max_size=6)


def scores_of(
    documents: list[list[str]], question: list[str], config: BM25Config
) -> tuple[dict[int, float], np.ndarray]:
    """Hits with scores as searched, and the scores looked up for every document (NaN: shares no
    term)."""
    index = compile_terms(documents, config)
    everything = np.arange(len(documents))[None]
    found = index.search([" ".join(question)], len(documents))
    searched = dict(zip(found.hits(0).tolist(), found.scores[0].tolist(), strict=False))
    return searched, index.scores([" ".join(question)], everything)[0]


@pytest.mark.parametrize("variant", sorted(VARIANTS))
@settings(max_examples=60, deadline=None)
@given(
    documents=DOCUMENTS,
    question=QUESTION,
    k1=st.sampled_from([0.4, 1.2, 1.5, 3.0]),
    b=st.sampled_from([0.0, 0.3, 0.75, 1.0]),
)
def test_scores_are_rank_bm25s(
    variant: str, documents: list[list[str]], question: list[str], k1: float, b: float
) -> None:
    searched, looked_up = scores_of(documents, question, BM25Config(variant=variant, k1=k1, b=b))
    expected = VARIANTS[variant](documents, k1=k1, b=b).get_scores(question)
    shares = [bool(set(document) & set(question)) for document in documents]
    assert sorted(searched) == [i for i, shared in enumerate(shares) if shared]
    assert np.isnan(looked_up).tolist() == [not shared for shared in shares]
    for i, score in searched.items():
        assert score == pytest.approx(expected[i], abs=1e-9)
        assert looked_up[i] == pytest.approx(expected[i], abs=1e-9)


@pytest.fixture(scope="module")
def devices() -> tuple[list[list[str]], list[list[str]]]:
    """Terms of the demo corpus's chunks, and of its own questions."""
    analyze = ANALYZERS["auto"]
    chunking = chunk(read_corpus(ROOT / "corpora" / "devices"), ChunkConfig(size=300))
    files = sorted((ROOT / "diagnostic_sets" / "devices").glob("*.jsonl"))
    questions = [
        json.loads(line)["text"]
        for file in files
        for line in file.read_text("utf-8").splitlines()
        if line.strip()
    ]
    return [analyze(text) for text in chunking.texts], [analyze(question) for question in questions]


@pytest.mark.parametrize("variant", ["okapi", "l", "plus"])
def test_scores_are_rank_bm25s_on_a_real_corpus(
    variant: str, devices: tuple[list[list[str]], list[list[str]]]
) -> None:
    documents, questions = devices
    reference = VARIANTS[variant](documents, k1=1.2, b=0.75)
    index = compile_terms(documents, BM25Config(variant=variant))
    everything = np.arange(len(documents))[None]
    for question in questions[::7]:
        found = index.scores([" ".join(question)], everything)[0]
        held = ~np.isnan(found)
        # The index analyses the joined terms again: identifiers come apart once more, as they do in
        # the reference's question.
        again = ANALYZERS["auto"](" ".join(question))
        assert held.any()
        np.testing.assert_allclose(
            found[held], reference.get_scores(again)[held], atol=1e-9, rtol=0
        )


def bm25s_ranking(
    documents: list[list[str]], question: list[str], k1: float, b: float
) -> list[int]:
    """The order of bm25s' lucene method over documents with a score, ties by place, scores compared
    to 6 decimals."""
    model = bm25s.BM25(method="lucene", k1=k1, b=b, dtype="float64")
    model.index(documents, show_progress=False)
    scores = model.get_scores(question)
    return [
        int(i)
        for i in np.lexsort((np.arange(len(scores)), -np.round(scores * (k1 + 1), 6)))
        if scores[i] > 0
    ]


@settings(max_examples=40, deadline=None)
@given(documents=DOCUMENTS, question=QUESTION)
def test_lucene_ranks_as_bm25s_does(documents: list[list[str]], question: list[str]) -> None:
    known = [term for term in question if any(term in document for document in documents)]
    found = compile_terms(documents, BM25Config()).search([" ".join(known)], len(documents))
    assert found.hits(0).tolist() == (bm25s_ranking(documents, known, 1.2, 0.75) if known else [])


def test_lucene_ranks_a_real_corpus_as_bm25s_does(
    devices: tuple[list[list[str]], list[list[str]]],
) -> None:
    documents, questions = devices
    index = compile_terms(documents, BM25Config())
    model = bm25s.BM25(method="lucene", k1=1.2, b=0.75, dtype="float64")
    model.index(documents, show_progress=False)
    vocabulary = set(index.vocabulary)
    for question in questions[::3]:
        again = ANALYZERS["auto"](" ".join(question))
        scores = model.get_scores([term for term in again if term in vocabulary]) * 2.2
        found = index.search([" ".join(question)], len(documents))
        np.testing.assert_allclose(
            found.scores[0, : found.lengths[0]], scores[found.hits(0)], atol=1e-9
        )
        ranked = np.lexsort((np.arange(len(scores)), -np.round(scores, 6)))
        assert found.hits(0).tolist() == [i for i in ranked.tolist() if scores[i] > 0]


C1 = ["pump alpha"]
C2 = ["pump alpha", "pump beta", "valve gamma", "valve delta"]
C3 = ["pump alpha", "pump beta", "pump gamma", "valve delta"]
C4 = ["pump alpha", "motor beta", "valve gamma", "valve delta"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [(C1, [0.287682]), (C2, [0.693147, 0.693147]), (C3, [0.356675] * 3), (C4, [1.203973])],
)
def test_b01_a_small_corpus_gives_positive_scores(texts: list[str], expected: list[float]) -> None:
    searched, _ = scores_of([text.split() for text in texts], ["pump"], BM25Config(k1=1.5))
    assert list(searched.values()) == pytest.approx(expected, abs=1e-6)
    assert list(searched) == [i for i, text in enumerate(texts) if "pump" in text]


@pytest.mark.parametrize("variant", ["lucene", "l", "plus"])
def test_b01_rarer_terms_score_higher_and_always_above_0(variant: str) -> None:
    """Okapi is left out: it is rank-bm25's to the digit, with its idf of 0 and below."""
    config = BM25Config(variant=variant)
    rare, middle, common = (
        scores_of([t.split() for t in texts], ["pump"], config)[0][0] for texts in (C4, C2, C3)
    )
    assert rare > middle > common > 0
    assert scores_of([text.split() for text in C1], ["pump"], config)[0][0] > 0


def test_b02_empty_chunks_count_neither_in_n_nor_in_the_average_length() -> None:
    chunking = chunk(corpus_of({"d1": "", "d2": "pump alpha"}), ChunkConfig())
    found = build(chunking, BM25Config(k1=1.5)).search(["pump"], 10)
    assert [chunking[int(i)].doc_id for i in found.hits(0)] == ["d2"]
    assert found.scores[0, 0] == pytest.approx(0.287682, abs=1e-6)
    assert chunking.blank == 1
    index = compile_terms([[], ["pump", "alpha"], []], BM25Config(k1=1.5))
    assert index.blank == 2
    assert index.search(["pump"], 5).scores[0, 0] == pytest.approx(0.287682, abs=1e-6)


@pytest.mark.parametrize("documents", [[], [[]], [[], []]])
@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_b02_nothing_to_index_finds_nothing(documents: list[list[str]], variant: str) -> None:
    index = compile_terms(documents, BM25Config(variant=variant))
    assert index.search(["pump", ""], 5).lengths.tolist() == [0, 0]
    assert np.isnan(index.scores(["pump"], np.arange(len(documents))[None])).all()


@pytest.mark.parametrize("question", ["zzz", "", "   ", "the of and"])
def test_b03_a_question_without_a_known_term_finds_nothing(question: str) -> None:
    texts = {"d1": "pump alpha", "d2": "valve beta", "d3": "motor gamma"}
    index = build(chunk(corpus_of(texts), ChunkConfig()), BM25Config(analyzer="stop"))
    assert index.search([question], 5).lengths.tolist() == [0]


@pytest.mark.parametrize("variant", sorted(VARIANTS))
def test_b10_depth_beyond_the_corpus_gives_what_there_is(variant: str) -> None:
    index = compile_terms([["a"], ["a", "b"], ["c"]], BM25Config(variant=variant))
    assert index.search(["a"], 10).lengths.tolist() == [2]


def test_a_term_in_half_of_all_chunks_is_a_hit_under_okapi_though_its_score_is_0() -> None:
    searched, looked_up = scores_of([["a"], ["b"]], ["a"], BM25Config(variant="okapi"))
    assert searched == {0: 0.0}
    assert looked_up[0] == 0
    assert np.isnan(looked_up[1])


def test_absent_candidates_have_no_score() -> None:
    index = compile_terms([["a"], ["b"]], BM25Config())
    assert np.isnan(index.scores(["a"], np.array([[NONE, 1]]))).all()


def test_repeated_question_terms_count_as_often_as_they_stand() -> None:
    once, twice = (
        scores_of([["a", "b"], ["c"]], q, BM25Config())[0][0] for q in (["a"], ["a", "a"])
    )
    assert twice == pytest.approx(2 * once)
