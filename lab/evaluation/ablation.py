"""Which knob matters, and by how much: one setting changed at a time, and main effects over the
whole grid."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.arrays import Bools, Floats, Ints

Settings = Mapping[str, Any]

ABSENT = -1


@dataclass(frozen=True, eq=False)
class Change:
    """One setting moved from `before` to `after`. `pairs` (pairs x 2) are the systems that differ
    in it alone; the effect on a question is the mean over the pairs of second minus first."""

    setting: str
    before: Any
    after: Any
    pairs: Ints

    def effect(self, scores: Floats) -> Floats:
        """Per-question effect from questions x systems."""
        return np.asarray((scores[:, self.pairs[:, 1]] - scores[:, self.pairs[:, 0]]).mean(axis=1))


class Factors:
    """The settings of all systems as numbers, so that pairs that differ in one of them are found at
    once.

    A setting that plays no part in a system (alpha without fusion) is missing from its mapping.
    What comes and goes with another setting is no difference of its own: `bm25` and `hybrid 0.4`
    differ in mode alone.
    """

    def __init__(self, systems: Sequence[Settings]) -> None:
        self.systems = systems
        self.names = tuple(dict.fromkeys(name for settings in systems for name in settings))
        self.levels = {
            name: list(dict.fromkeys(s[name] for s in systems if name in s)) for name in self.names
        }
        self.codes = np.array(
            [
                [self.levels[name].index(s[name]) if name in s else ABSENT for name in self.names]
                for s in systems
            ],
            dtype=np.int64,
        )

    def differences(self, system: int) -> Bools:
        """Systems x settings: whether both have the setting and its value is another."""
        values = self.codes[system]
        return np.asarray((self.codes != values) & (self.codes != ABSENT) & (values != ABSENT))

    def alike(self, system: int, but_for: Collection[str]) -> Bools:
        """Which systems share with one every setting that both have, but for the given ones, and
        have any in common."""
        counted = np.array([name not in but_for for name in self.names])
        shared = ((self.codes != ABSENT) & (self.codes[system] != ABSENT)).any(axis=1)
        shared[system] = True
        return np.asarray(shared & ~self.differences(system)[:, counted].any(axis=1))

    def one_apart(self, system: int) -> list[tuple[int, str]]:
        """The systems that differ from one in a single setting, each with that setting."""
        only = self._only_difference(system)
        return [
            (other, self.names[only[other]]) for other in np.flatnonzero(only != ABSENT).tolist()
        ]

    def _only_difference(self, system: int) -> Ints:
        """For every system the place of the one setting in which it differs from `system`, ABSENT
        where that is not one."""
        differs = self.differences(system)
        return np.where(differs.sum(axis=1) == 1, differs.argmax(axis=1), ABSENT)

    def one_at_a_time(self, baseline: int) -> list[Change]:
        """Every system that differs from the baseline in one setting, setting by setting in the
        grid's order."""
        only = self._only_difference(baseline)
        return [
            Change(
                name,
                self.systems[baseline][name],
                self.systems[system][name],
                np.array([[baseline, system]]),
            )
            for place, name in enumerate(self.names)
            for system in np.flatnonzero(only == place).tolist()
        ]

    def main_effects(self, baseline: int) -> list[Change]:
        """Every level of every setting against a reference, over all pairs of systems that differ
        in it alone: the main effect of a full factorial design (Montgomery 2017, ch. 5), on the
        cells that exist at both levels.

        The reference is the baseline's level, or the first one where the setting plays no part in
        the baseline.
        """
        only = np.array([self._only_difference(system) for system in range(len(self.systems))])
        changes = []
        for place, name in enumerate(self.names):
            reference = max(int(self.codes[baseline, place]), 0)
            before, after = np.nonzero(only == place)
            at_reference = self.codes[before, place] == reference
            before, after = before[at_reference], after[at_reference]
            for level, value in enumerate(self.levels[name]):
                pairs = np.column_stack([before, after])[self.codes[after, place] == level]
                if len(pairs):
                    changes.append(Change(name, self.levels[name][reference], value, pairs))
        return changes
