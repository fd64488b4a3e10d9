"""Exact alpha curves: at which alphas a piece of evidence is complete, and at which rank, without trying any alpha.

For fixed candidates and normalisation a chunk's fused score is `bm25 + alpha * (dense - bm25)`, a line in alpha, so the order
of two chunks changes only where their lines cross, and every rank is a step function of alpha with computable steps.

Two details make it agree with evaluating any alpha. A leg of weight 0 brings no candidates and the other keeps its own order,
so alpha 0 and alpha 1 are steps of their own. And order compares scores rounded to 6 decimals: within 1e-6 of a crossing the
rounding decides, so there the steps are the alphas at which one of the two rounded scores changes, found just as exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lab.retrieval.ranking import DECIMALS
from lab.truth.judge import NEVER, Holder

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

UNIT = 10.0**-DECIMALS
# Lines closer than this may round to the same score; the slack covers float noise.
NEAR = UNIT * (1 + 1e-6)
# Roundings that are followed inside one near-tie; lines that run side by side for longer are compared at its middle.
FOLLOWED = 4000
_LOWEST = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class Lines:
    """One question's candidates: `bm25` and `dense` are their contributions at alpha 0 and 1, `bm25_rank` and `dense_rank`
    their ranks in the legs (0: not proposed by the leg), `chunk` the chunk and `judged` what it is judged as (its delivered
    span, or document)."""

    chunk: Ints
    judged: Ints
    bm25: Floats
    dense: Floats
    bm25_rank: Ints
    dense_rank: Ints


@dataclass(frozen=True, eq=False)
class Curve:
    """Steps over alpha in [0, 1]: step t reaches from `low[t]` to `high[t]`, and `complete[p, t]` is piece p's completion
    rank there, NEVER beyond the cap. The first and the last step are the points 0 and 1; neighbouring steps differ.
    `relevant[r, t]` is the rank of the r-th judged thing that is relevant by itself, for precision; none unless asked for."""

    low: Floats
    high: Floats
    complete: Ints
    relevant: Ints = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))

    def parted(self, pieces: int) -> "Curve":
        """The curve of the first `pieces` rows, the others being relevant things."""
        return Curve(self.low, self.high, self.complete[:pieces], self.complete[pieces:])

    def at(self, alphas: Floats) -> Ints:
        """Pieces x alphas: the completion rank at each alpha; at a border that of the step above it."""
        # The point 0 is step 0, the open interval begins with step 1, the point 1 is the last step.
        inner = np.searchsorted(self.low[1:-1], alphas, side="right")
        step = np.where(alphas <= 0, 0, np.where(alphas >= 1, len(self.low) - 1, np.maximum(inner, 1)))
        return np.asarray(self.complete[:, step])

    def within(self, piece: int, k: int) -> list[tuple[float, float]]:
        """The closed intervals of alpha in which a piece is complete within k, a point as an interval of no width."""
        found: list[tuple[float, float]] = []
        for low, high, complete in zip(self.low, self.high, self.complete[piece], strict=True):
            if complete > k:
                continue
            if found and found[-1][1] == low:
                found[-1] = (found[-1][0], float(high))
            else:
                found.append((float(low), float(high)))
        return found

    def told(self, piece: int, k: int) -> str:
        """`within` in words: `0.2-0.45, 1`; empty where no alpha does it."""
        return ", ".join(f"{low:.4g}" if low == high else f"{low:.4g}-{high:.4g}" for low, high in self.within(piece, k))

    def nearest(self, piece: int) -> float | None:
        """The alpha at which a piece is complete soonest, about the middle of the widest such step in as few digits as lie inside
        it; None beyond the cap everywhere."""
        ranks, width = self.complete[piece], self.high - self.low
        best = int(np.lexsort((-width, ranks))[0])
        low, high = float(self.low[best]), float(self.high[best])
        middle = (low + high) / 2
        short = (round(middle, digits) for digits in range(1, 16))
        return None if ranks[best] == NEVER else next((alpha for alpha in short if low < alpha < high), middle)


def curve(lines: Lines, pieces: Sequence[Sequence[Holder]], depth: int, cap: int) -> Curve:
    """The completion ranks of one question's pieces as functions of alpha, exact up to rank `cap`.

    `pieces[p]` are the alternatives of piece p (see `lab.truth.judge.Holder`), `depth` how many fused hits are kept.
    """
    wanted = np.unique(np.concatenate([spans for piece in pieces for holder in piece for spans in holder.spans] or [_NONE]))
    lines = _contenders(lines, depth, cap)
    edges, near = _edges(lines, np.flatnonzero(np.isin(lines.judged, wanted)))
    if len(near.low):
        middle = (edges[1:] + edges[:-1]) / 2
        coarse = np.minimum.reduce(_complete(lines, pieces, middle, depth), axis=0, initial=NEVER)
        edges = np.union1d(edges, _roundings(lines, near, edges, coarse, cap))
    middle = (edges[1:] + edges[:-1]) / 2
    points = np.concatenate(([0.0], middle, [1.0]))
    complete = _complete(lines, pieces, points, depth)
    complete = np.where(complete > cap, NEVER, complete)
    low, high = np.concatenate(([0.0], edges[:-1], [1.0])), np.concatenate(([0.0], edges[1:], [1.0]))
    # Neighbours with equal ranks are one step, but for the two end points.
    first = np.ones(len(low), dtype=bool)
    first[2:-1] = (complete[:, 2:-1] != complete[:, 1:-2]).any(axis=0)
    starts = np.flatnonzero(first)
    return Curve(low[starts], high[np.append(starts[1:], len(low)) - 1], complete[:, starts])


_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Near:
    """Near-ties: candidates `one` and `other` lie closer than NEAR from alpha `low` to `high` (parallel arrays)."""

    one: Ints
    other: Ints
    low: Floats
    high: Floats


def _contenders(lines: Lines, depth: int, cap: int) -> Lines:
    """The candidates that can be among the first `cap` at some alpha: others have `cap` judged things ahead of them at both
    ends, hence everywhere, and change no rank up to `cap`."""
    judged, group = np.unique(lines.judged, return_inverse=True)
    if len(judged) < len(lines.chunk) and len(lines.chunk) > depth:
        return lines  # the fused list is cut by chunks, so every chunk counts
    ahead = np.ones((len(lines.chunk),) * 2, dtype=bool)
    for score, rank in ((lines.bm25, lines.bm25_rank), (lines.dense, lines.dense_rank)):
        before = (rank[:, None] > 0) & ((rank[None, :] == 0) | (rank[:, None] < rank[None, :]))
        ahead &= before & (score[:, None] > score[None, :] + NEAR)
    if len(judged) < len(lines.chunk):
        groups_ahead = np.zeros((len(judged), len(lines.chunk)), dtype=bool)
        np.logical_or.at(groups_ahead, group, ahead)
        ahead = groups_ahead
    keep = ahead.sum(axis=0) < cap
    return Lines(*(getattr(lines, name)[keep] for name in Lines.__dataclass_fields__))


def _edges(lines: Lines, own: Ints) -> tuple[Floats, Near]:
    """Where the order of a candidate with evidence and another may change: both ends of every near-tie in (0, 1)."""
    one, other, lows, highs = [_NONE], [_NONE], [np.zeros(0)], [np.zeros(0)]
    for i in own:
        apart = lines.bm25 - lines.bm25[i]
        turn = (lines.dense - lines.dense[i]) - apart
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = (-NEAR - apart) / turn, (NEAR - apart) / turn
        low, high = np.minimum(*ends), np.maximum(*ends)
        # Parallel lines never change order; nearly equal ones may, where rounding parts them.
        beside = (np.abs(turn) < 1e-15) & (np.abs(apart) <= NEAR) & (apart != 0)
        low, high = np.where(beside, 0.0, low), np.where(beside, 1.0, high)
        same = (apart == 0) & (turn == 0)
        meet = np.flatnonzero(~same & (np.isfinite(low)) & (high > 0) & (low < 1))
        one.append(np.full(len(meet), i))
        other.append(meet)
        lows.append(np.clip(low[meet], 0, 1))
        highs.append(np.clip(high[meet], 0, 1))
    near = Near(np.concatenate(one), np.concatenate(other), np.concatenate(lows), np.concatenate(highs))
    return np.unique(np.concatenate(([0.0, 1.0], near.low, near.high))), near


def _roundings(lines: Lines, near: Near, edges: Floats, coarse: Ints, cap: int) -> Floats:
    """Inside near-ties that could move a piece over the cap or within it: where either rounded score changes."""
    first, last = np.searchsorted(edges, near.low), np.searchsorted(edges, near.high)
    # The cells just outside the near-tie as well: the step there shows what is at stake.
    staked = np.concatenate(([0], np.cumsum(coarse <= cap + 1)))
    at_stake = staked[np.minimum(last + 1, len(coarse))] > staked[np.maximum(first - 1, 0)]
    c = np.concatenate((near.one[at_stake], near.other[at_stake]))
    low, high = np.tile(near.low[at_stake], 2), np.tile(near.high[at_stake], 2)
    slope = lines.dense[c] - lines.bm25[c]
    follow = (slope != 0) & (np.abs(slope) * (high - low) / UNIT <= FOLLOWED)
    c, low, high, slope = c[follow], low[follow], high[follow], slope[follow]
    ends = (lines.bm25[c] + low * slope) / UNIT, (lines.bm25[c] + high * slope) / UNIT
    start = np.floor(np.minimum(*ends))
    count = (np.ceil(np.maximum(*ends)) - start + 1).astype(np.int64)
    of = np.repeat(np.arange(len(c)), count)
    half = start[of] + np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count) + 0.5
    at = (half * UNIT - lines.bm25[c][of]) / slope[of]
    return np.asarray(at[(at > low[of]) & (at < high[of])])


def _complete(lines: Lines, pieces: Sequence[Sequence[Holder]], alphas: Floats, depth: int) -> Ints:
    """Pieces x alphas: completion ranks by the rule of the ranking itself (6 decimals, then the smaller chunk)."""
    scores = alphas[:, None] * lines.dense + (1 - alphas[:, None]) * lines.bm25
    # Rounded score and chunk in one whole number: a larger key is a better place.
    width = int(lines.chunk.max(initial=0)) + 1
    keys = np.rint(np.round(scores, DECIMALS) / UNIT).astype(np.int64) * width + (width - 1 - lines.chunk)
    # A leg of weight 0 brings nothing, and the other one keeps its own order.
    for end, leg in ((alphas <= 0, lines.bm25_rank), (alphas >= 1, lines.dense_rank)):
        keys[end] = np.where(leg > 0, -leg, _LOWEST)
    groups, group = np.unique(lines.judged, return_inverse=True)
    wanted = np.intersect1d(groups, [span for piece in pieces for own in piece for spans in own.spans for span in spans])
    ranks = _ranks(keys, group, len(groups), np.searchsorted(groups, wanted), depth)
    row = dict(zip(wanted.tolist(), ranks, strict=True))
    nowhere = np.full(len(alphas), NEVER)
    found = np.full((len(pieces), len(alphas)), NEVER)
    for p, alternatives in enumerate(pieces):
        for holder in alternatives:
            if sum(holder.weights) >= holder.need:
                parts = [
                    np.minimum.reduce([row.get(s, nowhere) for s in spans.tolist()], initial=NEVER) for spans in holder.spans
                ]
                found[p] = np.minimum(found[p], holder.complete(np.array([np.broadcast_to(x, len(alphas)) for x in parts])))
    return found


def compile_ranks() -> None:
    """Have numba compile what is below, or load it from its cache."""
    _ranks(np.zeros((1, 1), dtype=np.int64), np.zeros(1, dtype=np.int64), 1, np.zeros(1, dtype=np.int64), 1)


@njit(cache=True)
def _ranks(keys, group, groups, wanted, depth):  # type: ignore[no-untyped-def]
    """Wanted judged things x alphas: the rank of each, which stands at its best chunk; NEVER where no leg brings it or `depth`
    chunks stand before it. `keys` are alphas x chunks, `group` which judged thing a chunk is."""
    found, best = np.full((len(wanted), len(keys)), NEVER), np.zeros(groups, np.int64)
    for alpha in range(len(keys)):
        best[:] = _LOWEST
        for chunk in range(len(group)):
            best[group[chunk]] = max(best[group[chunk]], keys[alpha, chunk])
        for place in range(len(wanted)):
            mine = best[wanted[place]]
            if mine != _LOWEST and (keys[alpha] > mine).sum() < depth:
                found[place, alpha] = (best > mine).sum() + 1
    return found
