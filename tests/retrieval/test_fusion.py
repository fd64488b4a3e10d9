"""Fusion: cases B03, B15-B20 to the digit, and what holds for any scores."""

import itertools
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from lab.arrays import NONE, Floats, Ints
from lab.retrieval.config import FusionConfig
from lab.retrieval.fusion import NORMALIZATIONS, Candidates, candidates, fuse, normalized, weigh
from lab.retrieval.ranking import Ranking, project
from tests.given import ranking_of

Leg = dict[str, float]
ALL = ("min-max", "theoretical", "z-score", "rrf")


def leg_of(scores: dict[int, float], depth: int = 10) -> Ranking:
    return ranking_of([scores], depth)


def found_of(bm25: Leg, dense: Leg, depth: int = 10) -> tuple[Candidates, list[str]]:
    """Candidates of one question whose documents are numbered by name; every leg's own scores are
    the looked up ones."""
    names = sorted({*bm25, *dense})
    legs = [{names.index(name): score for name, score in leg.items()} for leg in (bm25, dense)]

    def exact(leg: dict[int, float]) -> Callable[[Ints], Floats]:
        return lambda chunks: np.reshape(
            [leg.get(int(c), np.nan) for c in chunks.ravel()], chunks.shape
        )

    return candidates(
        leg_of(legs[0], depth), leg_of(legs[1], depth), exact(legs[0]), exact(legs[1])
    ), names


def fused(
    bm25: Leg, dense: Leg, alpha: float, normalization: str = "min-max", depth: int = 10
) -> Leg:
    """Document -> fused score, best first."""
    found, names = found_of(bm25, dense, depth)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranking = fuse(found, FusionConfig(alpha=alpha, normalization=normalization), depth)
    return {names[c]: float(s) for c, s in zip(ranking.hits(0), ranking.scores[0], strict=False)}


def agrees(found: Leg, expected: Leg) -> None:
    assert list(found) == list(expected)
    assert list(found.values()) == pytest.approx(list(expected.values()), abs=1e-6)


def test_b03_a_question_without_lexical_hits_is_ranked_by_the_dense_leg() -> None:
    dense = {"a": 0.9, "b": 0.5, "c": 0.1}
    for normalization in ALL:
        assert list(fused({}, dense, 0.4, normalization)) == ["a", "b", "c"]
    agrees(fused({}, dense, 0.4), {"a": 0.4, "b": 0.2, "c": 0.0})


def test_b15_one_hit_and_equal_scores_become_1() -> None:
    agrees(
        fused({"d1": 5.0}, {"d3": 0.9, "d1": 0.5, "d2": 0.1}, 0.5),
        {"d1": 0.75, "d3": 0.5, "d2": 0.0},
    )
    agrees(
        fused({"d1": 2.0, "d2": 2.0}, {"d3": 0.9, "d1": 0.2}, 0.4),
        {"d1": 0.6, "d2": 0.6, "d3": 0.4},
    )
    agrees(fused({}, {"d3": 0.9, "d1": 0.2}, 0.4), {"d3": 0.4, "d1": 0.0})


def test_b16_absent_counts_exactly_0() -> None:
    agrees(
        fused({"a": 1.0, "b": 2.0}, {"v": 0.9, "a": 0.5, "b": 0.1}, 0.6),
        {"v": 0.6, "b": 0.4, "a": 0.3},
    )


B17 = {"k1": 4.0, "k2": 2.0, "s1": 1.0}, {"s1": 0.9, "s2": 0.6, "k1": 0.3}


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [
        (0.0, {"k1": 1.0, "k2": 1 / 3, "s1": 0.0}),
        (0.2, {"k1": 0.8, "k2": 0.266667, "s1": 0.2, "s2": 0.1}),
        (0.8, {"s1": 0.8, "s2": 0.4, "k1": 0.2, "k2": 0.066667}),
        (1.0, {"s1": 1.0, "s2": 0.5, "k1": 0.0}),
    ],
)
def test_b17_alpha_is_the_weight_of_the_dense_leg(alpha: float, expected: Leg) -> None:
    """At the ends the other leg's own candidates (score 0 in the case) are left out: the list is
    the one leg's."""
    agrees(fused(*B17, alpha), expected)


