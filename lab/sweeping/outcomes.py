"""Outcomes: what the systems of a plan found, in the order of its configs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from lab.arrays import Ints
from lab.chunking.config import ChunkConfig
from lab.diagnosis.alpha.families import Family
from lab.diagnosis.unanswerable import Unanswered
from lab.evaluation.scores import SystemRun
from lab.pipeline.pairs import rerank_notes
from lab.pipeline.rows import StageRows
from lab.storage.progress import noted
from lab.sweeping.chunking_run import ChunkingOutcome, run_chunking, run_phase
from lab.sweeping.depth import cut_by_depth
from lab.sweeping.findings import Findings, proved
from lab.sweeping.foreign_run import run_foreign
from lab.sweeping.identities import identities_of
from lab.sweeping.outcome import SystemOutcome
from lab.sweeping.plan import Plan
from lab.sweeping.preflight.preparation import Preparation
from lab.sweeping.profile import Profile
from lab.sweeping.shelf import Shelf
from lab.sweeping.tools import Tools
from lab.sweeping.weighing import Weighing


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The systems' outcomes, what those of one chunking share (`families` of alphas, `unanswered`
    questions), who did the work (`identities`), latencies if they were asked for, and `notes` to
    the reader, told by now. `phased` are the runs at the phases after the first: a list a phase, of
    a run a system, the first one again where there is no other. `weighings` are what was learned
    of alpha by question, a hybrid family each."""

    systems: tuple[SystemOutcome, ...]
    families: tuple[Family, ...]
    unanswered: tuple[Unanswered, ...]
    identities: Mapping[str, str]
    profile: Profile | None
    notes: tuple[str, ...]
    phased: tuple[tuple[SystemRun, ...], ...] = ()
    weighings: tuple[Weighing, ...] = ()

    @property
    def runs(self) -> list[SystemRun]:
        return [system.run for system in self.systems]

    @property
    def rows(self) -> tuple[StageRows, ...]:
        return tuple(system.rows for system in self.systems)

    @property
    def compared(self) -> list[int]:
        """Places of the systems whose figures can be compared."""
        return [place for place, system in enumerate(self.systems) if system.incomparable is None]

    @property
    def complete(self) -> Ints:
        """The rank at which each piece is complete (systems x pieces)."""
        return np.array([run.judged.complete for run in self.runs])

    def findings(self, plan: Plan) -> Findings:
        """Why pieces were missed, with what the systems prove of each other."""
        misses = proved([system.misses for system in self.systems], plan.configs, plan.pieces)
        reachable = np.array([system.reachable for system in self.systems])
        return Findings(plan.cutoff, misses, self.families, self.unanswered, reachable)


def _one_by_one(
    plan: Plan, preparation: Preparation, shelf: Shelf, profile: Profile | None
) -> Iterator[tuple[ChunkConfig, ChunkingOutcome, list[list[SystemRun]]]]:
    """The systems of one chunking after those of the other, in this process: their outcomes, and
    their runs at the phases after the first."""
    for chunk_config, places in plan.by_chunk.items():
        # Taken out and kept by no name, so that the indexes of one chunking and phase are freed
        # with its last system, before those of the next are built.
        of_phases = list(preparation.stages.pop(chunk_config))
        configs, phases = [plan.configs[place] for place in places], []
        outcome = run_chunking(of_phases.pop(0), configs, plan, shelf, profile)
        while of_phases:
            phases.append(run_phase(of_phases.pop(0), configs, plan, shelf))
        yield chunk_config, outcome, phases


def run_systems(plan: Plan, preparation: Preparation, tools: Tools, shelf: Shelf) -> Outcomes:
    """Run every system, those of each chunking together and foreign ones last."""
    profile, resources = Profile() if tools.profile else None, shelf.resources
    systems: dict[int, SystemOutcome] = {}
    shared: dict[ChunkConfig, ChunkingOutcome] = {}
    phased: dict[int, list[SystemRun]] = {}
    advance = resources.progress.stage("systems", len(plan.configs))
    if preparation.errands is None:
        chunkings = _one_by_one(plan, preparation, shelf, profile)
    else:
        preparation.stages.clear()
        chunkings = preparation.errands.run()
    for chunk_config, outcome, phases in chunkings:
        places, shared[chunk_config] = plan.by_chunk[chunk_config], outcome
        systems |= zip(places, outcome.systems, strict=True)
        for runs in phases:
            for place, run in zip(places, runs, strict=True):
                phased.setdefault(place, []).append(run)
        advance(len(places))
    families = [family for chunk in plan.by_chunk for family in shared[chunk].families]
    weighings = [weighing for chunk in plan.by_chunk for weighing in shared[chunk].weighings]
    identities, notes = identities_of(plan.systems, resources), list[str]()
    for place, (name, retriever) in enumerate(tools.retrievers.items(), start=len(plan.systems)):
        foreign = run_foreign(name, retriever, plan, resources)
        systems[place] = foreign.system
        families += foreign.families
        identities[f"retriever {name}"] = foreign.identity
        notes += noted(resources.progress, foreign.account)
        advance(1)
    ordered = tuple(systems[place] for place in range(len(plan.configs)))
    reaches = [system.reach for system in ordered if system.reach is not None]
    cuts = cut_by_depth(reaches, plan.metrics, plan.pieces.unit)
    notes += noted(resources.progress, (*cuts, *rerank_notes(resources)))
    return Outcomes(
        systems=ordered,
        families=tuple(families),
        unanswered=tuple(one for chunk in plan.by_chunk for one in shared[chunk].unanswered),
        identities=identities,
        profile=profile,
        notes=tuple(notes),
        phased=tuple(
            tuple(
                phased[place][phase] if place in phased else one.run
                for place, one in enumerate(ordered)
            )
            for phase in range(len(plan.phases) - 1)
        ),
        weighings=tuple(weighings),
    )
