"""Shelf: what the sweeps and trials of one session leave for each other."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from lab.arrays import Ints
from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.pipeline.indexes import Indexes
from lab.pipeline.memo import Memo
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.sharded import ShardedIndexes
from lab.pipeline.shards import Shards
from lab.pipeline.stages import Stages
from lab.sweeping.judging import Judging
from lab.sweeping.outcome import SystemOutcome
from lab.sweeping.plan import Plan

V = TypeVar("V")

# Chunkings that stay, and of each the rankings and weighed indexes of so many systems.
CHUNKINGS = 32
SYSTEMS = 8


class Shelf:
    """Indexes, judges and outcomes over one corpus and one set of questions. One that `keeps`
    nothing makes everything anew, so that the indexes of one chunking can go before those of the
    next are built: that of a sweep of its own."""

    def __init__(self, resources: Resources, keeps: bool = False) -> None:
        self.resources = resources
        self.keeps = keeps
        self._indexes: Memo[Hashable, Indexes] = Memo()
        self._starts: Memo[Hashable, Sequence[Ints]] = Memo()
        self._stages: Memo[Hashable, Stages] = Memo()
        self._judging: Memo[Hashable, Judging] = Memo()
        self._outcomes: Memo[Hashable, SystemOutcome] = Memo()

    def for_other_questions(self) -> "Shelf":
        """The same indexes; what depends on the questions is empty."""
        other = Shelf(self.resources, self.keeps)
        other._indexes, other._starts = self._indexes, self._starts
        return other

    def stages(
        self,
        plan: Plan,
        config: ChunkConfig,
        questions: Questions,
        chunking: Chunking | None = None,
        shards: Shards | None = None,
    ) -> Stages:
        """The stages of a chunking, which may be known, or lie in shards; none of its indexes is
        built before it is asked."""

        def indexes() -> Indexes:
            if shards is not None:
                return ShardedIndexes(plan.corpus, config, self.resources, shards)
            return Indexes(plan.corpus, config, self.resources, chunking)

        return self._once(
            self._stages,
            config,
            lambda: Stages(self._once(self._indexes, config, indexes), questions),
        )

    def starts(self, plan: Plan) -> Sequence[Ints]:
        """Per document the offsets at which tokens of the plan's counter begin."""
        resources = self.resources
        return self._once(
            self._starts, plan.counter, lambda: resources.token_starts(plan.counter, plan.corpus)
        )

    def judging(self, stages: Stages, plan: Plan) -> Judging:
        """How the rankings of a chunking are judged."""
        key = stages.indexes.config, plan.counter
        return self._once(self._judging, key, lambda: Judging(stages, plan, self.starts(plan)))

    def knows(self, key: Hashable) -> bool:
        """Whether a system has been run, under all that its outcome depends on."""
        return key in self._outcomes

    def outcome(self, key: Hashable, run: Callable[[], SystemOutcome]) -> SystemOutcome:
        """What a system found."""
        return self._once(self._outcomes, key, run)

    def tidy(self) -> None:
        """Let go of all but the latest chunkings and, in these, of what is quickly made again."""
        for memo in (self._indexes, self._stages, self._judging):
            memo.trim(CHUNKINGS)
        for stages in self._stages.values():
            stages.trim(SYSTEMS)

    def _once(self, memo: Memo[Hashable, V], key: Hashable, compute: Callable[[], V]) -> V:
        return memo.once(key, compute) if self.keeps else compute()
