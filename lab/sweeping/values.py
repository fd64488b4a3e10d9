"""Values: every system scored on every question, at every phase of its cuts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import Floats
from lab.evaluation.metrics import Metric
from lab.evaluation.pareto import weighted
from lab.evaluation.phases import over_phases
from lab.evaluation.scores import SystemRun, score
from lab.sweeping.plan import Plan


@dataclass(frozen=True, eq=False)
class Values:
    """`scores` are systems x questions x the plan's `labels`; `context_tokens` the mean tokens of
    what every system hands to the reader at the selecting metric's cut-off. Of several phases both
    are means, and `by_phase` (phases x systems x questions x labels) has the scores at each."""

    scores: Floats
    context_tokens: Floats
    by_phase: Floats | None = None


def values_of(
    plan: Plan, runs: Sequence[SystemRun], phased: Sequence[Sequence[SystemRun]] = ()
) -> Values:
    """Score the systems by all metrics in one go, and by their weighted mean if it is asked for.
    `phased` are their runs at the phases after the first."""
    first, tokens = _scored(plan, runs)
    if not phased:
        return Values(first, tokens)
    scores, counts = [first], [tokens]
    for of_systems in phased:
        again = [place for place, run in enumerate(of_systems) if run is not runs[place]]
        of_phase, of_tokens = first.copy(), tokens.copy()
        if again:
            of_phase[again], of_tokens[again] = _scored(
                plan, [of_systems[place] for place in again]
            )
        scores.append(of_phase)
        counts.append(of_tokens)
    by_phase = np.array(scores)
    return Values(over_phases(by_phase), np.mean(counts, axis=0), by_phase)


def _scored(plan: Plan, runs: Sequence[SystemRun]) -> tuple[Floats, Floats]:
    """Systems x questions x labels, and the mean context tokens of every system."""
    scores = score(plan.pieces, runs, plan.metrics, plan.functions)
    tokens = score(plan.pieces, runs, [Metric("context_tokens", plan.measure.context_k)])
    if plan.measure.weights:
        mean = weighted(scores, [metric.label for metric in plan.metrics], plan.measure.weights)
        scores = np.concatenate([scores, mean[:, :, None]], axis=2)
    return scores, tokens[:, :, 0].mean(axis=1)