@pytest.mark.parametrize("alpha", [-0.1, 1.2, float("nan"), float("inf"), None, "much"])
def test_b17_alpha_outside_0_to_1_is_refused(alpha: object) -> None:
    with pytest.raises(ValidationError):
        FusionConfig(alpha=alpha)


def test_b18_weights_matter_in_reciprocal_rank_fusion() -> None:
    bm25, dense = {"d1": 1.0}, {"d2": 0.9, "d3": 0.8}
    agrees(fused(bm25, dense, 0.0, "rrf"), {"d1": 1 / 61})
    agrees(fused(bm25, dense, 1.0, "rrf"), {"d2": 0.016393, "d3": 0.016129})
    agrees(fused(bm25, dense, 0.5, "rrf"), {"d1": 0.008197, "d2": 0.008197, "d3": 0.008065})


def test_b19_joined_by_id_never_by_text() -> None:
    # d1 and d9 hold the same text; c1 is returned by both legs under one id.
    assert sorted(fused({"d1": 1.0, "d2": 0.5}, {"d9": 0.9}, 0.5)) == ["d1", "d2", "d9"]
    agrees(fused({"c1": 1.0}, {"c1": 0.9}, 0.5, "rrf"), {"c1": 1 / 61})


def test_b20_repeats_of_a_document_are_removed_before_ranks_are_counted() -> None:
    # Chunks 0, 2, 3 are doc1's, 1 is doc2's in list A; in list B chunk 4 is doc2's, 5 doc3's.
    a, b = (
        project(
            Ranking(np.array([chunks]), -np.arange(float(len(chunks)))[None]),
            np.array([1, 2, 1, 1, 2, 3]),
        )
        for chunks in ([0, 1, 2, 3], [4, 5])
    )
    found = candidates(a, b, lambda c: np.full(c.shape, np.nan), lambda c: np.full(c.shape, np.nan))
    ranking = fuse(found, FusionConfig(normalization="rrf"), 5)
    assert ranking.hits(0).tolist() == [2, 1, 3]
    assert ranking.scores[0, :3].tolist() == pytest.approx([0.016261, 0.008197, 0.008065], abs=1e-6)


VALUES = st.sampled_from([0.0, 1e-7, 0.2, 0.2 + 3e-8, 0.5, 1.0, 7.25, 1e6])
COSINES = st.sampled_from([-1.0, -0.3, 0.0, 0.1, 0.1 + 2e-8, 0.1 + 4e-7, 0.9, 1.0])
LEXICAL = st.dictionaries(st.sampled_from("abcdefgh"), VALUES, max_size=8)
SEMANTIC = st.dictionaries(st.sampled_from("abcdefgh"), COSINES, max_size=8)


@settings(max_examples=200, deadline=None)
@given(
    bm25=LEXICAL,
    dense=SEMANTIC,
    alpha=st.floats(0, 1),
    normalization=st.sampled_from(ALL),
    depth=st.integers(1, 9),
)
def test_fused_scores_have_no_nan_and_keep_their_bounds(
    bm25: Leg, dense: Leg, alpha: float, normalization: str, depth: int
) -> None:
    found = fused(bm25, dense, alpha, normalization, depth)
    scores = list(found.values())
    assert np.isfinite(scores).all()
    assert len(found) <= depth
    assert [round(s, 6) for s in scores] == sorted(
        (round(s, 6) for s in scores), reverse=True
    ) or alpha in (0, 1)
    if normalization in ("min-max", "theoretical"):
        assert all(-1e-12 <= s <= 1 + 1e-12 for s in scores)


@settings(max_examples=200, deadline=None)
@given(bm25=LEXICAL, dense=SEMANTIC, normalization=st.sampled_from(ALL), depth=st.integers(1, 9))
def test_alpha_0_is_the_bm25_list_and_alpha_1_the_dense_one(
    bm25: Leg, dense: Leg, normalization: str, depth: int
) -> None:
    for alpha, leg in ((0.0, bm25), (1.0, dense)):
        expected = sorted(leg, key=lambda name: (-round(leg[name], 6), name))[:depth]
        assert list(fused(bm25, dense, alpha, normalization, depth)) == expected


