"""What answers lose to retrieval and what to generation: the same generator given the gold evidence
beside the same given what a system delivered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lab.arrays import Floats
from lab.evaluation.clusters import Clusters
from lab.evaluation.paired import compare

Verdict = Literal["retrieval", "generation", "both", "undecided"]


@dataclass(frozen=True, slots=True)
class Loss:
    """Mean losses of the questions of one slice with their 95% intervals: `retrieval` is the score
    with the gold context minus the score with the system's, `generation` is 1 minus the score with
    the gold context. Where the gold context scores lower than the system's, the loss of that
    question is negative: it is not cut off, or means would be biased."""

    slice: str
    questions: int
    retrieval: float
    retrieval_low: float
    retrieval_high: float
    generation: float
    generation_low: float
    generation_high: float
    verdict: Verdict


def losses(
    gold: Floats, system: Floats, slices: Sequence[str], clusters: Clusters, seed: int
) -> tuple[Loss, ...]:
    """All questions first, then every slice by name. `gold` and `system` hold one score in [0, 1] a
    question, in one order; `slices` names each question's kind or answer type."""
    names = np.array(slices)
    rows = [_loss("all", gold, system, clusters, seed)]
    for name in sorted(set(slices)):
        members = names == name
        rows.append(_loss(name, gold[members], system[members], clusters.only(members), seed))
    return tuple(rows)


def _loss(name: str, gold: Floats, system: Floats, clusters: Clusters, seed: int) -> Loss:
    retrieval, generation = gold - system, 1 - gold
    paired = compare(
        np.column_stack([retrieval, generation, retrieval - generation]), clusters, seed
    )
    return Loss(
        slice=name,
        questions=len(gold),
        retrieval=float(paired.difference[0]),
        retrieval_low=float(paired.low[0]),
        retrieval_high=float(paired.high[0]),
        generation=float(paired.difference[1]),
        generation_low=float(paired.low[1]),
        generation_high=float(paired.high[1]),
        verdict=_verdict(paired.verdicts),
    )


def _verdict(verdicts: Sequence[str]) -> Verdict:
    """Which of both losses is the larger; both, where each is shown and their difference is not."""
    retrieval, generation, difference = verdicts
    if difference == "better":
        return "retrieval"
    if difference == "worse":
        return "generation"
    if retrieval == generation == "better":
        return "both"
    return "undecided"
