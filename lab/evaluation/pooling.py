"""Which labels matter: of all pairs that nobody judged, those whose label could most change the
differences between systems."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import NEVER, Bools, Floats, Ints
from lab.evaluation.incomplete import UNJUDGED
from lab.evaluation.metrics import Metric


@dataclass(frozen=True, eq=False)
class Pool:
    """Pairs of a question and something found for it, within the cut-off of at least one system:
    `query` of each, `ranks` (systems x pairs) from 1, NEVER where a system has it not within the
    cut-off, and `grade` or UNJUDGED."""

    query: Ints
    ranks: Ints
    grade: Ints

    @property
    def unjudged(self) -> Bools:
        return np.asarray(self.grade == UNJUDGED)


def weight(metric: Metric) -> Callable[[Ints], Floats]:
    """What a relevant hit adds by its rank before any normalisation: the discount of nDCG, the
    reciprocal rank of map and mrr, the persistence of rbp, and 1 where ranks within the cut-off
    count alike."""
    if metric.name.startswith("ndcg"):
        return lambda ranks: np.asarray(1 / np.log2(ranks + 1.0))
    if metric.name in ("map", "mrr", "bpref"):
        return lambda ranks: np.asarray(1.0 / ranks)
    if metric.name.startswith("rbp"):
        return lambda ranks: np.asarray(metric.persistence ** (ranks - 1.0))
    return lambda ranks: np.ones(ranks.shape)


def worth(pool: Pool, candidates: Sequence[int], of_rank: Callable[[Ints], Floats]) -> Floats:
    """Per pair how far its label could move the candidates apart: the standard deviation over them
    of what it adds to each if it is relevant. 0 for judged pairs, and for those that all candidates
    have alike.

    An unjudged pair counts as irrelevant, so only the label "relevant" changes any score; the
    variance over candidates is, up to a factor, the sum over all pairs of candidates of the squared
    change of their difference, where Carterette, Allan and Sitaraman (2006) weigh one pair of
    systems. Every chance of being relevant is taken for equal: weighing by a guess of it favoured
    what most systems find, and ordered systems worse than depth pooling did.
    """
    ranks = pool.ranks[list(candidates)]
    shown = ranks < NEVER
    added = np.where(shown, of_rank(np.where(shown, ranks, 1)), 0.0)
    return np.asarray(np.where(pool.unjudged, added.std(axis=0), 0.0))


def choose(worths: Floats, budget: int) -> Ints:
    """Places of the `budget` pairs that are worth most, the first of equals first; those worth
    nothing are never chosen."""
    order = np.argsort(-np.round(worths, 12), kind="stable")[:budget]
    return np.asarray(order[worths[order] > 0])
