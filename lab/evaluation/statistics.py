"""How sure: bootstrap intervals, paired permutation tests and Holm's correction, all seeded."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 2000
LEVEL = 0.95


def bootstrap_interval(values: Floats, seed: int, resamples: int = RESAMPLES, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Percentile interval of the mean over questions (Efron & Tibshirani 1993, ch. 13), for every column of
    questions x systems. All systems are resampled with the same questions."""
    draws = np.random.default_rng(seed).multinomial(len(values), np.full(len(values), 1 / len(values)), size=resamples)
    means = draws @ values / len(values)
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return low, high


def permutation_p(differences: Floats, seed: int, resamples: int = 10_000) -> Floats:
    """Two-sided p of a paired sign-flip test of every column (questions x comparisons): (b + 1) / (n + 1), where b of n
    random flips give a mean at least as far from 0 (Phipson & Smyth 2010)."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(resamples, len(differences)))
    observed = np.abs(differences.mean(axis=0))
    flipped = np.abs(signs @ differences) / len(differences)
    # The slack counts flips that differ from the observed mean by float noise alone as equal to it.
    return np.asarray(((flipped >= observed - 1e-12).sum(axis=0) + 1) / (resamples + 1))


def holm(p: Floats) -> Floats:
    """Holm's step-down adjusted p (Holm 1979): the family-wise error stays below the level whatever the dependence."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
