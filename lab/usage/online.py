"""Two versions that users met: latency, score and satisfaction of A and B, and whether users were
assigned as planned."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from lab.arrays import Floats
from lab.corpus.lines import read_text
from lab.corpus.values import number
from lab.errors import CorpusError, UsageError, counted
from lab.importing.formats.collection import Collection
from lab.importing.formats.separated import rows
from lab.usage.sequential import Difference, difference, ratio_p

# Column -> which way is better.
MEASURES: Mapping[str, int] = {
    "latency_ms": -1,
    "latency_seconds": -1,
    "score": 1,
    "satisfaction": 1,
}
UNIT = "user"
# Asymptotic intervals are not to be trusted below.
FEWEST = 30
LEVEL = 0.05
# A ratio so improbable voids the comparison (the usual level of such checks).
MISMATCH = 0.001

Verdict = Literal["better", "worse", "undecided"]


@dataclass(frozen=True, eq=False)
class Arm:
    """One version's file: for every measure the mean of each unit (a user, or a row where no column
    names users), and how many units and rows there are."""

    path: Path
    users: frozenset[str] | None
    rows: int
    values: Mapping[str, Floats]

    @property
    def units(self) -> int:
        return self.rows if self.users is None else len(self.users)


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure: `a` and `b` units have it; the verdict is B's."""

    measure: str
    a: int
    b: int
    found: Difference

    @property
    def verdict(self) -> Verdict:
        way = MEASURES[self.measure]
        if self.found.low <= 0 <= self.found.high:
            return "undecided"
        return "better" if way * self.found.difference > 0 else "worse"


@dataclass(frozen=True, slots=True)
class Online:
    """The comparison of B with A. `share` of the units were planned for B; `ratio_p` says how well
    the counts fit that, and below MISMATCH nothing can be concluded."""

    by_user: bool
    units: tuple[int, int]
    rows: tuple[int, int]
    share: float
    ratio_p: float
    measures: tuple[Compared, ...]

    @property
    def mismatch(self) -> bool:
        return self.ratio_p < MISMATCH

    @property
    def negative(self) -> bool:
        """Users were not assigned as planned, or B is worse by a measure."""
        return self.mismatch or any(each.verdict == "worse" for each in self.measures)


def read_arm(path: Path) -> Arm:
    """Read one version's CSV: columns of MEASURES, and `user` where several rows are one user's.
    Other columns are passed over; empty cells are not counted. Raises UsageError with every bad
    cell."""
    problems: list[str] = []
    table = []
    try:
        table = list(rows(path, read_text(path, UsageError), Collection()))
    except (CorpusError, UsageError) as fault:
        problems.extend(fault.problems)
    columns = list(table[0][1]) if table else []
    named = [name for name in MEASURES if name in columns]
    if not problems and not named:
        problems.append(f"{path}: no column {', '.join(MEASURES)}; expected one at least")
    by_user = UNIT in columns
    values: dict[str, dict[str, list[float]]] = {name: {} for name in named}
    users = set()
    for place, row in table:
        user = str(row[UNIT]).strip() if by_user else place
        if not user:
            problems.append(f"{place}: 'user' is empty; expected whose row this is")
        users.add(user)
        for name in named:
            cell = row[name]
            if not str(cell).strip():
                continue
            value = number(cell)
            if value is None or (MEASURES[name] < 0 and value < 0):
                problems.append(f"{place}: {name} is {str(cell)[:80]!r}; expected a number")
            else:
                values[name].setdefault(user, []).append(float(value))
    if problems:
        raise UsageError(problems)
    means = {
        name: np.array([float(np.mean(of)) for of in by_unit.values()])
        for name, by_unit in values.items()
    }
    return Arm(path, frozenset(users) if by_user else None, len(table), means)


def online(a: Arm, b: Arm, share: float = 0.5) -> Online:
    """Compare two versions. The intervals of all measures hold together, at all times: `LEVEL` is
    parted among them. Raises UsageError for files that do not go together."""
    problems = [*_misfits(a, b), *_too_few(a, b)]
    if not 0 < share < 1:
        problems.append(f"--share is {share}; expected a number between 0 and 1")
    if problems:
        raise UsageError(problems)
    names = [name for name in MEASURES if name in a.values]
    compared = tuple(
        Compared(
            name,
            len(a.values[name]),
            len(b.values[name]),
            difference(a.values[name], b.values[name], LEVEL / len(names)),
        )
        for name in names
    )
    units = a.units, b.units
    return Online(
        a.users is not None, units, (a.rows, b.rows), share, ratio_p(*units, share), compared
    )


def _misfits(a: Arm, b: Arm) -> Sequence[str]:
    problems = [
        f"{arm.path}: has no column '{name}', which the other file has"
        for arm, other in ((a, b), (b, a))
        for name in other.values
        if name not in arm.values
    ]
    if (a.users is None) != (b.users is None):
        lacking = a if a.users is None else b
        problems.append(f"{lacking.path}: has no column 'user', which the other file has")
    both = sorted((a.users or frozenset()) & (b.users or frozenset()))
    if both:
        problems.append(
            f"{counted(len(both), 'user')} met both versions, among them {both[0]!r}: a comparison "
            "of two groups needs each user in one; take their first version, or leave them out"
        )
    return problems


def _too_few(a: Arm, b: Arm) -> Sequence[str]:
    return [
        f"{arm.path}: {counted(len(values), 'unit')} with '{name}'; expected {FEWEST} or more"
        for arm in (a, b)
        for name, values in arm.values.items()
        if len(values) < FEWEST
    ]


def read_arms(a: Path, b: Path) -> tuple[Arm, Arm]:
    """Both files. Raises UsageError with what is wrong in either."""
    arms, problems = [], list[str]()
    for path in (a, b):
        try:
            arms.append(read_arm(path))
        except UsageError as fault:
            problems.extend(fault.problems)
    if problems:
        raise UsageError(problems)
    return arms[0], arms[1]
