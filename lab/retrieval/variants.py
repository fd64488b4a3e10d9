"""Question variants: the rankings of one question's wordings become one, by reciprocal rank
fusion."""

import numpy as np

from lab.arrays import NONE, Ints
from lab.retrieval.fusion import RRF_K
from lab.retrieval.ranking import Ranking, rank_lists


def fuse_wordings(plain_ranking: Ranking, others: Ranking, owner: Ints, depth: int) -> Ranking:
    """One ranking a question from that of its own wording and those of its variants; `owner[v]` is
    the question of row v of `others`.

    A chunk's score is the sum of 1 / (60 + rank) over the rankings that hold it (Cormack, Clarke &
    Buettcher, SIGIR 2009), all wordings weighing the same. A question without variants keeps its
    ranking and scores as they are, cut to `depth`.
    """
    several = np.unique(owner)
    plain = np.setdiff1d(np.arange(len(plain_ranking)), several)
    query, chunk, rank = [], [], []
    for rows, ranking in ((several, plain_ranking.chunks[several]), (owner, others.chunks)):
        row, place = np.nonzero(ranking != NONE)
        query.append(rows[row])
        chunk.append(ranking[row, place])
        rank.append(place + 1)
    keys = np.concatenate(query), np.concatenate(chunk), np.concatenate(rank)
    order = np.lexsort(
        keys[::-1]
    )  # by rank last, so that sums do not depend on the order of the variants
    query_of, chunk_of, rank_of = (key[order] for key in keys)
    new = np.ones(len(order), dtype=bool)
    new[1:] = (query_of[1:] != query_of[:-1]) | (chunk_of[1:] != chunk_of[:-1])
    first = np.flatnonzero(new)
    scores = np.add.reduceat(1 / (RRF_K + rank_of), first) if len(first) else np.zeros(0)
    starts = np.searchsorted(query_of[first], np.arange(len(plain_ranking) + 1))
    fused = rank_lists(starts, chunk_of[first], scores, depth)
    width = min(depth, plain_ranking.chunks.shape[1])
    fused.chunks[plain, :width], fused.scores[plain, :width] = (
        plain_ranking.chunks[plain, :width],
        plain_ranking.scores[plain, :width],
    )
    return fused
