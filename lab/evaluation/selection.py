"""Choosing a system without fooling oneself: the best, all that cannot be told from it, and the
cheapest of those."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import Floats, Ints
from lab.evaluation.clusters import Clusters
from lab.evaluation.intervals import NOISE, resample_counts, standard_errors
from lab.evaluation.nested import DECIMALS, Nested, best_of, nested
from lab.evaluation.power import questions_needed
from lab.evaluation.significance import ALPHA, AgainstBest, against_best

# Costs within a tenth of the cheapest count as equal: chunk borders alone move context tokens by
# some percent.
SAME_COST = 1.1


@dataclass(frozen=True, eq=False)
class Costs:
    """What a system costs, one entry a system: mean context `tokens` handed to the reader, query
    `latency` in seconds (NaN where it was not measured) and `stages`, a count of what has to be run
    and kept (simplicity)."""

    tokens: Floats
    latency: Floats
    stages: Floats


@dataclass(frozen=True, eq=False)
class Selection:
    """The choice among the systems of a grid.

    `best` is the system with the highest mean, the first of equals; `against` tests every system
    against it; `undecided` are those that the questions do not tell from it at the 5% level, itself
    included; `within_one_error` those of them that lie at most one standard error of the paired
    difference behind; `recommended` the cheapest of these. `probability_best[s]` is how often s
    leads when questions are resampled; `nested` the honest estimate of choosing so.
    """

    scores: Floats
    clusters: Clusters
    best: int
    against: AgainstBest
    undecided: tuple[int, ...]
    within_one_error: tuple[int, ...]
    recommended: int
    probability_best: Floats
    nested: Nested

    @property
    def p(self) -> Floats:
        """p of every system against the best, corrected for the choice; 1 for the best itself."""
        return self.against.tested.p

    def questions_needed(self, other: int) -> int | None:
        """Questions that would tell the best from `other`, were the observed gap the true one; None
        without a gap."""
        gaps = self.scores[:, [self.best]] - self.scores[:, [other]]
        error = float(standard_errors(gaps, self.clusters)[0])
        return questions_needed(float(gaps.mean()), error, len(gaps), self.against.critical)


def select(
    scores: Floats, clusters: Clusters, groups: Clusters, costs: Costs, seed: int
) -> Selection:
    """Choose among questions x systems. `clusters` are the independent units of all tests, `groups`
    what cross-validation keeps together."""
    means = scores.mean(axis=0)
    best = int(best_of(means))
    against = against_best(clusters.sums(scores), best, seed)
    undecided = np.flatnonzero(against.tested.p >= ALPHA)
    behind = scores[:, [best]] - scores[:, undecided]
    close = undecided[behind.mean(axis=0) <= standard_errors(behind, clusters) + NOISE]
    return Selection(
        scores=scores,
        clusters=clusters,
        best=best,
        against=against,
        undecided=tuple(undecided.tolist()),
        within_one_error=tuple(close.tolist()),
        recommended=_cheapest(close, means, costs),
        probability_best=_probability_best(scores, clusters, seed),
        nested=nested(scores, groups, seed),
    )


def _cheapest(systems: Ints, means: Floats, costs: Costs) -> int:
    """The least context tokens, then latency, then stages, then the highest mean, then the grid's
    order.

    Among systems within one standard error of the best the cheapest is taken (Breiman et al. 1984,
    3.4.3); the error is that of the paired difference, which is smaller than that of the mean and
    so lets less quality go.
    """
    for cost in (costs.tokens, costs.latency, costs.stages):
        values = cost[systems]
        if not np.isnan(values).any():
            systems = systems[values <= values.min() * SAME_COST + NOISE]
    return int(systems[best_of(means[systems])])


def _probability_best(scores: Floats, clusters: Clusters, seed: int) -> Floats:
    """Share of bootstrap resamples in which each system leads; equals share the lead."""
    sums, leads, count = clusters.sums(scores), np.zeros(scores.shape[1]), 0
    for counts in resample_counts(len(clusters), seed):
        # The size of a resample is the same for all systems, so sums lead where means do.
        totals = np.round(counts @ sums, DECIMALS - 3)
        leading = totals == totals.max(axis=1, keepdims=True)
        leads += (leading / leading.sum(axis=1, keepdims=True)).sum(axis=0)
        count += len(counts)
    return np.asarray(leads / count)
