"""Re-running one question with one chunk changed: cut elsewhere, or read to its end; everything
else stays as it was."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import NONE, Floats, Ints
from lab.retrieval.config import FusionConfig
from lab.retrieval.fusion import ALONE, Boost, Candidates, boosted, fuse, ranks
from lab.retrieval.ranking import Ranking, rank


@dataclass(frozen=True, eq=False)
class Legs:
    """What the first stage of a system is made of: its legs' rankings (None without the leg), and
    for both together the candidates and how they are fused; `depth` is what a leg keeps, `boost`
    the features of the row's chunks."""

    bm25: Ranking | None
    dense: Ranking | None
    found: Candidates | None
    fusion: FusionConfig | None
    depth: int
    boost: Boost | None = None


def insert(
    legs: Legs, question: Ints, removed: Ints, chunk: int, bm25: Floats, dense: Floats
) -> Ranking:
    """The first stage with a new chunk, one row a change.

    Row i is question[i] with the chunks removed[i] (rows x any, NONE-padded) taken out and a chunk
    with the given scores put in (bm25 NaN: shares no term). `chunk` is its index; the index's
    statistics stay as they were.
    """
    lexical = (
        None if legs.bm25 is None else _leg(legs.bm25, question, removed, chunk, bm25, legs.depth)
    )
    semantic = (
        None
        if legs.dense is None
        else _leg(legs.dense, question, removed, chunk, dense, legs.depth)
    )
    if lexical is None or semantic is None or legs.found is None or legs.fusion is None:
        one, lower = (semantic, -1.0) if lexical is None else (lexical, 0.0)
        assert one is not None  # a system has a leg
        normalization = legs.fusion.normalization if legs.fusion else ALONE
        return (
            one
            if legs.boost is None
            else boosted(one, lower, normalization, legs.boost, legs.depth)
        )
    new = np.full((len(question), 1), chunk)
    chunks = np.concatenate((_without(legs.found.chunks[question], removed), new), axis=1)
    own = [ranks(leg, chunks) for leg in (lexical, semantic)]
    chunks = np.where((own[0] > 0) | (own[1] > 0), chunks, NONE)
    scores = [
        np.where(chunks == NONE, np.nan, np.concatenate((old[question], value[:, None]), axis=1))
        for old, value in ((legs.found.bm25, bm25), (legs.found.dense, dense))
    ]
    return fuse(
        Candidates(chunks, scores[0], scores[1], own[0], own[1]),
        legs.fusion,
        legs.depth,
        legs.boost,
    )


def _without(chunks: Ints, removed: Ints) -> Ints:
    gone = (chunks[:, :, None] == removed[:, None, :]).any(axis=2)
    return np.where(gone, NONE, chunks)


def _leg(
    leg: Ranking, question: Ints, removed: Ints, chunk: int, score: Floats, depth: int
) -> Ranking:
    new = np.where(np.isnan(score), NONE, chunk)[:, None]
    chunks = np.concatenate((_without(leg.chunks[question], removed), new), axis=1)
    scores = np.concatenate(
        (leg.scores[question], np.nan_to_num(score, nan=-np.inf)[:, None]), axis=1
    )
    return rank(chunks, np.where(chunks == NONE, -np.inf, scores), depth)
