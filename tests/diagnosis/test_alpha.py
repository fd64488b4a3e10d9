"""Alpha curves: equal to evaluating any alpha, at all 1,001 of a grid, for every normalisation and
delivery."""

import numpy as np
import pytest

from lab.arrays import NEVER, NONE
from lab.diagnosis.alpha.curve import Curve, Lines, curve
from lab.diagnosis.alpha.summary import StepCurve, mean_curve, sensitivity, summaries
from lab.relevance.coverage import CoveringSpans
from lab.retrieval.config import FusionConfig
from lab.retrieval.fusion import Boost, Candidates, contributions, fuse, ranks
from lab.retrieval.ranking import project

ALPHAS = np.round(np.linspace(0, 1, 1001), 10)
CAP = 10


def random_candidates(draw: np.random.Generator, size: int, decimals: int | None) -> Candidates:
    """One question's candidates; few decimals make many exact ties, also at crossings."""
    chunks = np.sort(draw.choice(1000, size, replace=False))
    bm25, dense = draw.random(size) * 10, draw.random(size)
    if decimals is not None:
        bm25, dense = np.round(bm25, decimals), np.round(dense, decimals)
    bm25[draw.random(size) < 0.2] = np.nan
    ranks = []
    for scores in (bm25, dense):
        rank = np.zeros(size, dtype=np.int64)
        rank[np.lexsort((chunks, -np.round(np.nan_to_num(scores, nan=-1), 6)))] = np.arange(
            1, size + 1
        )
        ranks.append(np.where(np.isnan(scores) | (rank > 0.7 * size), 0, rank))
    return Candidates(chunks[None], bm25[None], dense[None], ranks[0][None], ranks[1][None])


def complete_at(
    found: Candidates,
    fusion: FusionConfig,
    depth: int,
    judged: np.ndarray,
    holder: CoveringSpans,
    boost: Boost | None,
) -> int:
    """The rank at which a holder is complete, by the ranking itself and a loop."""
    ranking = project(fuse(found, fusion, depth, boost), judged).chunks[0]
    seen = 0
    for rank, thing in enumerate(ranking[ranking != NONE].tolist(), start=1):
        seen += sum(
            int(w) for w, spans in zip(holder.weights, holder.spans, strict=True) if thing in spans
        )
        if seen >= holder.need:
            return rank if rank <= CAP else NEVER
    return NEVER


@pytest.mark.parametrize("normalization", ["min-max", "theoretical", "z-score", "rrf"])
@pytest.mark.parametrize("decimals", [None, 1])
@pytest.mark.parametrize("weights", [(), (0.1,), (0.2, 0.3)])
def test_the_curve_equals_the_grid_at_every_alpha(
    normalization: str, decimals: int | None, weights: tuple[float, ...]
) -> None:
    draw = np.random.default_rng(7)
    values = (
        draw.random((len(weights), 1000))
        if decimals is None
        else draw.integers(0, 3, (len(weights), 1000)) / 2
    )
    values[:, draw.random(1000) < 0.2] = np.nan
    boost = Boost(weights, lambda chunks: values[:, chunks]) if weights else None
    for size, per_span, depth in ((40, 1, 100), (120, 4, 50), (9, 2, 5)):
        found = random_candidates(draw, size, decimals)
        chunks = found.chunks[0]
        judged = np.zeros(1000, dtype=np.int64)
        judged[chunks] = chunks // per_span
        bm25, dense = contributions(found, normalization, boost)
        bm25_rank, dense_rank = found.bm25_rank, found.dense_rank
        if boost is not None:
            ends = (
                fuse(found, FusionConfig(normalization=normalization, alpha=alpha), depth, boost)
                for alpha in (0.0, 1.0)
            )
            bm25_rank, dense_rank = (ranks(end, found.chunks) for end in ends)
        lines = Lines(chunks, judged[chunks], bm25[0], dense[0], bm25_rank[0], dense_rank[0])
        things = draw.choice(np.unique(judged[chunks]), 3, replace=False)
        alone = CoveringSpans(1, np.ones(1, dtype=np.int64), (things[:1],))
        halves = CoveringSpans(7, np.array([4, 3]), (things[1:2], things[2:]))
        steps = curve(lines, [[alone], [halves], [halves, alone]], depth, CAP).at(ALPHAS)
        for alpha, column in zip(ALPHAS.tolist(), steps.T, strict=True):
            fusion = FusionConfig(normalization=normalization, alpha=alpha)
            one, both = (
                complete_at(found, fusion, depth, judged, holder, boost)
                for holder in (alone, halves)
            )
            assert column.tolist() == [one, both, min(one, both)], alpha


