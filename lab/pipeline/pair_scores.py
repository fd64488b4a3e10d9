"""Pair scores: what rerankers say of the (question, chunk) pairs of one chunking."""

import numpy as np

from lab.arrays import NONE, Floats, Ints
from lab.chunking.chunk import Chunking
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.retrieval.config import RerankConfig
from lab.retrieval.ranking import Ranking


class PairScores:
    """Scores by the pairs' numbers, `question * chunks + chunk`. Filled for all systems at once by
    `lab.pipeline.pairs`; re-runs add what they had to ask."""

    def __init__(self, chunking: Chunking, questions: Questions, resources: Resources) -> None:
        self.chunking = chunking
        self.questions = questions
        self.resources = resources
        # Reranker -> the numbers, ascending, and the scores of its pairs.
        self._scores: dict[str, tuple[Ints, Floats]] = {}

    def keep(self, model: str, keys: Ints, scores: Floats) -> None:
        """Scores of a reranker's pairs, whose numbers ascend."""
        self._scores[model] = keys, scores

    def of_head(self, config: RerankConfig, ranking: Ranking) -> Floats:
        """The reranker's scores of a ranking's head (questions x depth, NaN where there is no
        hit)."""
        keys, scores = self._scores[config.model]
        pool = ranking.first(config.depth).chunks
        head = np.full(pool.shape, np.nan)
        query, place = np.nonzero(pool != NONE)
        wanted = query * len(self.chunking) + pool[query, place]
        head[query, place] = scores[np.searchsorted(keys, wanted)]
        return head

    def known(self, model: str, chunks: Ints, query: Ints) -> Floats:
        """Scores of pairs that were asked for already (rows x any chunks, row i of question
        query[i]), NaN for others."""
        keys, scores = self._scores[model]
        wanted = query[:, None] * len(self.chunking) + chunks
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((keys[place] == wanted) & (chunks != NONE), scores[place], np.nan)

    def ask(self, model: str, query: Ints, chunks: Ints) -> Floats:
        """Score (question, chunk) pairs that nobody asked for, and know them from now on."""
        questions = [self.questions.texts[q] for q in query]
        texts = [self.chunking.texts[c] for c in chunks]
        new_scores = self.resources.score_pairs(model, questions, texts)
        keys, scores = self._scores[model]
        all_keys = np.concatenate((keys, query * len(self.chunking) + chunks))
        keys, place = np.unique(all_keys, return_index=True)
        self._scores[model] = keys, np.concatenate((scores, new_scores))[place]
        return new_scores
