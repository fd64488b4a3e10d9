"""Finding: what an audit has to say, how grave it is, and where."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Grade = Literal["unfit", "warning", "note"]
GRADES: tuple[Grade, ...] = ("unfit", "warning", "note")
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """`unfit`: no conclusion may be drawn from the set; `warning`: mend it or mind it; `note`:
    worth knowing.

    `cases` are the ids or texts concerned, all of them; `remedy` says what to do.
    """

    grade: Grade
    rule: str
    message: str
    remedy: str = ""
    cases: tuple[str, ...] = ()


def by_gravity(findings: Iterable[Finding]) -> list[Finding]:
    """The gravest first, else in the order given."""
    return sorted(findings, key=lambda finding: GRADES.index(finding.grade))


def listed(cases: Iterable[str], shown: int = SHOWN) -> str:
    """The first few cases, and how many more there are."""
    cases = tuple(cases)
    more = f" and {len(cases) - shown} more" if len(cases) > shown else ""
    return ", ".join(cases[:shown]) + more
