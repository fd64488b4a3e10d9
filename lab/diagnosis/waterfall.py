"""Waterfall: from 100% down to the recall of a system, what no ranking has room for, what each
stage lost, and what mending it would give."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lab.arrays import Bools, Ints
from lab.diagnosis.causes import CAUSES

# The first step, which is no stage's fault: a question with more pieces than k hits can hold.
NO_PLACE = "more evidence than places"
NO_PLACE_STAGE = "places"


@dataclass(frozen=True, slots=True)
class Step:
    """One cause of one kind of question: the share of recall it `lost`, the part of that whose
    cause is `verified`, what is `left` after it, and the `ceiling`, the recall if everything it
    lost came back as far as a ranking has room for it.

    All in [0, 1]; `pieces` counts misses of the cause, and in the step NO_PLACE those that even the
    best ranking must miss, which the other steps count as well, each under its cause.
    """

    kind: str
    stage: str
    cause: str
    pieces: int
    lost: float
    verified: float
    left: float
    ceiling: float


def waterfall(
    kind: str,
    query: Ints,
    causes: Iterable[str],
    verified: Iterable[bool],
    reachable: Ints,
) -> tuple[Step, ...]:
    """The steps of one group of pieces in the order of the street, those that lost nothing left
    out.

    All are per piece: `query` the question (any numbers, each question whole), `causes` the empty
    string for a hit, `reachable` how many pieces of its question the best ranking could hold within
    the cut-off. A piece of a question with n pieces weighs 1 / (questions * n), so that what is
    left is mean recall at k.

    First comes what no ranking has room for: max(0, n - reachable) pieces of each question. Of a
    question's misses each cause bears the same share of that, so losses do not depend on the order
    of causes, and the losses and the last `left` add up to 1. A `ceiling` is what recall would be
    if the misses of this cause alone came back, at most `reachable` of every question's pieces; for
    NO_PLACE it is the recall itself, which no mending raises.
    """
    _, place, total = np.unique(query, return_inverse=True, return_counts=True)
    names, proved = np.array(list(causes), dtype=str), np.array(list(verified), dtype=bool)

    def per_question(chosen: Bools) -> Ints:
        return np.bincount(place[chosen], minlength=len(total))

    held, room = per_question(names == ""), np.zeros(len(total), dtype=np.int64)
    room[place] = reachable
    room = np.maximum(room, held)
    beyond, missed = total - room, total - held
    blamed = np.divide(missed - beyond, missed, out=np.zeros(len(total)), where=missed > 0)
    recall, left = float((held / total).mean()), 1.0
    steps = []
    if beyond.any():
        lost = float((beyond / total).mean())
        left -= lost
        pieces = int(beyond.sum())
        steps.append(
            Step(
                kind=kind,
                stage=NO_PLACE_STAGE,
                cause=NO_PLACE,
                pieces=pieces,
                lost=lost,
                verified=lost,
                left=left,
                ceiling=recall,
            )
        )
    for name, cause in CAUSES.items():
        of_cause = per_question(names == name)
        if not of_cause.any():
            continue
        lost = float((of_cause * blamed / total).mean())
        solid = float((per_question((names == name) & proved) * blamed / total).mean())
        ceiling = float((np.minimum(held + of_cause, room) / total).mean())
        left -= lost
        steps.append(
            Step(
                kind=kind,
                stage=cause.stage,
                cause=name,
                pieces=int(of_cause.sum()),
                lost=lost,
                verified=solid,
                left=left,
                ceiling=ceiling,
            )
        )
    return tuple(steps)
