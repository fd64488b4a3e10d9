"""The position-based model: a hit is clicked when it is looked at, which depends on its rank alone,
and relevant, which depends on question and document alone."""

import numpy as np
from scipy.sparse.csgraph import connected_components

from lab.arrays import Floats
from lab.errors import UsageError
from lab.usage.clicks.counts import FEWEST, Counts

ITERATIONS = 5_000
# Examination moves by less than this in an iteration when it has been found.
TOLERANCE = 1e-7


def check_identifiable(counts: Counts) -> None:
    """Raises UsageError unless every rank can be compared with the first: examination and relevance
    are known only as a product at a rank whose documents are never shown at another. Two ranks are
    compared by documents that were clicked at all and shown at both, ten times in sum (of every
    document the fewer of both counts)."""
    clicked = counts.by_pair(counts.clicked) > 0
    shown = np.zeros((len(counts.pairs), counts.ranks))
    shown[counts.pair, counts.rank - 1] = counts.shown
    shown = shown[clicked]
    shared = np.array([np.minimum(column[:, None], shown).sum(axis=0) for column in shown.T])
    _, component = connected_components(shared >= FEWEST, directed=False)
    lost = [rank for rank in range(1, counts.ranks + 1) if component[rank - 1] != component[0]]
    if lost:
        raise UsageError(
            f"examination cannot be identified at rank {', '.join(map(str, lost))}: hardly any "
            "document was shown there and at a rank that leads to the first; show some results in "
            f"another order, look at fewer ranks (--depth {lost[0] - 1 or 1}), or take --model ctr "
            "or coec"
        )


def examination(counts: Counts) -> Floats:
    """How likely a hit is looked at, at every rank, as a multiple of the first rank's (which is 1):
    expectation maximisation of the position-based model (Richardson et al. 2007; Chuklin, Markov
    and de Rijke 2015, section 4.2), over counts.

    A hit that was not clicked was looked at with probability e (1 - r) / (1 - e r), and is relevant
    with r (1 - e) / (1 - e r). Raises UsageError where ranks cannot be told from relevance.
    """
    check_identifiable(counts)
    rank, missed = counts.rank - 1, counts.shown - counts.clicked
    looked = np.full(counts.ranks, 0.5)
    relevant = np.full(len(counts.pairs), 0.5)
    at_rank, of_pair = counts.by_rank(counts.shown), counts.by_pair(counts.shown)
    for _ in range(ITERATIONS):
        e, r = looked[rank], relevant[counts.pair]
        neither = np.maximum(1 - e * r, 1e-12)
        before = looked / looked[0]
        looked = counts.by_rank(counts.clicked + missed * e * (1 - r) / neither)
        looked /= np.maximum(at_rank, 1)
        relevant = counts.by_pair(counts.clicked + missed * r * (1 - e) / neither) / of_pair
        if np.abs(looked / looked[0] - before).max() < TOLERANCE:
            break
    return np.asarray(looked / looked[0])
