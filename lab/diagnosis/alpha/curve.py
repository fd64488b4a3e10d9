"""Exact alpha curves: at which alphas a piece of evidence is complete, and at which rank, without
trying any alpha.

For fixed candidates and normalisation a chunk's fused score is `bm25 + alpha * (dense - bm25)`, a
line in alpha, so the order of two chunks changes only where their lines cross, and every rank is a
step function of alpha with computable steps.

Two details make it agree with evaluating any alpha. A leg of weight 0 brings no candidates and the
other keeps its own order, so alpha 0 and alpha 1 are steps of their own. And order compares scores
rounded to 6 decimals: within 1e-6 of a crossing the rounding decides, so there the steps are the
alphas at which one of the two rounded scores changes, found just as exactly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lab.arrays import NEVER, Floats, Ints
from lab.diagnosis.alpha.steps import completion, contenders, near_ties, roundings
from lab.relevance.coverage import CoveringSpans


@dataclass(frozen=True, eq=False)
class Lines:
    """One question's candidates: `bm25` and `dense` are their contributions at alpha 0 and 1,
    `bm25_rank` and `dense_rank` their ranks in the legs (0: not proposed by the leg), `chunk` the
    chunk and `judged` what it is judged as (its delivered span, or document)."""

    chunk: Ints
    judged: Ints
    bm25: Floats
    dense: Floats
    bm25_rank: Ints
    dense_rank: Ints


@dataclass(frozen=True, eq=False)
class Curve:
    """Steps over alpha in [0, 1]: step t reaches from `low[t]` to `high[t]`, and `complete[p, t]`
    is piece p's completion rank there, NEVER beyond the cap. The first and the last step are the
    points 0 and 1; neighbouring steps differ. `relevant[r, t]` is the rank of the r-th judged thing
    that is relevant by itself, for precision; none unless asked for."""

    low: Floats
    high: Floats
    complete: Ints
    relevant: Ints = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    _alphas: dict[tuple[int, int], str] = field(default_factory=dict, init=False, repr=False)

    def parted(self, pieces: int) -> "Curve":
        """The curve of the first `pieces` rows, the others being relevant things."""
        return Curve(self.low, self.high, self.complete[:pieces], self.complete[pieces:])

    def steps(self, alphas: Floats) -> Ints:
        """The step on which each alpha lies; at a border the one above it."""
        # The point 0 is step 0, the open interval begins with step 1, the point 1 is the last step.
        inner = np.searchsorted(self.low[1:-1], alphas, side="right")
        return np.where(
            alphas <= 0, 0, np.where(alphas >= 1, len(self.low) - 1, np.maximum(inner, 1))
        )

    def at(self, alphas: Floats) -> Ints:
        """Pieces x alphas: the completion rank at each alpha."""
        return np.asarray(self.complete[:, self.steps(alphas)])

    def within(self, piece: int, k: int) -> list[tuple[float, float]]:
        """The closed intervals of alpha in which a piece is complete within k, a point as an
        interval of no width."""
        intervals: list[tuple[float, float]] = []
        inside = self.complete[piece] <= k
        for low, high in zip(self.low[inside].tolist(), self.high[inside].tolist(), strict=True):
            if intervals and intervals[-1][1] == low:
                intervals[-1] = (intervals[-1][0], high)
            else:
                intervals.append((low, high))
        return intervals

    def alphas(self, piece: int, k: int) -> str:
        """`within` in words: `0.2-0.45, 1`; empty where no alpha does it. Every system of a family
        asks for the same."""
        if (piece, k) not in self._alphas:
            intervals = self.within(piece, k)
            self._alphas[piece, k] = ", ".join(
                f"{low:.4g}" if low == high else f"{low:.4g}-{high:.4g}" for low, high in intervals
            )
        return self._alphas[piece, k]

    def nearest(self, piece: int) -> float | None:
        """The alpha at which a piece is complete soonest, about the middle of the widest such step
        in as few digits as lie inside it; None beyond the cap everywhere."""
        ranks, width = self.complete[piece], self.high - self.low
        best = int(np.lexsort((-width, ranks))[0])
        low, high = float(self.low[best]), float(self.high[best])
        middle = (low + high) / 2
        short = (round(middle, digits) for digits in range(1, 16))
        return (
            None
            if ranks[best] == NEVER
            else next((alpha for alpha in short if low < alpha < high), middle)
        )


def curve(lines: Lines, pieces: Sequence[Sequence[CoveringSpans]], depth: int, cap: int) -> Curve:
    """The completion ranks of one question's pieces as functions of alpha, exact up to rank `cap`.

    `pieces[p]` are the alternatives of piece p (see `lab.relevance.coverage`), `depth` how many
    fused hits are kept.
    """
    things, judged = np.unique(lines.judged, return_inverse=True)
    held = _held({thing: place for place, thing in enumerate(things.tolist())}, pieces)
    wanted = np.zeros(len(things), dtype=bool)
    wanted[held[0]] = True
    arrays = lines.chunk, judged, lines.bm25, lines.dense, lines.bm25_rank, lines.dense_rank
    kept = contenders(arrays, len(things), depth, cap)
    arrays = tuple(array[kept] for array in arrays)
    first, second, lows, highs = near_ties(arrays, wanted)
    edges = np.unique(np.concatenate(([0.0, 1.0], lows, highs)))
    if len(lows):
        coarse = completion(arrays, wanted, held, (edges[1:] + edges[:-1]) / 2, depth).min(
            axis=0, initial=NEVER
        )
        # Only near-ties that could move a piece over the cap or within it: the cells just outside
        # show that as well.
        staked = np.concatenate(([0], np.cumsum(coarse <= cap + 1)))
        left, right = np.searchsorted(edges, lows), np.searchsorted(edges, highs)
        at_stake = staked[np.minimum(right + 1, len(coarse))] > staked[np.maximum(left - 1, 0)]
        edges = np.unique(
            np.concatenate((edges, roundings(arrays, first, second, lows, highs, at_stake)))
        )
    points = np.concatenate(([0.0], (edges[1:] + edges[:-1]) / 2, [1.0]))
    complete = completion(arrays, wanted, held, points, depth)
    complete[complete > cap] = NEVER
    low, high = (
        np.concatenate(([0.0], edges[:-1], [1.0])),
        np.concatenate(([0.0], edges[1:], [1.0])),
    )
    # Neighbours with equal ranks are one step, but for the two end points.
    new = np.ones(len(low), dtype=bool)
    new[2:-1] = (complete[:, 2:-1] != complete[:, 1:-2]).any(axis=0)
    starts = np.flatnonzero(new)
    return Curve(low[starts], high[np.append(starts[1:], len(low)) - 1], complete[:, starts])


def _held(place: Mapping[int, int], pieces: Sequence[Sequence[CoveringSpans]]) -> tuple[Ints, ...]:
    """How the candidates hold the pieces, as arrays: the judged things (as `place` numbers them,
    others can never be found) that show each part and where a part's begin, the parts' weights and
    where an alternative's begin, the alternatives' needs and where a piece's begin."""
    shown, weights, needs = list[int](), list[int](), list[int]()
    parts, holders, firsts = [0], [0], [0]
    for piece in pieces:
        for holder in piece:
            for spans in holder.spans:
                shown.extend(place[span] for span in spans.tolist() if span in place)
                parts.append(len(shown))
            weights.extend(holder.weights.tolist())
            holders.append(len(weights))
            needs.append(holder.need)
        firsts.append(len(needs))
    return tuple(
        np.array(column, dtype=np.int64)
        for column in (shown, parts, weights, holders, needs, firsts)
    )


def compile_curves() -> None:
    """Have numba compile the curves' loops, or load them from its cache."""
    rank = np.array([1, 2])
    curve(
        Lines(
            np.arange(2),
            np.arange(2),
            np.array([1.0, 0.0]),
            np.array([0.0, 1.0]),
            rank,
            rank[::-1].copy(),
        ),
        [_ONE],
        1,
        1,
    )


_ONE = (CoveringSpans(1, np.ones(1, dtype=np.int64), (np.zeros(1, dtype=np.int64),)),)
