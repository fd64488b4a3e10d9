"""Places: the most evidence that a cut-off has room for equals that of trying every ranking."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.diagnosis.cutoff import Cutoff
from lab.diagnosis.places import reachable
from lab.evaluation.scores import SystemRun
from lab.relevance.judge import judge_for
from lab.relevance.pieces import pieces
from lab.relevance.query import Evidence, Query
from tests.conftest import ROOT
from tests.evaluation import reference
from tests.evaluation.reference import Piece
from tests.given import corpus_of, ranking_of

LETTERS = "abcdefghij" * 6


def spans_of() -> st.SearchStrategy[list[tuple[str, int, int, str | None]]]:
    places = st.tuples(
        st.sampled_from(["d0", "d1"]),
        st.integers(0, 48),
        st.integers(2, 12),
        st.sampled_from([None, None, "g"]),
    )
    return st.lists(places, min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(spans_of(), st.integers(1, 4), st.sampled_from([7, 10, 20]), st.booleans())
def test_the_most_that_any_ranking_holds(drawn, k, size, by_tokens) -> None:
    texts = {"d0": LETTERS, "d1": LETTERS}
    evidence = tuple(
        Evidence(doc_id, start, start + length, group=group)
        for doc_id, start, length, group in drawn
    )
    corpus = corpus_of(texts)
    asked = pieces([Query("q", "?", evidence=evidence)])
    spans = chunk(corpus, ChunkConfig(size=size))
    judge = judge_for(asked, spans)
    tokens = spans.end - spans.start
    run = SystemRun(judge, judge.judge(ranking_of([{0: 1.0}], 1)), tokens)
    budget = k * 8 if by_tokens else None
    found = reachable(asked, run, Cutoff(k, budget, 5))
    chunks = [
        (f"d{document}", int(start), int(end))
        for document, start, end in zip(spans.document, spans.start, spans.end, strict=True)
        if any(f"d{document}" == d and start < s + n and s < end for d, s, n, _ in drawn)
    ]
    wanted = [Piece([(i.doc_id, i.start, i.end) for i in items], 3, True) for items in asked.items]
    most = 0
    for count in range(len(chunks) + 1 if by_tokens else k + 1):
        for some in combinations(chunks, count):
            if budget is None or sum(end - start for _, start, end in some) <= budget:
                most = max(most, len(reference.completed(texts, list(some), wanted, 0.9)))
        if most == len(wanted) or count == 5:
            break
    assert found.tolist() == [most]


def test_documents_take_a_place_each() -> None:
    corpus = corpus_of({f"d{i}": "x " * (i + 1) for i in range(4)})
    asked = pieces([Query("q", "?", evidence=tuple(Evidence(f"d{i}") for i in range(4)))])
    judge = judge_for(asked, chunk(corpus, ChunkConfig(strategy="document")))
    run = SystemRun(judge, judge.judge(ranking_of([{0: 1.0}], 1)), np.array([1, 2, 3, 4]))
    assert reachable(asked, run, Cutoff(3, None, 5)).tolist() == [3]
    assert reachable(asked, run, Cutoff(9, None, 5)).tolist() == [4]
    assert reachable(asked, run, Cutoff(3, 6, 5)).tolist() == [3]
    assert reachable(asked, run, Cutoff(3, 5, 5)).tolist() == [2]


def test_evidence_that_is_not_in_the_corpus_takes_a_place_too() -> None:
    corpus = corpus_of({"d": LETTERS})
    asked = pieces([Query("q", "?", evidence=(Evidence("d", 0, 5), Evidence("gone", 0, 5)))])
    judge = judge_for(asked, chunk(corpus, ChunkConfig(size=10)))
    run = SystemRun(judge, judge.judge(ranking_of([{0: 1.0}], 1)), np.full(6, 10))
    assert reachable(asked, run, Cutoff(2, None, 5)).tolist() == [2]
    assert reachable(asked, run, Cutoff(1, None, 5)).tolist() == [1]


def test_the_solver_writes_nothing_of_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    """HiGHS wrote `tmpSolver.run();` for this question of the devices."""
    corpus = lab.read_corpus(ROOT / "corpora" / "devices")
    asked = lab.read_diagnostics(ROOT / "diagnostic_sets" / "devices" / "keyword.jsonl", corpus)
    question = [query for query in asked if query.query_id == "dev-kw-050"]
    grid = {"mode": "bm25", "chunk_strategy": ("fixed", "sentences"), "chunk_size": (400, 800)}
    lab.sweep(corpus, question, grid, progress=False)
    assert capfd.readouterr().out == ""
