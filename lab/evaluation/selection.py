"""Choosing a system without fooling oneself: the best, and everything that cannot be told from it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.evaluation.statistics import holm, permutation_p

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Selection:
    """`best` is the system with the highest mean (the first of equals); `p` its Holm-adjusted p against every system;
    `undecided` the systems that the questions do not tell from it at the 5% level, itself included."""

    best: int
    p: Floats
    undecided: tuple[int, ...]


def select(scores: Floats, seed: int) -> Selection:
    """Compare the best of questions x systems with all others, paired by question."""
    means = scores.mean(axis=0)
    best = int(np.argmax(np.round(means, 12)))
    p = np.ones(scores.shape[1])
    others = np.flatnonzero(np.arange(scores.shape[1]) != best)
    if len(others):
        p[others] = holm(permutation_p(scores[:, [best]] - scores[:, others], seed))
    return Selection(best, p, tuple(np.flatnonzero(p >= 0.05).tolist()))
