"""From judged rankings to ranx: contributed items as arrays, all systems and questions stacked into
one call a metric.

ranx's dict types compile for minutes and scramble ties; its array interface does neither. An array
row is a question under a system; item 0 is noise, item i > 0 the i-th piece of its question.
"""

from collections.abc import Sequence

import numpy as np

from lab.arrays import NEVER, Bools, Floats, Ints
from lab.relevance.judge import Judged
from lab.relevance.pieces import Pieces


def piece_numbers(pieces: Pieces) -> Ints:
    """Number from 1 of every piece within its question."""
    return np.arange(len(pieces)) - np.searchsorted(pieces.query, pieces.query) + 1


def judgements(pieces: Pieces) -> Floats:
    """Questions x most pieces x (item, grade), highest grade first as ranx's ideal ranking needs
    it; padding has grade 0."""
    qrels = np.zeros((len(pieces.queries), int(pieces.per_query.max()), 2))
    order = np.lexsort((-pieces.grade, pieces.query))
    place = np.arange(len(pieces)) - np.searchsorted(pieces.query, pieces.query)
    qrels[pieces.query, place, 0] = piece_numbers(pieces)[order]
    qrels[pieces.query, place, 1] = pieces.grade[order]
    return qrels


def positions(pieces: Pieces, complete: Ints) -> Ints:
    """Systems x pieces: place from 1 of every piece in the list of contributed items, NEVER if it
    is not in it.

    Walking down, a rank contributes the pieces that become complete there, highest grade first, or
    one noise item. So a piece stands at its rank, plus one for every further piece that an earlier
    rank contributed, plus its place among the pieces of its own rank.
    """
    placed = np.full(complete.shape, NEVER)
    numbers = np.arange(len(pieces))
    for system, ranks in enumerate(complete):
        order = np.lexsort((numbers, -pieces.grade, ranks, pieces.query))
        query, rank = pieces.query[order], ranks[order]
        new_query = np.concatenate(([True], query[1:] != query[:-1]))
        new_rank = new_query | np.concatenate(([True], rank[1:] != rank[:-1]))
        begin = np.maximum.accumulate(
            np.where(new_rank, numbers, 0)
        )  # first piece of the same rank
        query_begin = np.maximum.accumulate(np.where(new_query, numbers, 0))
        ranks_before = np.cumsum(new_rank) - 1
        distinct_before = (
            ranks_before - ranks_before[query_begin]
        )  # ranks of this question that contributed earlier
        extra = (begin - query_begin) - distinct_before
        with np.errstate(over="ignore"):
            placed[system, order] = np.where(rank == NEVER, NEVER, rank + extra + (numbers - begin))
    return placed


def item_lists(pieces: Pieces, placed: Ints, length: int) -> Floats:
    """(systems * questions) x length x (item, score): the contributed items with strictly falling
    scores made from ranks."""
    systems, queries = len(placed), len(pieces.queries)
    run = np.zeros((systems * queries, length, 2))
    run[:, :, 1] = length - np.arange(length)
    system, piece = np.nonzero(placed <= length)
    run[system * queries + pieces.query[piece], placed[system, piece] - 1, 0] = piece_numbers(
        pieces
    )[piece]
    return run


def kept_lists(pieces: Pieces, kept: Bools) -> Floats:
    """Lists of just the kept pieces (systems x pieces), for recall over what a number of chunks
    contributed."""
    placed = np.where(kept, piece_numbers(pieces)[None, :], NEVER)
    return item_lists(pieces, placed, int(pieces.per_query.max()))


def chunk_lists(judged: Sequence[Judged], k: int) -> tuple[Floats, Floats]:
    """qrels and run for precision@k: item r is the hit at rank r, judged 1 if relevant by
    itself."""
    relevant = np.zeros((len(judged), len(judged[0].relevant), k), dtype=bool)
    for system, judgement in enumerate(judged):
        width = min(k, judgement.relevant.shape[1])
        relevant[system, :, :width] = judgement.relevant[:, :width]
    flat = relevant.reshape(-1, k)
    run = np.empty((len(flat), k, 2))
    run[:, :, 0] = np.arange(1, k + 1)
    run[:, :, 1] = k - np.arange(k)
    qrels = np.zeros((len(flat), k, 2))
    qrels[:, :, 0] = np.where(flat, run[:, :, 0], 0)
    qrels[:, :, 1] = flat
    return qrels, run
