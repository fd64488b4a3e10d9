"""Judging the rankings of one chunking as what is delivered for them."""

from collections.abc import Sequence

import numpy as np

from lab.arrays import Ints
from lab.chunking.chunk import Chunking
from lab.diagnosis.places import reachable
from lab.evaluation.scores import SystemRun
from lab.pipeline.memo import Memo
from lab.pipeline.stages import Stages
from lab.pipeline.tokens import count_tokens
from lab.relevance.judge import Judge, SpanJudge, judge_for
from lab.retrieval.ranking import Ranking, project
from lab.sweeping.plan import Plan


class Judging:
    """Built once per chunking and asked for every system that shares it: there is one judge a way
    of delivery. `starts` are per document the offsets of tokens (of the plan's counter, or of
    words)."""

    def __init__(self, stages: Stages, plan: Plan, starts: Sequence[Ints]) -> None:
        self._stages = stages
        self._plan = plan
        self._starts = starts
        self._judges: Memo[str, tuple[Judge, Ints]] = Memo()
        self._reachable: Memo[str, Ints] = Memo()

    def judge(self, deliver: str) -> Judge:
        """The judge of what is delivered."""
        return self._judge(deliver)[0]

    def _judge(self, deliver: str) -> tuple[Judge, Ints]:
        def build() -> tuple[Judge, Ints]:
            spans = self._stages.delivery(deliver).spans
            judge = judge_for(self._plan.pieces, spans, self._plan.measure.hold)
            return judge, _tokens_of_judged(judge, spans, self._starts)

        return self._judges.once(deliver, build)

    def delivered(self, deliver: str, ranking: Ranking) -> Ranking:
        """What the reader is handed for a ranking of chunks."""
        if deliver == "chunk":
            return ranking
        return project(ranking, self._stages.delivery(deliver).span_of)

    def judged(self, deliver: str, ranking: Ranking) -> SystemRun:
        """A ranking of chunks, judged as what is delivered for them."""
        judge, tokens = self._judge(deliver)
        return SystemRun(judge, judge.judge(self.delivered(deliver, ranking)), tokens)

    def reachable(self, deliver: str, run: SystemRun) -> Ints:
        """Per question how many pieces any ranking of what is delivered could hold."""
        plan = self._plan
        return self._reachable.once(deliver, lambda: reachable(plan.pieces, run, plan.cutoff))


def _tokens_of_judged(judge: Judge, spans: Chunking, starts: Sequence[Ints]) -> Ints:
    """Context tokens of what the judge ranks: spans, or whole documents."""
    if isinstance(judge, SpanJudge):
        return count_tokens(starts, spans)
    return np.array([len(offsets) for offsets in starts], dtype=np.int64)
