"""Waterfall: from 100% down to the recall of a system, what each stage lost and what mending it
would give."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lab.arrays import Floats, Ints
from lab.diagnosis.causes import CAUSES


@dataclass(frozen=True, slots=True)
class Step:
    """One cause of one kind of question: the share of recall it `lost`, the part of that whose
    cause is `verified`, what is `left` after it, and the `ceiling`, the recall if everything it
    lost came back. All in [0, 1]; pieces counts misses."""

    kind: str
    stage: str
    cause: str
    pieces: int
    lost: float
    verified: float
    left: float
    ceiling: float


def waterfall(
    kind: str, weights: Floats, causes: Iterable[str], verified: Iterable[bool]
) -> tuple[Step, ...]:
    """The steps of one group of pieces in the order of the street, those that lost nothing left
    out.

    `weights` sum to 1: a piece of a question with n pieces weighs 1 / (questions * n), so that what
    is left is mean recall at k. `causes` has the empty string for a hit. The losses and the last
    `left` add up to 1.
    """
    names, proved = np.array(list(causes), dtype=str), np.array(list(verified), dtype=bool)
    recall, left = float(weights[names == ""].sum()), 1.0
    steps = []
    for name, cause in CAUSES.items():
        of_cause = names == name
        if not of_cause.any():
            continue
        lost = float(weights[of_cause].sum())
        left -= lost
        solid = float(weights[of_cause & proved].sum())
        steps.append(
            Step(kind, cause.stage, name, int(of_cause.sum()), lost, solid, left, recall + lost)
        )
    return tuple(steps)


def weights(query: Ints) -> Floats:
    """Per piece 1 / (questions * pieces of its question), given the question of every piece."""
    _, place, count = np.unique(query, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / (len(count) * count[place]))
