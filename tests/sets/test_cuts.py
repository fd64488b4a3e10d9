"""Evidence against cuts: chances worked on paper, sets chosen by the cuts are accused, blind ones
are not."""

import numpy as np
import pytest

from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.corpus.document import Corpus, Document
from lab.relevance.query import Evidence, Query
from lab.sets.audit.cuts import (
    CutRate,
    chance_of_windows,
    chosen_by_cuts,
    evidence_spans,
    parted,
    poisson_binomial_p,
    prediction_p,
)


def test_the_chance_that_windows_part_a_span() -> None:
    # Windows of 10 every 10: a span of 4 lies whole in one from 7 of 10 places. With an overlap of
    # 4 they begin every 6, and 7 places of 6 hold it: it is never parted.
    chances = chance_of_windows(np.array([1.0, 4.0, 11.0]), 10, 0).tolist()
    assert chances == pytest.approx([0.0, 0.3, 1.0])
    assert chance_of_windows(np.array([4.0, 8.0]), 10, 4).tolist() == [0.0, 0.5]


def test_the_chance_equals_counting_all_places_of_the_first_cut() -> None:
    size, overlap = 23, 5
    for length in (1, 7, 19, 23, 30):
        start = 200
        whole = 0
        for phase in range(size - overlap):
            windows = [(b, b + size) for b in range(phase - size, 400, size - overlap)]
            whole += any(left <= start and right >= start + length for left, right in windows)
        counted = 1 - whole / (size - overlap)
        assert chance_of_windows(np.array([float(length)]), size, overlap)[0] == pytest.approx(
            counted
        ), length


def test_the_poisson_binomial_on_paper() -> None:
    # Two fair coins: P(0) = 1/4; two-sided 1/2. A certain and an impossible trial: always 1.
    assert poisson_binomial_p(0, np.array([0.5, 0.5])) == 0.5
    assert poisson_binomial_p(1, np.array([1.0, 0.0])) == 1.0
    assert poisson_binomial_p(0, np.array([1.0, 0.0])) == 0.0


def test_a_count_beside_other_phases() -> None:
    # Mean 10, sd 2, spread 2 * sqrt(1 + 1/3) = 2.309, t = 6 / 2.309 = 2.598 with 2 degrees: 0.122.
    assert prediction_p(16, [8, 10, 12]) == pytest.approx(0.1217, abs=1e-4)
    assert prediction_p(5, [5, 5, 5]) == 1.0
    assert prediction_p(6, [5, 5, 5]) == 0.0


def test_spans_are_distinct_written_and_parted_where_no_chunk_holds_them() -> None:
    corpus = Corpus([Document("a", "x" * 30)])
    queries = [
        Query("q1", "one", kind="k", evidence=(Evidence("a", 2, 8), Evidence("a", 8, 12))),
        Query("q2", "two", kind="k", evidence=(Evidence("a", 2, 8),)),
        Query("q3", "three", kind="k", evidence=(Evidence("a", 9, 11),), tags={"origin": "mined"}),
        Query("q4", "four", kind="k", evidence=(Evidence("a"),)),
    ]
    spans = evidence_spans(queries, corpus)
    assert list(zip(spans.start.tolist(), spans.end.tolist(), strict=True)) == [(2, 8), (8, 12)]
    chunking = chunk(corpus, ChunkConfig(strategy="fixed", size=10))
    assert parted(chunking, spans).tolist() == [False, True]


def test_only_sure_and_large_differences_are_accused() -> None:
    spared = CutRate("keyword", "fixed-400", 60, 1, 14.0, 1e-5)
    hit = CutRate("boundary", "fixed-400", 50, 48, 15.0, 1e-9)
    fine = CutRate("semantic", "fixed-400", 60, 12, 14.0, 0.6)
    small = CutRate("semantic", "sentences-200", 5000, 1100, 1000.0, 1e-6)
    findings = list(chosen_by_cuts([spared, hit, fine, small]))
    assert [(each.rule, each.cases) for each in findings] == [
        ("evidence spared by the cuts", ("keyword fixed-400",)),
        ("evidence hit by the cuts", ("boundary fixed-400",)),
    ]
    assert "keyword under fixed-400: 1 of 60 spans are cut, 14.0 by chance" in findings[0].message
