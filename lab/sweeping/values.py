"""Values: every system scored on every question."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import Floats
from lab.evaluation.metrics import Metric
from lab.evaluation.pareto import weighted
from lab.evaluation.scores import score
from lab.sweeping.outcomes import Outcomes
from lab.sweeping.plan import Plan


@dataclass(frozen=True, eq=False)
class Values:
    """`scores` are systems x questions x the plan's `labels`; `context_tokens` the mean tokens of
    what every system hands to the reader at the selecting metric's cut-off."""

    scores: Floats
    context_tokens: Floats


def values_of(plan: Plan, outcomes: Outcomes) -> Values:
    """Score the systems by all metrics in one go, and by their weighted mean if it is asked for."""
    runs, measure = outcomes.runs, plan.measure
    scores = score(plan.pieces, runs, plan.metrics, plan.functions)
    tokens = score(plan.pieces, runs, [Metric("context_tokens", measure.context_k)])
    if measure.weights:
        mean = weighted(scores, [metric.label for metric in plan.metrics], measure.weights)
        scores = np.concatenate([scores, mean[:, :, None]], axis=2)
    return Values(scores, tokens[:, :, 0].mean(axis=1))