def test_two_lines_that_cross_at_a_half() -> None:
    # Chunk 0 is (bm25 1, dense 0), chunk 1 (0, 1): they tie at 0.5, where the smaller chunk stands
    # first.
    both = np.array([1, 2]), np.array([2, 1])
    lines = Lines(
        np.array([0, 1]), np.array([0, 1]), np.array([1.0, 0.0]), np.array([0.0, 1.0]), *both
    )
    holder = CoveringSpans(1, np.ones(1, dtype=np.int64), (np.array([1]),))
    found = curve(lines, [[holder]], 100, CAP)
    assert found.at(np.array([0.0, 0.3, 0.5, 0.51, 1.0])).tolist() == [[2, 2, 2, 1, 1]]
    ((low, high),) = found.within(0, 1)
    assert low == pytest.approx(0.5, abs=1e-6)
    assert high == 1.0


def test_a_leg_of_weight_zero_brings_no_candidates() -> None:
    # Chunk 1 was proposed by the dense leg alone: at alpha 0 it is no hit, just above it is.
    lines = Lines(
        np.array([0, 1]),
        np.array([0, 1]),
        np.array([1.0, 0.4]),
        np.array([0.2, 1.0]),
        np.array([1, 0]),
        np.array([2, 1]),
    )
    found = curve(
        lines, [[CoveringSpans(1, np.ones(1, dtype=np.int64), (np.array([1]),))]], 100, CAP
    )
    assert found.at(np.array([0.0, 1e-9])).tolist() == [[NEVER, 2]]


def steps(*parts: tuple[float, float, int]) -> Curve:
    return Curve(
        np.array([p[0] for p in parts]),
        np.array([p[1] for p in parts]),
        np.array([[p[2] for p in parts]]),
    )


ALWAYS = steps((0, 0, 1), (0, 1, 1), (1, 1, 1))
LOW = steps((0, 0, 1), (0, 0.3, 1), (0.3, 1, NEVER), (1, 1, NEVER))
HIGH = steps((0, 0, NEVER), (0, 0.6, NEVER), (0.6, 1, 1), (1, 1, 1))
NOWHERE = steps((0, 0, NEVER), (0, 1, NEVER), (1, 1, NEVER))


def test_mean_recall_is_a_step_curve_with_its_widest_best_plateau() -> None:
    curves = [ALWAYS, LOW, HIGH, NOWHERE]
    found = mean_curve(curves, [(curve.complete <= 5).mean(axis=0) for curve in curves])
    assert found.at(np.array([0.0, 0.2, 0.45, 0.7, 1.0])).tolist() == [0.5, 0.5, 0.25, 0.5, 0.5]
    assert found.best == (0.6, 1.0, 0.5)
    assert found.near_best == (0.6, 1.0)


def test_alphas_about_as_good_reach_past_the_best_plateau_but_over_no_gap() -> None:
    edges = np.array([0.0, 0.1, 0.3, 0.4, 0.6, 1.0])
    found = StepCurve(
        np.append(0.0, edges),
        np.append(edges, 1.0),
        np.array([0.5, 0.799, 0.5, 0.795, 0.8, 0.7999, 0.7]),
    )
    assert found.best == (0.4, 0.6, 0.8)
    assert found.near_best == (0.3, 1.0)


def test_robust_fragile_hopeless_regret_and_oracle() -> None:
    assert [sensitivity(one, 5) for one in (ALWAYS, LOW, HIGH, NOWHERE)] == [
        "robust",
        "fragile",
        "fragile",
        "hopeless",
    ]
    curves = [ALWAYS, LOW, HIGH, NOWHERE]
    recall = [(curve.complete <= 5).mean(axis=0) for curve in curves]
    everything, a, b = summaries(curves, ["a", "a", "b", "b"], 5, "recall@5", recall)
    assert (everything.robust, everything.fragile, everything.hopeless) == (1, 2, 1)
    assert (everything.value, everything.oracle, everything.regret) == (0.5, 0.75, 0.0)
    # The common alpha is 0.8, the middle of the best plateau; slice a would have 1.0 below 0.3.
    assert (a.value, a.at_common, a.regret) == (1.0, 0.5, 0.5)
    assert (b.value, b.regret) == (0.5, 0.0)
