"""Ranking: the one place where scores are sorted and ties are broken."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.arrays import NONE, Bools, Floats, Ints

# Order compares scores rounded to this many decimals, so that float noise from a batch's make-up or
# the BLAS never decides.
DECIMALS = 6
# Up to these a chunk's number and a rounded score, counted in its last decimal, fit into one 64-bit
# integer.
CHUNKS, STEPS = 2**26, 2**36


@dataclass(frozen=True, eq=False)
class Ranking:
    """Per question the hits, best first: `chunks[q, r]` is a chunk's index and `scores[q, r]` its
    score at rank r + 1.

    Both arrays are questions x depth; a row with fewer hits ends in NONE (-1) and -inf. No chunk
    stands twice in a row.
    """

    chunks: Ints
    scores: Floats

    def __len__(self) -> int:
        return len(self.chunks)

    @property
    def lengths(self) -> Ints:
        """Hits of every question."""
        return np.asarray((self.chunks != NONE).sum(axis=1))

    @cached_property
    def places(self) -> tuple[int, Ints, Ints]:
        """For looking chunks up: the ascending keys `question * stride + chunk + 1`, and the column
        of each."""
        columns = np.argsort(self.chunks, axis=1)  # of equal ones there are only NONE
        stride = int(self.chunks.max(initial=NONE)) + 2
        keys = (
            np.arange(len(self))[:, None] * stride
            + np.take_along_axis(self.chunks, columns, axis=1)
            + 1
        )
        return stride, keys.reshape(-1), columns.reshape(-1)

    def hits(self, query: int) -> Ints:
        """Chunk indices of one question, best first."""
        row = self.chunks[query]
        return np.asarray(row[row != NONE])

    def first(self, depth: int) -> "Ranking":
        """The first `depth` hits of every question."""
        return Ranking(self.chunks[:, :depth], self.scores[:, :depth])


def rank(chunks: Ints, scores: Floats, depth: int) -> Ranking:
    """Sort candidates (questions x candidates, NONE for absent) into a Ranking of at most `depth`
    hits.

    Higher score first; scores equal to 6 decimals by smaller chunk index, which is (doc_id, start)
    ascending. The order is decided before the cut, so the ranking at a smaller depth is the head of
    the ranking at a larger one.
    """
    absent = chunks == NONE
    order = _order(chunks, scores, absent)[:, :depth]
    ranked = np.take_along_axis(chunks, order, axis=1)
    ordered = np.take_along_axis(np.where(absent, -np.inf, scores), order, axis=1)
    return Ranking(ranked, ordered)


def _order(chunks: Ints, scores: Floats, absent: Bools) -> Ints:
    """Columns of every row by descending rounded score, then ascending chunk; absent ones last."""
    steps = np.where(absent, 0, np.rint(scores * 10**DECIMALS))
    if chunks.max(initial=0) < CHUNKS and np.abs(steps).max(initial=0) < STEPS:  # not so for NaN
        # Both in one integer, which sorts four times faster than two keys.
        keys = np.where(absent, np.iinfo(np.int64).max, -steps.astype(np.int64) * CHUNKS + chunks)
        return np.argsort(keys, axis=1)
    return np.lexsort((chunks, -np.where(absent, -np.inf, np.round(scores, DECIMALS))), axis=1)


def rank_lists(starts: NDArray[Any], chunks: NDArray[Any], scores: Floats, depth: int) -> Ranking:
    """`rank` for hit lists of different lengths that are laid end to end: list i is at [starts[i],
    starts[i + 1])."""
    lengths = np.diff(starts)
    width = max(depth, min(2 * depth, int(lengths.max(initial=0))))
    table, values = (
        np.full((len(lengths), width), NONE, dtype=np.int64),
        np.full((len(lengths), width), -np.inf),
    )
    fits = lengths <= width
    hits = np.repeat(fits, lengths)
    row = np.repeat(np.arange(len(lengths)), lengths)[hits]
    place = (np.arange(len(hits)) - np.repeat(starts[:-1], lengths))[hits]
    table[row, place], values[row, place] = chunks[hits], scores[hits]
    for long in np.flatnonzero(~fits):
        hits_of_list, scores_of_list = (
            chunks[starts[long] : starts[long + 1]],
            scores[starts[long] : starts[long + 1]],
        )
        # What is tied with the last place after rounding may stand before it: it stays in.
        last = np.partition(scores_of_list, len(scores_of_list) - depth)[-depth]
        near = scores_of_list >= last - 2 * 10.0**-DECIMALS
        best = rank(hits_of_list[near][None].astype(np.int64), scores_of_list[near][None], depth)
        table[long, :depth], values[long, :depth] = best.chunks[0], best.scores[0]
    return rank(table, values, depth)


def ranks_of(ranking: Ranking, queries: Ints, chunks: Ints) -> Ints:
    """Rank from 1 of every (question, chunk) pair, 0 where the ranking does not hold it."""
    if not len(queries) or not ranking.chunks.size:
        return np.zeros(len(queries), dtype=np.int64)
    stride, keys, columns = ranking.places
    wanted = np.where(chunks + 1 < stride, queries * stride + chunks + 1, -1)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, columns[place] + 1, 0)


def project(ranking: Ranking, target: Ints) -> Ranking:
    """The ranking of `target[chunk]` (a delivered span, a document): each stands at its best rank,
    repeats are removed."""
    return merged(ranking, np.append(target, NONE)[ranking.chunks])  # index NONE stays NONE


def merged(ranking: Ranking, mapped: Ints) -> Ranking:
    """The ranking of what its hits are `mapped` to (questions x hits, NONE for absent): each stands
    at its best rank, repeats are removed."""
    order = np.argsort(mapped, axis=1, kind="stable")
    ordered = np.take_along_axis(mapped, order, axis=1)
    repeat = np.zeros(mapped.shape, dtype=bool)
    np.put_along_axis(repeat, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    gone = repeat | (mapped == NONE)
    left = np.argsort(gone, axis=1, kind="stable")
    width = int((~gone).sum(axis=1).max(initial=0))
    chunks = np.take_along_axis(np.where(gone, NONE, mapped), left, axis=1)[:, :width]
    scores = np.take_along_axis(np.where(gone, -np.inf, ranking.scores), left, axis=1)[:, :width]
    return Ranking(chunks, scores)
