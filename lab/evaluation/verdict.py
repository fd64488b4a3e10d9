"""The words for what may be said of two systems, and the marks that stand for them everywhere."""

from collections.abc import Iterable
from typing import Literal

ALPHA = 0.05

Verdict = Literal["better", "worse", "undecided", "cannot be settled", "same", "not comparable"]
# Of a system whose figures say nothing about it, because it did not answer: it is never tested.
NOT_COMPARABLE: Verdict = "not comparable"

# Two questions may be asked of one pair, and the words say which: was it named before anything was
# measured, or is one of the two the winner among many?
PLANNED = "as a planned pair"

MARKS: dict[Verdict, str] = {
    "better": "\u25b2",
    "worse": "\u25bc",
    "undecided": "~",
    "cannot be settled": "?",
    "same": "=",
    NOT_COMPARABLE: "x",
}
# What is not told from the best is marked in tables; unmarked systems are worse beyond chance.
NOT_TOLD: tuple[Verdict, ...] = ("undecided", "cannot be settled", "same")

# The same of the other of two systems.
OPPOSITE: dict[Verdict, Verdict] = {"better": "worse", "worse": "better"}


def chosen_among(systems: int) -> str:
    """The words for a verdict that allows for the choice among so many systems."""
    return f"after choosing among {systems}"


def legend(shown: Iterable[Verdict]) -> str:
    """The marks of what is not told from the best, with their words; the one of what cannot be
    compared only where it is among the `shown`."""
    more = (NOT_COMPARABLE,) if NOT_COMPARABLE in set(shown) else ()
    return ", ".join(f"{MARKS[verdict]} {verdict}" for verdict in (*NOT_TOLD, *more))


def mark(verdict: Verdict) -> str:
    """The mark of a system in a table whose unmarked ones are worse than the best."""
    return MARKS[verdict] if verdict in (*NOT_TOLD, NOT_COMPARABLE) else ""


def verdict(difference: float, p: float, least_p: float, differing: int) -> Verdict:
    """What may be said of one difference, from its p, the least p that the questions which differ
    could have given, and their number.

    `better` or `worse` beyond chance at the 5% level; `same` if no question differs; `cannot be
    settled` if no outcome on these questions could have been significant; else `undecided`.
    """
    if not differing:
        return "same"
    if p < ALPHA:
        return "better" if difference > 0 else "worse"
    return "cannot be settled" if least_p >= ALPHA else "undecided"
