"""Evidence that a question's filter leaves out: the condition that does it, and what the same
system finds without the filter."""

from functools import cached_property

import numpy as np

from lab.arrays import NEVER, NONE, Ints
from lab.config.config import Config
from lab.pipeline.pairs import prepare_pairs
from lab.pipeline.stages import Stages
from lab.relevance.judge import Judge
from lab.relevance.pieces import Pieces
from lab.retrieval.ranking import Ranking, project


class LeftOut:
    """Built once per view of a chunking: `pieces` are those all of whose documents the filter
    leaves out (a flag each)."""

    def __init__(self, stage: Stages, asked: Pieces) -> None:
        self.stage, self.asked = stage, asked
        self.pieces = np.array(
            [
                not any(stage.admits(query, item.doc_id) for item in items)
                for query, items in zip(asked.query.tolist(), asked.items, strict=True)
            ]
        )

    def why(self, piece: int) -> str:
        """The conditions that the piece's documents fail, with what they have instead; empty where
        one passes."""
        wanted = self.stage.filters[self.asked.query[piece]]
        if wanted is None or not self.pieces[piece]:
            return ""
        corpus = self.stage.chunking.corpus
        names = dict.fromkeys(item.doc_id for item in self.asked.items[piece])
        return "; ".join(f"{name}: {wanted.failed(corpus[name].metadata)}" for name in names)

    @cached_property
    def _questions(self) -> Ints:
        return np.unique(self.asked.query[self.pieces])

    @cached_property
    def _free(self) -> Stages:
        """The questions concerned, without their filters."""
        queries = [self.stage.queries[query] for query in self._questions]
        return self.stage.asking(queries, variants=self.stage.variants is not None)

    def ranks(self, config: Config, judge: Judge) -> Ints:
        """Per piece the rank at which it is complete when the system runs without the filter; NEVER
        for pieces that no filter leaves out. Pairs that no system has scored yet are scored."""
        if not self.pieces.any():
            return np.full(len(self.pieces), NEVER)
        free = config.model_copy(update={"filter": False})
        prepare_pairs([(self._free, [free])])
        found = self._free.ranking(free)
        shape = len(self.asked.queries), found.chunks.shape[1]
        ranking = Ranking(np.full(shape, NONE, dtype=np.int64), np.full(shape, -np.inf))
        ranking.chunks[self._questions], ranking.scores[self._questions] = (
            found.chunks,
            found.scores,
        )
        delivered = (
            ranking
            if config.deliver == "chunk"
            else project(ranking, self.stage.delivery(config.deliver).span_of)
        )
        return np.where(self.pieces, judge.arrival(delivered)[1], NEVER)
