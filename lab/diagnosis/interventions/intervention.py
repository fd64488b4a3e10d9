"""Intervention: one thing changed, everything after it run again, to see which misses come back."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from lab.arrays import Bools, Ints
from lab.config.config import Config
from lab.diagnosis.alpha.curve import Curve
from lab.diagnosis.alpha.families import Family
from lab.diagnosis.causes import HIT, LOST, NAMES, Codes
from lab.diagnosis.chunk_edits import ChunkEdit
from lab.diagnosis.competitors import Competitors
from lab.diagnosis.replay import Replay
from lab.diagnosis.stage_ranks import StageRanks
from lab.evaluation.scores import SystemRun
from lab.relevance.judge import Judge, SpanJudge
from lab.relevance.pieces import Pieces

# Piece -> the change that brought it back, in words.
Recovered = Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Intervention:
    """A counterfactual check, as a value.

    `name` says what is changed and `size` ranks the changes of a system from the smallest (1) to
    the largest: the smallest that brings a piece back is its remedy. A piece that comes back
    `proves` these causes. `applies_to` gives the pieces that the change is worth trying for,
    ascending, and `rerun` which of them it brings back, each with the change in words. What comes
    back is put down to the cause `claims` instead of the one it had; empty: it keeps its own.
    """

    name: str
    size: int
    proves: tuple[str, ...]
    applies_to: Callable[["Case"], Ints]
    rerun: Callable[["Case", Ints], Recovered]
    claims: str = ""


class Seen(Protocol):
    """What can be asked of every system, whoever runs it: its pieces, what competes with them,
    curves under another normalisation, and ranks without the filter."""

    pieces: Pieces
    competitors: Competitors

    def otherwise(
        self, config: Config, judge: Judge, questions: Ints
    ) -> tuple[Config, dict[int, Curve]]:
        """See `lab.diagnosis.alpha.families.Families.otherwise`."""

    def unfiltered(self, config: Config, judge: Judge) -> Ints:
        """Per piece the rank at which it is complete without the filter, NEVER where it is not, or
        nobody knows."""


@dataclass(frozen=True, eq=False)
class Case:
    """One system's misses: how far every piece came, the code of its cause (HIT where it is not
    missed), and what interventions brought back so far."""

    seen: Seen
    config: Config
    run: SystemRun
    ranks: StageRanks
    codes: Codes
    family: Family | None
    recovered: Mapping[str, Recovered] = field(default_factory=dict)
    interventions: Mapping[str, Intervention] = field(default_factory=dict)

    @property
    def replay(self) -> Replay:
        """What a system of the lab's own is run again with."""
        assert isinstance(self.seen, Replay)  # a foreign one meets no intervention that runs it
        return self.seen

    @property
    def missed(self) -> Ints:
        """All missed pieces."""
        return np.flatnonzero(self.codes != HIT)

    def of(self, *causes: str) -> Ints:
        """The pieces with one of these causes."""
        return np.flatnonzero(np.isin(self.codes, [NAMES.index(cause) for cause in causes]))

    def has(self, intervention: str, unit: int) -> bool:
        """Whether the intervention of that name brought a piece back."""
        return unit in self.recovered.get(intervention, {})

    def without(self, intervention: str, units: Ints) -> Ints:
        """Those pieces that the intervention of that name has not brought back."""
        return units[[not self.has(intervention, unit) for unit in units.tolist()]]

    def changes(self, unit: int) -> dict[Intervention, str]:
        """What brought a piece back, each in words."""
        return {
            self.interventions[name]: back[unit]
            for name, back in self.recovered.items()
            if unit in back
        }

    def proved(self, unit: int) -> bool:
        """Whether a change of the blamed stage brought the piece back."""
        cause = self.cause(unit)
        return any(cause in intervention.proves for intervention in self.changes(unit))

    def unproved(self, units: Ints) -> Ints:
        """Those pieces that no change of the blamed stage brought back."""
        return units[[not self.proved(unit) for unit in units.tolist()]]

    def unproved_whole(self) -> Ints:
        """Pieces that lie whole in a span and are lost among the candidates or in their ranking,
        and that no change of the blamed stage brought back."""
        if not isinstance(self.run.judge, SpanJudge):
            return no_units()
        lost = self.of(*LOST)
        return self.unproved(lost[self.ranks.needed[lost] == 1])

    def cause(self, unit: int) -> str:
        """What a missed piece is put down to."""
        return NAMES[int(self.codes[unit])]

    def edited_within(self, units: Ints, edits: Sequence[ChunkEdit]) -> Bools:
        """Which pieces come back, each with its chunk edit."""
        k = self.ranks.k[units]
        return self.replay.edited_within(self.config, self.run.judge, units, edits, k)

    def within(self, changed: Config, units: Ints) -> Bools:
        """Which pieces a changed system has."""
        return self.replay.changed_within(changed, self.run.judge, units, self.ranks.k[units])

    def after(self, intervention: Intervention, back: Recovered) -> "Case":
        """The case with what an intervention brought back. What brought a piece back first is what
        is said of it."""
        if not back:
            return self
        name, codes = intervention.name, self.codes
        if intervention.claims:
            codes = codes.copy()
            codes[list(back)] = NAMES.index(intervention.claims)
        return replace(
            self,
            codes=codes,
            recovered={**self.recovered, name: {**back, **self.recovered.get(name, {})}},
            interventions={**self.interventions, name: intervention},
        )


def no_units() -> Ints:
    """No piece."""
    return np.zeros(0, dtype=np.int64)


def all_back(units: Ints, text: str) -> Recovered:
    """The same words for all."""
    return dict.fromkeys(units.tolist(), text)


def tried_in_turn(
    case: Case, units: Ints, changed_systems: Iterable[tuple[Config, str]]
) -> Recovered:
    """Changed systems, each with its change in words, each tried on what is still missing."""
    back: dict[int, str] = {}
    for changed, text in changed_systems:
        left = units[[unit not in back for unit in units.tolist()]]
        if len(left):
            back |= all_back(left[case.within(changed, left)], text)
    return back
