"""What few units hide: a skewed law that looks certain, and losses that were never drawn."""

import math

import numpy as np

from lab.arrays import Floats
from lab.evaluation.intervals import NOISE

# Of Hall's correction half is taken. The whole costs up to six points of power where noise is of
# equal shape; half of it holds false wins below 6% in the worlds of tests/evaluation/worlds.py.
CORRECTION = 0.5
# Losses in fewer units than one in ten are left out of account: to exclude rarer ones takes more
# units than most sets have, whatever is measured.
RARE = 0.1
# Scores lie within [0, 1], so no unit can lose more a question.
LARGEST_LOSS = 1.0
# The size of a rare difference among systems: this quantile of all that were seen.
TAIL = 0.95


def studentized(sums: Floats) -> Floats:
    """|sum| / root of the sum of squares of every column of units x comparisons, lowered where skew
    speaks against the difference; 0 for a column without any difference.

    The ratio r and Student's t are the same statistic, t = r sqrt((n - 1) / (n - r^2)). A tail of
    losses makes t too large whenever few of them were drawn; Hall's monotone transformation (Hall
    1992, J. R. Stat. Soc. B 54) takes that back by t + a t^2 + a^2 t^3 / 3 + skew / (6 sqrt n), a =
    skew / (3 sqrt n). A tail of gains is not used to raise t: the sign flips that judge it allow
    for equal shapes alone.
    """
    units = len(sums)
    ratio = ratios(sums)
    if units < 3:
        return ratio
    toward = sums * np.where(sums.sum(axis=0) < 0, -1.0, 1.0)
    apart = toward - toward.mean(axis=0)
    spread = (apart**2).mean(axis=0)
    varies = spread > NOISE * np.maximum((toward**2).mean(axis=0), NOISE)
    skew = np.zeros(sums.shape[1])
    skew[varies] = (apart[:, varies] ** 3).mean(axis=0) / spread[varies] ** 1.5
    against = CORRECTION * np.minimum(skew, 0.0)
    t = t_of_ratio(np.where(varies, ratio, 0.0), units)
    a = np.where(against < -NOISE, against / (3 * math.sqrt(units)), -1.0)
    corrected = ((1 + a * t) ** 3 - 1) / (3 * a) + against / (6 * math.sqrt(units))
    lowered = ratio_of_t(np.clip(corrected, 0.0, t), units)
    return np.where(varies & (against < -NOISE), np.minimum(lowered, ratio), ratio)


def lowered_by_chance(t: float, units: int) -> float:
    """By how much the skew that a normal sample shows by chance lowers a t on average: half of the
    samples lean to the side of losses, by a standard deviation of sqrt(6 / n)."""
    return (
        CORRECTION * math.sqrt(6 / units) / math.sqrt(2 * math.pi) * t**2 / (3 * math.sqrt(units))
    )


def ratios(sums: Floats) -> Floats:
    """|sum| / root of the sum of squares of every column; 0 for a column without any difference."""
    root = np.sqrt((sums**2).sum(axis=0))
    safe = np.where(root > NOISE, root, 1.0)
    return np.where(root > NOISE, np.abs(sums.sum(axis=0)) / safe, 0.0)


def t_of_ratio(ratio: Floats, units: int) -> Floats:
    """Standard errors that a sum over its root of squares amounts to (n - 1 degrees of freedom)."""
    return np.asarray(ratio * np.sqrt((units - 1) / np.maximum(units - ratio**2, NOISE)))


def ratio_of_t(t: Floats, units: int) -> Floats:
    """The inverse of `t_of_ratio`."""
    return np.asarray(t * np.sqrt(units / (units - 1 + t**2)))


def losses_seen(means: Floats, gain: Floats) -> Floats:
    """How many losses every column of units x comparisons (mean differences) shows, in whole
    losses: one as large as the `gain` over all units counts as one, a smaller one as its part. The
    number of questions of a unit plays no part. Without a gain above 0 it has no end."""
    safe = np.where(gain > NOISE, gain, 1.0)
    seen = np.minimum(1.0, np.maximum(-means, 0.0) / safe).sum(axis=0)
    return np.where(gain > NOISE, seen, np.inf)


def unseen_loss(losses: Floats, tail: float = 0.0, largest: float = LARGEST_LOSS) -> Floats:
    """How much a unit that was not drawn may lose: the `largest` there is as long as no loss was
    seen (`losses_seen`), less with each part of one; at least `tail`, the size of a rare difference
    among these systems."""
    return np.asarray(np.maximum(largest * np.maximum(1.0 - losses, 0.0), tail))


def unseen_p(mean: Floats, loss: Floats, units: int, family: int = 1) -> Floats:
    """Chance that units of which a share p loses `loss` all miss it, p being the share that would
    undo a `mean` gain: p = mean / (mean + loss), at least a tenth; so (1 - p)^units, at most 1, for
    a `family` of comparisons together (Bonferroni)."""
    safe = np.maximum(loss, NOISE)
    odds = np.maximum(np.maximum(mean, 0.0) / safe, RARE / (1 - RARE))
    chance = np.minimum(1.0, family * np.exp(-units * np.log1p(odds)))
    return np.where(loss > NOISE, chance, 0.0)


def units_beyond_unseen(mean: float, loss: float, level: float, family: int = 1) -> int:
    """The least number of units with which `unseen_p` falls to `level`."""
    if loss <= NOISE:
        return 1
    odds = max(max(mean, 0.0) / loss, RARE / (1 - RARE))
    return math.ceil(math.log(family / level) / math.log1p(odds))
