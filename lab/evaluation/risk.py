"""Risk beside the mean: questions that a system hurts against a baseline, and GeoRisk."""

import numpy as np
from scipy.special import ndtr

from lab.arrays import Floats, Ints

# A question is hurt (or helped) when it loses (or wins) at least this against the baseline.
HURT = 0.2
# Float noise of a difference.
NOISE = 1e-9
# How much more than a win a loss counts in GeoRisk.
ALPHA = 1.0


def hurt(scores: Floats, baseline: int) -> tuple[Ints, Ints]:
    """Per system how many questions lose, and how many win, at least HURT against the baseline;
    `scores` are questions x systems, higher is better."""
    difference = scores - scores[:, [baseline]]
    return (difference <= -HURT + NOISE).sum(axis=0), (difference >= HURT - NOISE).sum(axis=0)


def georisk(scores: Floats, alpha: float = ALPHA) -> Floats:
    """GeoRisk of every system (Dincer, Macdonald and Ounis 2016, eq. 10), in [0, 1]: the geometric
    mean of effectiveness and of risk against what is expected of the system on each question.

    `scores` are questions x systems in [0, 1], all of them the baselines of each. Expected is
    e = system total * question total / grand total; z = (score - e) / sqrt(e), 0 where e is 0;
    ZRisk sums z with (1 + alpha) times the negative ones; GeoRisk = sqrt(mean * Phi(ZRisk / n)).
    With one system, or one that does on every question as expected, it is sqrt(mean / 2).
    """
    questions, total = len(scores), scores.sum()
    if not total:
        return np.zeros(scores.shape[1])
    expected = scores.sum(axis=0) * scores.sum(axis=1)[:, None] / total
    z = np.divide(
        scores - expected, np.sqrt(expected), out=np.zeros(scores.shape), where=expected > 0
    )
    z_risk = np.where(z < 0, (1 + alpha) * z, z).sum(axis=0)
    return np.asarray(np.sqrt(scores.mean(axis=0) * ndtr(z_risk / questions)))
