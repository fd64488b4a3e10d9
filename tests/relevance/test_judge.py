"""Judging by evidence: monotone in rank, and the same however the text is cut or the input is
ordered."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.arrays import NEVER
from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.errors import DiagnosticsError
from lab.relevance.judge import DocumentJudge, SpanJudge, judge_for
from lab.relevance.pieces import pieces
from lab.relevance.query import Evidence, Query, in_order
from tests.given import corpus_of, ranking_of

TEXT = (
    "The pump leaks when the seal is worn. Replace the seal. 水泵漏水。 "
    "Torque the four bolts to 12 Nm."
)
SPANS = st.tuples(st.integers(0, len(TEXT) - 12), st.integers(3, 40)).map(
    lambda s: (s[0], min(s[0] + s[1], len(TEXT)))
)


def asked(*spans: tuple[int, int], **evidence: object) -> Query:
    return Query(
        "q", "?", evidence=tuple(Evidence("d", start, end, **evidence) for start, end in spans)
    )


def judged(query: Query, chunking: Chunking, order: list[int]) -> tuple[SpanJudge, list[int]]:
    judge = SpanJudge(pieces([query]), chunking)
    return judge, judge.judge(
        ranking_of([{c: -float(r) for r, c in enumerate(order)}], 99)
    ).complete.tolist()


@settings(max_examples=80, deadline=None)
@given(
    evidence=st.lists(SPANS, min_size=1, max_size=3),
    size=st.integers(3, 50),
    overlap=st.integers(0, 10),
    data=st.data(),
)
def test_coverage_grows_with_rank_and_everything_holds_everything(
    evidence: list[tuple[int, int]], size: int, overlap: int, data: st.DataObject
) -> None:
    chunking = chunk(corpus_of({"d": TEXT}), ChunkConfig(size=size, overlap=min(overlap, size - 1)))
    order = data.draw(st.permutations(range(len(chunking))))
    judge, complete = judged(asked(*evidence), chunking, order)
    ranking = ranking_of([{c: -float(r) for r, c in enumerate(order)}], 99)
    covered = [judge.coverage(ranking, k)[0] for k in range(1, len(order) + 1)]
    assert covered == sorted(covered)
    assert covered[-1] == pytest.approx(1)
    assert max(complete) <= len(order)


@settings(max_examples=60, deadline=None)
@given(evidence=SPANS, sizes=st.lists(st.integers(3, 60), min_size=2, max_size=2, unique=True))
def test_every_question_is_judged_under_every_size(
    evidence: tuple[int, int], sizes: list[int]
) -> None:
    """A shattered piece is a miss at small k, never an excluded question; all chunks together
    always hold it."""
    for size in sizes:
        chunking = chunk(corpus_of({"d": TEXT}), ChunkConfig(size=size))
        judge, complete = judged(asked(evidence), chunking, list(range(len(chunking))))
        assert judge.judge(ranking_of([{}], 5)).complete.tolist() == [NEVER]
        assert 1 <= judge.pieces_needed()[0] <= complete[0] <= len(chunking)


@settings(max_examples=60, deadline=None)
@given(evidence=SPANS, cut=st.integers(1, 11))
def test_recutting_what_was_retrieved_changes_no_coverage(
    evidence: tuple[int, int], cut: int
) -> None:
    """The first chunk of 24, or the two parts of it: the same text is seen."""
    corpus = corpus_of({"d": TEXT})
    whole, parted = (
        Chunking.of(corpus, [(0, 12, 36, 0)]),
        Chunking.of(corpus, [(0, 12, 12 + cut, 0), (0, 12 + cut, 36, 0)]),
    )
    one, two = (SpanJudge(pieces([asked(evidence)]), spans) for spans in (whole, parted))
    assert one.coverage(ranking_of([{0: 1.0}], 9), 1) == pytest.approx(
        two.coverage(ranking_of([dict.fromkeys(range(len(parted)), 1.0)], 9), 2)
    )


def test_evidence_at_both_ends_of_a_document() -> None:
    chunking = chunk(corpus_of({"c": "other", "d": TEXT, "e": "other"}), ChunkConfig(size=20))
    members = [i for i, c in enumerate(chunking) if c.doc_id == "d"]
    _, complete = judged(asked((0, 3), (len(TEXT) - 3, len(TEXT))), chunking, members[::-1])
    assert complete == [len(members), 1]


def test_alternatives_in_two_documents_are_one_piece() -> None:
    corpus = corpus_of({"a": "The fuse is 4 A.", "b": "Fuse: 4 A slow."})
    chunking = chunk(corpus, ChunkConfig())
    query = Query(
        "q",
        "?",
        evidence=(Evidence("a", 0, 16, group="g"), Evidence("b", 0, 15, group="g", grade=2)),
    )
    found = pieces([query])
    assert (len(found), found.grade.tolist()) == (1, [3])
    for first in (0, 1):
        assert SpanJudge(found, chunking).judge(
            ranking_of([{first: 1.0}], 3)
        ).complete.tolist() == [1]


def test_blank_characters_never_count() -> None:
    chunking = Chunking.of(corpus_of({"d": "ab   \n\n   cd"}), [(0, 0, 3, 0), (0, 8, 12, 0)])
    _, complete = judged(asked((0, 12)), chunking, [0, 1])
    assert complete == [2]
    _, complete = judged(asked((0, 9)), chunking, [1, 0])
    assert complete == [2]


def test_nine_of_ten_characters_are_enough_and_eight_are_not() -> None:
    corpus = corpus_of({"d": "x" * 10})
    assert judged(asked((0, 10)), Chunking.of(corpus, [(0, 0, 9, 0)]), [0])[1] == [1]
    assert judged(asked((0, 10)), Chunking.of(corpus, [(0, 0, 8, 0)]), [0])[1] == [NEVER]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_a_question_is_judged_alone(seed: int) -> None:
    """Other questions beside it, in any order, change none of its completion ranks."""
    draw = np.random.default_rng(seed)
    chunking = chunk(corpus_of({"d": TEXT, "e": TEXT[::-1]}), ChunkConfig(size=15, overlap=5))
    queries = [
        Query(
            f"q{i}",
            "?",
            evidence=tuple(
                Evidence("de"[draw.integers(2)], int(s), int(s) + 20)
                for s in draw.integers(0, 60, 2)
            ),
        )
        for i in range(3)
    ]
    rows = {
        q.query_id: {int(c): -float(r) for r, c in enumerate(draw.permutation(len(chunking))[:6])}
        for q in queries
    }

    def complete(some: list[Query]) -> dict[str, list[int]]:
        found = pieces(some)
        ranks = (
            SpanJudge(found, chunking)
            .judge(ranking_of([rows[q.query_id] for q in some], 9))
            .complete
        )
        return {q.query_id: ranks[found.query == i].tolist() for i, q in enumerate(some)}

    together, reverse = complete(queries), complete(queries[::-1])
    assert together == reverse == {k: v for q in queries for k, v in complete([q]).items()}


def test_documents_are_judged_where_no_evidence_has_a_span() -> None:
    chunking = chunk(corpus_of({"a": "x" * 30, "b": "y" * 30}), ChunkConfig(size=10))
    found = pieces([Query("q", "?", evidence=(Evidence("b", grade=1),))])
    judge = judge_for(found, chunking)
    assert isinstance(judge, DocumentJudge)
    assert judge.judge(ranking_of([{0: 3.0, 1: 2.0, 4: 1.0}], 5)).complete.tolist() == [2]


def test_a_question_without_evidence_is_listed_with_its_reason() -> None:
    found = pieces([Query("a", "?"), asked((0, 3))])
    assert found.unscored == (("a", "no evidence"),)
    with pytest.raises(DiagnosticsError, match="nothing can be scored"):
        pieces([Query("a", "?")])


def test_question_ids_are_unique_and_in_order() -> None:
    assert [q.query_id for q in in_order([Query("b", "?"), Query("a", "?")])] == ["a", "b"]
    with pytest.raises(DiagnosticsError, match="'a' is used more than once"):
        in_order([Query("a", "?"), Query("b", "?"), Query("a", "!")])
