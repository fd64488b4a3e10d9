"""What a set of questions can tell: the least difference it detects, and how many units would
settle a gap."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import nctdtrinc, ndtr, ndtri, stdtr, stdtrit

from lab.arrays import Floats
from lab.evaluation.clusters import Clusters
from lab.evaluation.few_units import (
    LARGEST_LOSS,
    RARE,
    lowered_by_chance,
    ratio_of_t,
    t_of_ratio,
    units_beyond_unseen,
)
from lab.evaluation.intervals import NOISE, standard_errors
from lab.evaluation.verdict import ALPHA

POWER = 0.8
# Below this a mean hides more than it tells: see `few_questions`.
FEW_QUESTIONS = 100
# Two-sided sign flips of fewer units cannot reach 5%: 2 / 2^5 is 0.0625.
FEWEST_UNITS = 6
# Steps of a search.
STEPS = 60


@dataclass(frozen=True, slots=True)
class Look:
    """How a difference is looked for: `critical` is what |sum| / root of the sum of squares over
    units must reach, `loss` how much a unit that was not drawn may lose (None: as much as there is,
    as long as no loss was seen), `family` among how many comparisons."""

    critical: float
    loss: float | None = None
    family: int = 1


def planned(units: int) -> Look:
    """One comparison that was planned before: Student's t at the two-sided 5% level."""
    if units < FEWEST_UNITS:
        return Look(math.inf)
    t = np.array([stdtrit(units - 1, 1 - ALPHA / 2)], dtype=np.float64)
    return Look(float(ratio_of_t(t, units)[0]))


def detectable_difference(
    standard_error: float, units: int, look: Look, power: float = POWER
) -> float:
    """The true difference that is found with probability `power`, for noise of equal shape.

    Its size in standard errors is the noncentrality at which Student's t, of `units` - 1 degrees of
    freedom, exceeds the critical t (Cohen 1988, ch. 2). A permutation's critical value is that of
    r = |sum| / root of the sum of squares, so t = r sqrt((n - 1) / (n - r^2)): taking r itself for
    standard errors promises too much, by a quarter with 25 units. With few units the difference
    must besides be so large that losses nobody has seen could not undo it
    (`lab.evaluation.few_units.unseen_p`).
    """
    if math.isnan(standard_error):
        return math.nan
    if units < FEWEST_UNITS or look.critical**2 >= units or not math.isfinite(standard_error):
        return math.inf
    t = float(t_of_ratio(np.array(look.critical), units))
    t += lowered_by_chance(t, units)
    by_noise = float(nctdtrinc(units - 1, 1 - power, t)) * standard_error
    return max(by_noise, _beyond_unseen(by_noise, standard_error, units, look, power))


def _beyond_unseen(
    gap: float, standard_error: float, units: int, look: Look, power: float
) -> float:
    """The least difference, from `gap` on, that with probability `power` is too large for losses
    that nobody has seen."""
    # (1 + mean / loss)^units must reach family / level.
    odds = math.expm1(math.log(look.family / ALPHA) / units)
    if odds <= RARE / (1 - RARE):
        return gap
    margin = float(ndtri(power)) * standard_error
    if look.loss is not None:
        return odds * look.loss + margin
    deviation = standard_error * math.sqrt(units)
    for _ in range(STEPS):
        share = _loss_share(gap / deviation) if deviation > NOISE else 0.0
        # As few losses as four samples in five show at least; one lies within [0, 1].
        seen = units * share - float(ndtri(power)) * math.sqrt(units * share * (1 - share))
        if gap - margin >= odds * LARGEST_LOSS * min(1.0, max(0.0, 1.0 - seen)):
            break
        gap += 0.02 * LARGEST_LOSS
    return gap


def _loss_share(a: float) -> float:
    """Expected loss of a unit from a normal law with mean a standard deviations above 0, in whole
    losses (`lab.evaluation.few_units.losses_seen`)."""
    density = [math.exp(-(x**2) / 2) / math.sqrt(2 * math.pi) for x in (a, 2 * a)]
    return float((density[0] - density[1]) / a - ndtr(-a) + 2 * ndtr(-2 * a))


def units_needed(
    gap: float,
    standard_error: float,
    units: int,
    look: Look,
    power: float = POWER,
    cuts: float = 0.0,
) -> int | None:
    """Units like those at hand that would settle a true difference of `gap` with probability
    `power`; None for no gap, or where a single unit says nothing of its error. `cuts` is the
    standard error that the places of the cuts leave (`lab.evaluation.phases`), which no more units
    make smaller: None too where it is too large for the gap."""
    if abs(gap) < NOISE or not math.isfinite(standard_error):
        return None
    level = ALPHA / look.family
    if look.critical**2 < units:
        t = float(t_of_ratio(np.array(look.critical), units))
        level = 2 * float(stdtr(units - 1, -t))
    deviation, needed = standard_error * math.sqrt(units), FEWEST_UNITS
    if abs(gap) <= (float(ndtri(1 - level / 2)) + float(ndtri(power))) * cuts:
        return None
    # Fewer units raise the critical t, so the number that fits itself is come at from below.
    for _ in range(STEPS):
        t = float(stdtrit(needed - 1, 1 - level / 2))
        errors = t + float(ndtri(power))
        left = gap**2 - (errors * cuts) ** 2
        wanted = math.ceil((errors * deviation) ** 2 / left) if left > 0 else 2 * needed
        if wanted <= needed:
            break
        needed += max(1, (wanted - needed) // 2)
    loss = LARGEST_LOSS if look.loss is None else look.loss
    return max(needed, units_beyond_unseen(abs(gap), loss, ALPHA, look.family))


def typical_standard_error(
    scores: Floats, best: int, clusters: Clusters, cuts: Floats | None = None
) -> float:
    """Median standard error of the differences between the best and every other system that differs
    from it (questions x systems), with what the `cuts` leave uncertain of each; NaN if none
    does."""
    errors = standard_errors(scores - scores[:, [best]], clusters)
    if cuts is not None:
        errors = np.hypot(errors, cuts)
    differing = errors[errors > NOISE]
    return float(np.median(differing)) if len(differing) else math.nan
