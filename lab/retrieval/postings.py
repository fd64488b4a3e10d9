"""Adding up postings, compiled: term by term in the order of their numbers, so that sums are the
same to the last bit."""

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from lab.arrays import Floats, Ints
from lab.retrieval.ranking import Ranking, rank_lists

# How far below the last place a score may lie and still round to it (see `lab.retrieval.ranking`).
SLACK = 2e-6


def search(queries: csr_array, postings: csr_array, constants: Floats, depth: int) -> Ranking:
    """The best `depth` chunks that share a term with each question; no deeper than there are
    chunks, so that memory follows the smaller of both.

    `queries` (questions x terms) holds how often a term stands in a question, `postings` (terms x
    chunks) what that adds to a chunk's score and `constants` what it adds to all. Memory: one score
    a chunk, whatever the number of questions.
    """
    depth = max(1, min(depth, postings.shape[1]))
    asked, weighed, width = _parts(queries), (*_parts(postings), constants), postings.shape[1]
    room = (depth + 1) * queries.shape[0]
    starts, chunks, scores = _contenders(asked, weighed, width, depth, room)
    if starts[-1] > room:  # more are tied with a last place than there was room for
        starts, chunks, scores = _contenders(asked, weighed, width, depth, starts[-1])
    return rank_lists(starts, chunks[: starts[-1]], scores[: starts[-1]], depth)


def scores_of(queries: csr_array, postings: csr_array, constants: Floats, chunks: Ints) -> Floats:
    """Scores of given chunks (questions x candidates, -1 for absent); NaN where question and chunk
    share no term."""
    weighed = *_parts(postings), constants
    return np.asarray(_look_up(_parts(queries), weighed, postings.shape[1], chunks))


def compile_all() -> None:
    """Have numba compile what is below, or load it from its cache: seconds, once a machine."""
    unit = csr_array(np.ones((1, 1)))
    search(unit, unit, np.zeros(1), 1)
    scores_of(unit, unit, np.zeros(1), np.zeros((1, 1), dtype=np.int64))


def _parts(matrix: csr_array) -> tuple[Ints, Ints, Floats]:
    # One type each, so that one compiled version serves all.
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False), matrix.data


# `queries` are (where a question's terms begin, terms, how often each), `postings` (where a term's
# begin, chunks, weights, what a term adds to every chunk).


@njit(cache=True)
def _add_up(query, queries, postings, scores, seen):  # type: ignore[no-untyped-def]
    """Sum one question's postings into `scores` and mark the chunks it has `seen`; returns what is
    added to every score."""
    first, terms, counts = queries
    starts, chunks, weights, constants = postings
    scores[:] = 0
    base = 0.0
    for place in range(first[query], first[query + 1]):
        term, count = terms[place], counts[place]
        base += count * constants[term]
        for posting in range(starts[term], starts[term + 1]):
            chunk = chunks[posting]
            seen[chunk] = query
            scores[chunk] += count * weights[posting]
    return base


@njit(cache=True)
def _contenders(queries, postings, width, depth, room):  # type: ignore[no-untyped-def]
    """Per question all chunks that can be among the first `depth`, laid end to end; what exceeds
    `room` is only counted."""
    scores, seen, touched = (
        np.zeros(width),
        np.full(width, -1, np.int32),
        np.zeros(width + 1, np.int32),
    )
    best = np.zeros(depth)  # a heap: the least of the `depth` best scores stands first
    lists, kept, values, end = (
        np.zeros(len(queries[0]), np.int64),
        np.zeros(room, np.int32),
        np.zeros(room),
        0,
    )
    for query in range(len(queries[0]) - 1):
        base = _add_up(query, queries, postings, scores, seen)
        n = 0
        for chunk in range(width):
            touched[n] = chunk
            n += seen[chunk] == query
        best[:] = -np.inf
        for hit in range(n):
            score = scores[touched[hit]]
            if score > best[0]:
                hole, child = 0, 1
                while child < depth:
                    if child + 1 < depth and best[child + 1] < best[child]:
                        child += 1
                    if best[child] >= score:
                        break
                    best[hole] = best[child]
                    hole, child = child, 2 * child + 1
                best[hole] = score
        floor = best[0] - SLACK
        for hit in range(n):
            score = scores[touched[hit]]
            if score >= floor:
                if end < room:
                    kept[end], values[end] = touched[hit], score + base
                end += 1
        lists[query + 1] = end
    return lists, kept, values


@njit(cache=True)
def _look_up(queries, postings, width, wanted):  # type: ignore[no-untyped-def]
    scores, seen, looked_up = (
        np.zeros(width),
        np.full(width, -1, np.int32),
        np.full(wanted.shape, np.nan),
    )
    for query in range(len(queries[0]) - 1):
        base = _add_up(query, queries, postings, scores, seen)
        for place in range(wanted.shape[1]):
            chunk = wanted[query, place]
            if chunk >= 0 and seen[chunk] == query:
                looked_up[query, place] = scores[chunk] + base
    return looked_up
