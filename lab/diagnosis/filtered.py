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


class FilteredOut:
    """Built once per view of a chunking: `pieces` flags those all of whose documents the filter
    leaves out."""

    def __init__(self, stages: Stages, pieces: Pieces) -> None:
        self.stages = stages
        self.query = pieces.query
        self.items = pieces.items
        self.pieces = np.array(
            [
                not any(stages.admits(query, item.doc_id) for item in items)
                for query, items in zip(pieces.query.tolist(), pieces.items, strict=True)
            ]
        )

    def why(self, piece: int) -> tuple[str, ...]:
        """The conditions that each of the piece's documents fails, with what it has instead; empty
        where one passes."""
        wanted = self.stages.questions.filters[self.query[piece]]
        if wanted is None or not self.pieces[piece]:
            return ()
        corpus = self.stages.chunking.corpus
        names = dict.fromkeys(item.doc_id for item in self.items[piece])
        return tuple(f"{name}: {wanted.failed(corpus[name].metadata)}" for name in names)

    @cached_property
    def _questions(self) -> Ints:
        return np.unique(self.query[self.pieces])

    @cached_property
    def _unfiltered(self) -> Stages:
        """The questions concerned, without their filters."""
        queries = [self.stages.questions.queries[query] for query in self._questions]
        return self.stages.asking(queries, variants=self.stages.variants is not None)

    def ranks(self, config: Config, judge: Judge) -> Ints:
        """Per piece the rank at which it is complete when the system runs without the filter; NEVER
        for pieces that no filter leaves out. Pairs that no system has scored yet are scored."""
        if not self.pieces.any():
            return np.full(len(self.pieces), NEVER)
        unfiltered = config.model_copy(update={"filter": False})
        prepare_pairs([(self._unfiltered, [unfiltered])])
        concerned = self._unfiltered.ranking(unfiltered)
        shape = len(self.stages.questions), concerned.chunks.shape[1]
        ranking = Ranking(np.full(shape, NONE, dtype=np.int64), np.full(shape, -np.inf))
        ranking.chunks[self._questions] = concerned.chunks
        ranking.scores[self._questions] = concerned.scores
        if config.deliver != "chunk":
            ranking = project(ranking, self.stages.delivery(config.deliver).span_of)
        return np.where(self.pieces, judge.arrival(ranking)[1], NEVER)
