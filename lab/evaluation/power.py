"""What a set of questions can tell: the least difference it detects, and how many questions would
settle a gap."""

import math

import numpy as np
from scipy.special import ndtri, stdtrit

from lab.arrays import Floats
from lab.evaluation.clusters import Clusters
from lab.evaluation.intervals import NOISE, standard_errors
from lab.evaluation.significance import ALPHA

POWER = 0.8
# Below this a mean hides more than it tells: see `few_questions`.
FEW_QUESTIONS = 100


def planned_critical(units: int) -> float:
    """Standard errors that one planned two-sided comparison needs at the 5% level (Student's t)."""
    return float(stdtrit(units - 1, 1 - ALPHA / 2)) if units > 1 else math.inf


def detectable_difference(standard_error: float, critical: float, power: float = POWER) -> float:
    """The true difference that is found with probability `power`: (critical + z_power) standard
    errors (Cohen 1988, ch. 2)."""
    return (critical + float(ndtri(power))) * standard_error


def questions_needed(
    gap: float, standard_error: float, questions: int, critical: float, power: float = POWER
) -> int | None:
    """Questions like those at hand that would settle a true difference of `gap` with probability
    `power`; None for no gap, or where a single unit of questions says nothing of its error."""
    detectable = detectable_difference(standard_error, critical, power)
    if abs(gap) < NOISE or not math.isfinite(detectable):
        return None
    return math.ceil(questions * (detectable / gap) ** 2)


def typical_standard_error(scores: Floats, best: int, clusters: Clusters) -> float:
    """Median standard error of the differences between the best and every other system that differs
    from it (questions x systems); NaN if none does."""
    errors = standard_errors(scores - scores[:, [best]], clusters)
    differing = errors[errors > NOISE]
    return float(np.median(differing)) if len(differing) else math.nan
