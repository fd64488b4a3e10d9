"""Measured: what a sweep found, as arrays, before it is laid down as tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lab.arrays import Floats, Ints
from lab.diagnosis.calls import CallStep
from lab.evaluation.clusters import FEWEST_GROUPS, Clusters, clustered, main_documents
from lab.evaluation.metrics import is_cost
from lab.evaluation.phases import PhaseScores, intervals_over_phases, phase_means
from lab.evaluation.selection import Selection, select
from lab.pipeline.rows import StageRows
from lab.sweeping.costs import costs_of
from lab.sweeping.doubts import Doubts
from lab.sweeping.findings import Findings
from lab.sweeping.heldout import Sealed
from lab.sweeping.plan import Plan
from lab.sweeping.preflight.facts import ChunkFacts
from lab.sweeping.profile import Profile
from lab.sweeping.weighing import Weighing


@dataclass(frozen=True, eq=False)
class Account:
    """What a sweep saw on its way: facts of its chunkings, notes to the reader, who did the work,
    what was computed, and how long it took. `profile` is None unless asked for; `hosted` has models
    behind HTTP and what they were asked (see `lab.pipeline.hosted.connected`);
    `dimensions` are those of the vectors by encoder."""

    facts: tuple[ChunkFacts, ...]
    notes: tuple[str, ...]
    identities: Mapping[str, str]
    counts: Mapping[str, int]
    seconds: Mapping[str, float]
    peak_mb: Mapping[str, float]
    profile: Profile | None
    hosted: Mapping[str, Any]
    dimensions: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Measured:
    """`values` is systems x scored questions x metrics; `complete` systems x pieces holds the rank
    at which each piece of evidence was complete; `context_tokens` the mean tokens of what every
    system hands to the reader at the selecting metric's cut-off; `rows` the stage ranks of hits and
    evidence per system; `findings` why pieces were missed, `doubts` what may be relevant and was
    never judged; `families` the family of alphas that each system belongs to, if any; `sealed` what
    questions that no choice has seen say of the recommended system, None if none were set
    aside; `incomparable` has for each system why its figures cannot be compared, None where they
    can: only those take part in any choice or test; `calls` has for each system the searches of one
    that searches several times for a question. `by_phase` (phases x systems x questions x
    metrics) are the scores of which `values` are the means, None where there is one phase.
    `weighings` are what was learned of alpha by question."""

    plan: Plan
    account: Account
    metrics: tuple[str, ...]
    values: Floats
    complete: Ints
    context_tokens: Floats
    rows: tuple[StageRows, ...]
    findings: Findings
    doubts: Doubts
    families: tuple[str | None, ...]
    incomparable: tuple[str | None, ...]
    calls: tuple[tuple[CallStep, ...], ...]
    sealed: Sealed | None = None
    by_phase: Floats | None = None
    weighings: tuple[Weighing, ...] = ()

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Names of all systems, in the order of the grid."""
        return tuple(config.name for config in self.plan.configs)

    @cached_property
    def compared(self) -> Ints:
        """Places of the systems that take part in the choice."""
        return np.flatnonzero([reason is None for reason in self.incomparable])

    @cached_property
    def contenders(self) -> tuple[str, ...]:
        """Names of the systems that take part in the choice, as `selection` numbers them."""
        return tuple(self.systems[place] for place in self.compared)

    @cached_property
    def clusters(self) -> Clusters:
        """The independent units of every interval and test: documents where questions share them,
        else questions."""
        return clustered(main_documents(self.plan.pieces))

    @cached_property
    def selection(self) -> Selection:
        """The choice among the contenders by `measure.select_by`: the best system, what cannot be
        told from it, the cheapest of those."""
        groups = clustered(main_documents(self.plan.pieces), FEWEST_GROUPS)
        configs = [self.plan.configs[place] for place in self.compared]
        account, tokens = self.account, self.context_tokens[self.compared]
        costs = costs_of(configs, tokens, account.profile, account.dimensions)
        return select(
            self.compared_column(self.plan.measure.select_by),
            self.clusters,
            groups,
            costs,
            self.plan.measure.seed,
            self.contenders,
            phases=self.phases(self.plan.measure.select_by),
        )

    @cached_property
    def means(self) -> Floats:
        """Means over questions (systems x metrics), without those that have no value."""
        columns = []
        for column in range(len(self.metrics)):
            values = self.values[:, :, column]
            known = ~np.isnan(values)
            total, count = np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1)
            empty = np.full(len(total), np.nan)
            columns.append(np.divide(total, count, out=empty, where=count > 0))
        return np.column_stack(columns)

    @cached_property
    def intervals(self) -> tuple[Floats, Floats]:
        """Ends of the 95% interval of every mean (systems x metrics each)."""
        ends = np.empty((2, len(self.values), len(self.metrics)))
        for place, metric in enumerate(self.metrics):
            bounds = None if is_cost(metric) else (0.0, 1.0)
            ends[:, :, place] = intervals_over_phases(
                self.values[:, :, place].T,
                self.clusters,
                self.plan.measure.seed,
                self._phase_means(place),
                bounds,
            )
        return ends[0], ends[1]

    def _phase_means(self, metric: int) -> Floats | None:
        """Means of all systems at every phase (phases x systems)."""
        if self.by_phase is None:
            return None
        return phase_means(self.by_phase[:, :, :, metric].swapaxes(1, 2))

    def phases(self, metric: str) -> PhaseScores | None:
        """One metric of every phase, question and contender."""
        if self.by_phase is None:
            return None
        values = self.by_phase[..., self.metrics.index(metric)][:, self.compared].swapaxes(1, 2)
        chunkings = {config: number for number, config in enumerate(self.plan.by_chunk)}
        configs = (self.plan.configs[place] for place in self.compared)
        foreign = len(chunkings)
        cuts = [foreign if one.retriever else chunkings[one.chunk] for one in configs]
        return PhaseScores(values, np.array(cuts))

    def column(self, metric: str) -> Floats:
        """One metric of every question and system (questions x systems)."""
        return self.values[:, :, self.metrics.index(metric)].T

    def compared_column(self, metric: str) -> Floats:
        """One metric of every question and contender (questions x contenders)."""
        return self.column(metric)[:, self.compared]
