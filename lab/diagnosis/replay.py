"""Replay: what interventions run a system again with."""

from collections.abc import Callable, Sequence

import numpy as np

from lab.arrays import Bools, Floats, Ints
from lab.config.config import Config
from lab.config.distinct import reduced
from lab.diagnosis.alpha.curve import Curve
from lab.diagnosis.alpha.families import Families
from lab.diagnosis.chunk_edits import ChunkEdit, ChunkEdits
from lab.diagnosis.competitors import Competitors
from lab.diagnosis.cutoff import Cutoff
from lab.diagnosis.edited_ranks import EditedRanks
from lab.diagnosis.reruns import Reruns
from lab.diagnosis.stage_ranks import StageRanker
from lab.evaluation.scores import SystemRun
from lab.pipeline.memo import Memo
from lab.pipeline.stages import Stages
from lab.relevance.judge import Judge
from lab.relevance.pieces import Pieces
from lab.retrieval.ranking import Ranking

# A ranking of chunks, judged as what is delivered for them (the setting's value).
JudgedAs = Callable[[str, Ranking], SystemRun]


class Replay:
    """Everything of one chunking that a counterfactual needs. Built once, and asked for every
    system (of `configs`) that shares it."""

    def __init__(
        self,
        stages: Stages,
        pieces: Pieces,
        cutoff: Cutoff,
        configs: Sequence[Config],
        judged_as: JudgedAs,
    ) -> None:
        self.stages = stages
        self.pieces = pieces
        self.cutoff = cutoff
        self.judged_as = judged_as
        self.ranker = StageRanker(stages, pieces, cutoff.k)
        self.families = Families(stages, pieces, cutoff, configs)
        self.competitors = Competitors(pieces)
        self.edits = ChunkEdits(stages, pieces)
        self.reruns = Reruns(stages, pieces)
        self._edited = EditedRanks(stages, pieces)
        self._asking: Memo[tuple[bytes, bool, bool], Stages] = Memo()
        # System -> its first stage of every question asked so far: chunks and scores.
        self._rankings: Memo[Config, dict[int, tuple[Ints, Floats]]] = Memo()

    def otherwise(
        self, config: Config, judge: Judge, questions: Ints
    ) -> tuple[Config, dict[int, Curve]]:
        """A family's curves for some questions under another normalisation."""
        return self.families.otherwise(config, judge, questions)

    def unfiltered(self, config: Config, judge: Judge) -> Ints:
        """Per piece the rank at which it is complete without the questions' filters."""
        return self.ranker.filtered_out.ranks(config, judge)

    def edited_within(
        self, config: Config, judge: Judge, units: Ints, edits: Sequence[ChunkEdit], k: Ints
    ) -> Bools:
        """Which pieces are within their k once each has its edit."""
        if not len(units):
            return np.zeros(0, dtype=bool)
        return self._edited.ranks(config, judge, units, edits) <= k

    def changed_within(self, config: Config, judge: Judge, units: Ints, k: Ints) -> Bools:
        """Which pieces a changed system has within their k."""
        first = self._first_stage(config, self.pieces.query[units])
        return self.reruns.within(config, judge, units, first, k)

    def _first_stage(self, config: Config, query: Ints) -> Ranking:
        """A changed system's first stage of some questions, one row each. Only these are asked."""
        each, row = np.unique(query, return_inverse=True)
        first = self._lexical(config, each) if config.dense is None else self._fused(config, each)
        return Ranking(first.chunks[row], first.scores[row])

    def _fused(self, config: Config, questions: Ints) -> Ranking:
        """What differs in alpha alone often asks the same questions, and has the same legs."""

        def asking() -> Stages:
            return self._stages(config, questions)

        key = questions.tobytes(), config.filter, config.variants
        return self._asking.once(key, asking).first_stage(config)

    def _lexical(self, config: Config, questions: Ints) -> Ranking:
        """What differs in k1 or b alone is often changed into the same system, and misses most of
        the same questions: each is asked once."""
        key = reduced(config.model_copy(update={"rerank": None, "deliver": "chunk"}))
        known = self._rankings.once(key, dict)
        new = [question for question in questions.tolist() if question not in known]
        if new:
            first = self._stages(config, np.array(new)).first_stage(key)
            known.update(zip(new, zip(first.chunks, first.scores, strict=True), strict=True))
        chunks, scores = zip(*(known[question] for question in questions.tolist()), strict=True)
        return Ranking(np.array(chunks), np.array(scores))

    def _stages(self, config: Config, questions: Ints) -> Stages:
        queries = [self.stages.questions.queries[question] for question in questions.tolist()]
        return self.stages.asking(queries, filtered=config.filter, variants=config.variants)