def test_alpha_0_keeps_near_ties_apart_and_float_noise_together() -> None:
    # Divided by the span of 40 the first two would tie; stretched from a span of 2e-6 the noise
    # would decide.
    assert list(fused({"a": 30.000001, "b": 30.000003, "c": 70.0}, {}, 0.0)) == ["c", "b", "a"]
    assert list(fused({"b": 0.5000004, "a": 0.5000001, "c": 0.499998}, {}, 0.0)) == ["a", "b", "c"]


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.lists(COSINES, min_size=1, max_size=6), min_size=1, max_size=3),
    name=st.sampled_from(sorted(NORMALIZATIONS)),
)
def test_normalising_keeps_order_and_touches_no_other_question(
    rows: list[list[float]], name: str
) -> None:
    width = max(map(len, rows))
    scores = np.array([[*row, *[np.nan] * (width - len(row))] for row in rows])
    together = NORMALIZATIONS[name](scores, ~np.isnan(scores), -1.0)
    for i, row in enumerate(rows):
        one = np.array([row])
        alone = NORMALIZATIONS[name](one, np.ones(one.shape, dtype=bool), -1.0)[0]
        assert together[i, : len(row)].tolist() == pytest.approx(alone.tolist(), abs=1e-9)
        for a, b in itertools.pairwise(row):
            assert a > b or alone[row.index(a)] <= alone[row.index(b)] + 1e-12


def test_theoretical_bounds_by_hand() -> None:
    # Bruch et al.: BM25 from 0, cosine from -1.
    agrees(
        fused({"a": 4.0, "b": 1.0}, {"a": 0.0, "b": 1.0}, 0.5, "theoretical"),
        {"a": 0.75, "b": 0.625},
    )


def test_z_score_by_hand() -> None:
    # bm25 (3, 1): mean 2, deviation 1; dense equal: 0.
    agrees(fused({"a": 3.0, "b": 1.0}, {"a": 0.4, "b": 0.4}, 0.5, "z-score"), {"a": 0.5, "b": -0.5})


def test_questions_of_different_lengths_are_padded_not_mixed() -> None:
    legs, other = ranking_of([{2: 2.0, 0: 1.0}, {}], 4), ranking_of([{1: 0.5}, {}], 4)

    def nan(chunks: Ints) -> Floats:
        return np.where(chunks == NONE, np.nan, 1.0)

    ranking = fuse(candidates(legs, other, nan, nan), FusionConfig(), 4)
    assert ranking.lengths.tolist() == [3, 0]


def test_no_question_has_any_hit() -> None:
    nothing = ranking_of([{}, {}], 4)
    empty = candidates(nothing, nothing, lambda c: np.zeros(c.shape), lambda c: np.zeros(c.shape))
    for alpha in (0.0, 0.5, 1.0):
        assert fuse(empty, FusionConfig(alpha=alpha), 4).lengths.tolist() == [0, 0]


def test_weigh_is_the_designs_formula() -> None:
    assert weigh(np.array([1.0]), np.array([0.5]), 0.25).tolist() == [0.25 * 0.5 + 0.75 * 1.0]


def test_an_absent_score_is_looked_up_before_it_counts_as_absent() -> None:
    """A chunk beyond a leg's depth still has that leg's exact score."""
    bm25, dense = leg_of({0: 3.0, 1: 2.0}, 1), leg_of({1: 0.9, 0: 0.1}, 1)

    def exact(low: float, high: float) -> Callable[[Ints], Floats]:
        def look_up(chunks: Ints) -> Floats:
            return np.where(chunks == 0, low, high)

        return look_up

    found = candidates(bm25, dense, exact(3.0, 2.0), exact(0.1, 0.9))
    assert sorted(found.chunks[0].tolist()) == [0, 1]
    assert not np.isnan(np.concatenate((found.bm25, found.dense))).any()
    assert normalized(found, "rrf")[0].max() == pytest.approx(1 / 61)
