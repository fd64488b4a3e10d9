"""Sets of questions whose truth is known: scores of many systems drawn from a stated law."""

import numpy as np

from lab.arrays import Floats

# Share of a score's variance that all systems share, as questions are hard or easy for all of them.
SHARED = 0.5


def equal_systems(seed: tuple[int, ...], questions: int, systems: int) -> Floats:
    """Questions x systems, all equally good: 0, a fraction or 1 a question, as NDCG@10 of one piece
    of evidence has it."""
    return scored(ability(seed, questions, systems))


def ability(seed: tuple[int, ...], questions: int, systems: int) -> Floats:
    """Normal abilities whose question effect all systems share."""
    draw = np.random.default_rng(seed)
    return np.sqrt(SHARED) * draw.standard_normal((questions, 1)) + np.sqrt(
        1 - SHARED
    ) * draw.standard_normal((questions, systems))


def scored(abilities: Floats) -> Floats:
    """Score of the rank at which the piece arrives: 1, 0.631, 0.5, 0.431, 0.387 or 0, by equal
    steps of ability."""
    return np.array([0.0, 0.387, 0.431, 0.5, 0.631, 1.0])[
        np.searchsorted([-0.2, -0.1, 0.0, 0.15, 0.3], abilities)
    ]
