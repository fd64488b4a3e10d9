"""Intervals and checks that stay true however often one looks: confidence sequences for the
difference of two means, and for the ratio of two samples."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, logsumexp

from lab.arrays import Floats

# Weights, in units, of the planned ratio in what is held against it: from gross faults to those
# that shift it by a few hundredths.
PLANNED = (10, 100, 1_000)
# The interval is narrowest, for its level, about when both samples have so many units together.
NARROWEST = 5_000


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean of B minus mean of A, with an interval that holds at all times together."""

    a: float
    b: float
    low: float
    high: float

    @property
    def difference(self) -> float:
        return self.b - self.a


def difference(a: Floats, b: Floats, level: float) -> Difference:
    """The mixture sequential interval of Johari et al. (Operations Research 2022), asymptotic in
    the sizes: over all times together it misses the true difference with chance `level`.

    With the variance V of the difference and a normal mixture of variance t it reaches
    sqrt(V (V + t) / t (ln((V + t) / V) - 2 ln level)) to either side. t is V's value at NARROWEST
    units, times what makes the interval narrowest there, so it does not depend on when one looks.
    """
    variance = float(np.var(a, ddof=1) / len(a) + np.var(b, ddof=1) / len(b))
    means = float(np.mean(a)), float(np.mean(b))
    if variance <= 0:
        return Difference(*means, means[1] - means[0], means[1] - means[0])
    spread = variance * (len(a) + len(b)) / NARROWEST
    # Waudby-Smith et al. 2024, appendix: the mixture that is narrowest at one time.
    mixture = spread * (-2 * math.log(level) + math.log(-2 * math.log(level) + 1))
    reach = math.log((variance + mixture) / variance) - 2 * math.log(level)
    half = math.sqrt(variance * (variance + mixture) / mixture * reach)
    middle = means[1] - means[0]
    return Difference(*means, middle - half, middle + half)


def ratio_p(a: int, b: int, share: float) -> float:
    """How well counts fit a planned `share` of B, at all times together: 1 over the Bayes factor of
    shares around the planned one (beta distributions of the weights PLANNED, in equal parts)
    against it, at most 1 (Lindon and Malek 2022; Ville's inequality)."""
    weights = np.array(PLANNED)
    before = weights * share, weights * (1 - share)
    others = betaln(before[0] + b, before[1] + a) - betaln(*before)
    planned = b * math.log(share) + a * math.log1p(-share)
    against = logsumexp(others) - math.log(len(PLANNED))
    return math.exp(min(0.0, float(planned - against)))
