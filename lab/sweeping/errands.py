"""Errands: what of a sweep the tasks of a cluster do. A chunking is cut by one, and its systems are
run by several, each with whole families of alphas; everything else is done by the one who asks."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.cluster.cluster import fetched
from lab.cluster.parcel import packed, unpacked
from lab.config.config import Config
from lab.config.phases import at_phases
from lab.evaluation.scores import SystemRun
from lab.pipeline.indexes import Indexes
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.work import absorb, work_of
from lab.pipeline.workplace import Workplace
from lab.sweeping.chunking_run import (
    ChunkingOutcome,
    parted,
    rejoined,
    run_chunking,
    run_phase,
)
from lab.sweeping.plan import Plan
from lab.sweeping.shelf import Shelf


@dataclass(frozen=True, eq=False)
class _Errand:
    """What every task is handed: where it works, and a reference to the plan."""

    workplace: Workplace
    plan: Any


class Errands:
    """The tasks of one sweep."""

    def __init__(self, plan: Plan, resources: Resources) -> None:
        assert resources.cluster is not None  # there are no tasks without
        self._plan, self._resources, self._cluster = plan, resources, resources.cluster
        workplace = Workplace.of(resources)
        # The user's own metrics are asked by the one who scores.
        self._errand = _Errand(workplace, self._cluster.put(replace(plan, functions={})))
        self._listener = workplace.listener(resources)
        self._chunkings: dict[ChunkConfig, Any] = {}

    def cut(self) -> Mapping[ChunkConfig, Chunking]:
        """The chunkings of all chunk configs and phases."""
        configs = [
            config for of in self._plan.by_chunk for config in at_phases(of, self._plan.phases)
        ]
        arguments = [(self._errand, config) for config in configs]
        cut = {}
        for place, chunking in self._each(_cut, arguments):
            cut[configs[place]] = chunking
            self._chunkings[configs[place]] = self._cluster.put(
                packed(chunking, _shared(self._plan))
            )
        return cut

    def run(self) -> Iterator[tuple[ChunkConfig, ChunkingOutcome, list[list[SystemRun]]]]:
        """The systems of every chunking, as its tasks end: their outcomes, and their runs at the
        phases after the first."""
        plan = self._plan
        systems = {of: [plan.configs[p] for p in places] for of, places in plan.by_chunk.items()}
        most = max(1, -(-self._cluster.workers // max(len(self._chunkings), 1)))
        # Whose chunking, how it is cut, and which systems are run; at a further phase none of them.
        tasks: list[tuple[ChunkConfig, ChunkConfig, list[Config]]] = []
        for of, configs in systems.items():
            first, *others = at_phases(of, plan.phases)
            tasks += [(of, first, wanted) for wanted in parted(configs, most)]
            tasks += [(of, other, []) for other in others]
        arguments = [
            (self._errand, self._chunkings[cut], cut, systems[of], wanted)
            for of, cut, wanted in tasks
        ]
        left, values = Counter(of for of, _, _ in tasks), dict[int, Any]()
        for place, value in self._each(_run, arguments):
            of, values[place] = tasks[place][0], value
            left[of] -= 1
            if left[of]:
                continue
            parts, phases = [], []
            for number, (chunk_config, _, wanted) in enumerate(tasks):
                if chunk_config == of and wanted:
                    parts.append((wanted, values.pop(number)))
                elif chunk_config == of:
                    phases.append(values.pop(number))
            yield of, rejoined(systems[of], parts), phases

    def _each(self, task: Any, arguments: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Places and values of tasks as they end, their work added to that of the sweep."""
        for place, parcel in self._cluster.each(task, arguments, self._listener):
            value, work = unpacked(parcel, _shared(self._plan))
            absorb(self._resources, work)
            yield place, value
        self._listener()


def _shared(plan: Plan) -> Sequence[object]:
    return plan.corpus, plan.pieces


def _cut(errand: _Errand, config: ChunkConfig) -> bytes:
    """Task: cut the documents."""
    plan, resources = fetched(errand.plan), errand.workplace.resources()
    chunking = Indexes(plan.corpus, config, resources).chunking
    return packed((chunking, work_of(resources)), _shared(plan))


def _run(
    errand: _Errand,
    chunking: bytes,
    config: ChunkConfig,
    configs: Sequence[Config],
    wanted: Sequence[Config],
) -> bytes:
    """Task: run the `wanted` of the systems of a chunking; without any, all of them at a phase of
    whose misses nobody asks why."""
    plan, resources = fetched(errand.plan), errand.workplace.resources()
    shelf = Shelf(resources)
    cut = unpacked(chunking, _shared(plan))
    stages = shelf.stages(plan, config, Questions.of(plan.pieces.queries), cut)
    value = (
        run_chunking(stages, configs, plan, shelf, None, wanted)
        if wanted
        else run_phase(stages, configs, plan, shelf)
    )
    return packed((value, work_of(resources)), _shared(plan))
