"""Ranking some questions again with one chunk changed; everything else stays as it was."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import NONE, Floats, Ints
from lab.retrieval.config import FusionConfig
from lab.retrieval.fusion import ALONE, Boost, Candidates, boosted, fuse_at, ranks
from lab.retrieval.ranking import Ranking, rank


@dataclass(frozen=True, eq=False)
class Legs:
    """What the first stage of a system is made of: its legs' rankings (None without the leg), and
    for both together the candidates, how they are fused and each row's alpha; `depth` is what a leg
    keeps, `boost` the features of the row's chunks."""

    bm25: Ranking | None
    dense: Ranking | None
    candidates: Candidates | None
    fusion: FusionConfig | None
    alphas: Floats | None
    depth: int
    boost: Boost | None = None


@dataclass(frozen=True, eq=False)
class Insertion:
    """A new chunk a row, under the same index `chunk` in all: `bm25` and `dense` are its scores
    (bm25 NaN: shares no term), `removed` (rows x any, NONE-padded) the chunks that it replaces."""

    chunk: int
    removed: Ints
    bm25: Floats
    dense: Floats

    def into(self, ranking: Ranking, question: Ints, scores: Floats, depth: int) -> Ranking:
        """A leg's ranking of the questions, each row with its new chunk."""
        new = np.where(np.isnan(scores), NONE, self.chunk)[:, None]
        chunks = np.concatenate((self.without(ranking.chunks[question]), new), axis=1)
        all_scores = np.concatenate(
            (ranking.scores[question], np.nan_to_num(scores, nan=-np.inf)[:, None]), axis=1
        )
        return rank(chunks, np.where(chunks == NONE, -np.inf, all_scores), depth)

    def without(self, chunks: Ints) -> Ints:
        """Rows of chunks, the removed ones NONE."""
        gone = (chunks[:, :, None] == self.removed[:, None, :]).any(axis=2)
        return np.where(gone, NONE, chunks)


def insert(legs: Legs, question: Ints, insertion: Insertion) -> Ranking:
    """The first stage with a new chunk, one row a change: row i is question[i]. The index's
    statistics stay as they were."""
    lexical = semantic = None
    if legs.bm25 is not None:
        lexical = insertion.into(legs.bm25, question, insertion.bm25, legs.depth)
    if legs.dense is not None:
        semantic = insertion.into(legs.dense, question, insertion.dense, legs.depth)
    if lexical is not None and semantic is not None:
        assert legs.candidates is not None  # both legs have them
        assert legs.fusion is not None
        assert legs.alphas is not None
        candidates = _candidates(legs.candidates, question, insertion, (lexical, semantic))
        return fuse_at(candidates, legs.fusion, legs.alphas, legs.depth, legs.boost)
    leg, lower = (semantic, -1.0) if lexical is None else (lexical, 0.0)
    assert leg is not None  # a system has a leg
    if legs.boost is None:
        return leg
    normalization = legs.fusion.normalization if legs.fusion else ALONE
    return boosted(leg, lower, normalization, legs.boost, legs.depth)


def _candidates(
    old: Candidates, question: Ints, insertion: Insertion, legs: tuple[Ranking, Ranking]
) -> Candidates:
    new = np.full((len(question), 1), insertion.chunk)
    chunks = np.concatenate((insertion.without(old.chunks[question]), new), axis=1)
    bm25_rank, dense_rank = (ranks(leg, chunks) for leg in legs)
    chunks = np.where((bm25_rank > 0) | (dense_rank > 0), chunks, NONE)

    def with_new(scores: Floats, new_score: Floats) -> Floats:
        both = np.concatenate((scores[question], new_score[:, None]), axis=1)
        return np.where(chunks == NONE, np.nan, both)

    return Candidates(
        chunks,
        with_new(old.bm25, insertion.bm25),
        with_new(old.dense, insertion.dense),
        bm25_rank,
        dense_rank,
    )
