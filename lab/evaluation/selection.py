"""Choosing a system without fooling oneself: the best, all that cannot be told from it, and the
cheapest of those."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.arrays import Floats, Ints
from lab.evaluation.against_best import AgainstBest, against_best
from lab.evaluation.clusters import Clusters
from lab.evaluation.intervals import NOISE, resample_counts, standard_errors
from lab.evaluation.nested import DECIMALS, Nested, best_of, nested
from lab.evaluation.power import Look, units_needed
from lab.evaluation.verdict import ALPHA, Verdict, verdict

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

    def order(self, names: Sequence[str]) -> Ints:
        """The systems from the cheapest on: by tokens, then latency where it was measured for all,
        then stages, then name."""
        latency = np.zeros(len(names)) if np.isnan(self.latency).any() else self.latency
        return np.lexsort((np.array(names), self.stages, latency, self.tokens))


@dataclass(frozen=True, eq=False)
class Selection:
    """The choice among the systems of a grid.

    `best` is the system with the highest mean, of equals the cheapest (`Costs.order`); `tied` are
    the others with the same mean; `against` tests every system against it; `undecided` are those
    that the questions do not tell from it at the 5% level, itself included; `within_one_error`
    those of them that lie at most one standard error of the paired difference behind; `recommended`
    the cheapest of these. `probability_best[s]` is how often s leads when questions are resampled;
    `nested` the honest estimate of choosing so.
    """

    scores: Floats
    clusters: Clusters
    best: int
    tied: tuple[int, ...]
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

    @property
    def verdicts(self) -> list[Verdict]:
        """What may be said of every system against the best one, after choosing it."""
        return verdicts(self.scores, self.best, self.against)

    def questions_needed(self, other: int) -> int | None:
        """Questions that would tell the best from `other`, were the observed gap the true one; None
        without a gap."""
        gaps = self.scores[:, [self.best]] - self.scores[:, [other]]
        error = float(standard_errors(gaps, self.clusters)[0])
        units, systems = len(self.clusters), self.scores.shape[1]
        needed = units_needed(
            float(gaps.mean()),
            error,
            units,
            Look(self.against.critical, self.against.loss, systems - 1),
        )
        return None if needed is None else math.ceil(len(gaps) * needed / units)


def verdicts(scores: Floats, best: int, against: AgainstBest) -> list[Verdict]:
    """What may be said of every system (questions x systems) against column `best`."""
    gaps = scores - scores[:, [best]]
    differing = (np.abs(gaps) > NOISE).sum(axis=0)
    return [
        verdict(*row)
        for row in zip(
            gaps.mean(axis=0), against.tested.p, against.tested.least, differing, strict=True
        )
    ]


def select(
    scores: Floats,
    clusters: Clusters,
    groups: Clusters,
    costs: Costs,
    seed: int,
    names: Sequence[str],
) -> Selection:
    """Choose among questions x systems. `clusters` are the independent units of all tests, `groups`
    what cross-validation keeps together; `names` decide where neither means nor costs do, so that
    the order in which a grid is written never does."""
    order = costs.order(names)
    means = scores.mean(axis=0)
    best = int(order[best_of(means[order])])
    tied = np.flatnonzero(np.round(means, DECIMALS) == np.round(means[best], DECIMALS))
    against = against_best(clusters.sums(scores), best, seed, sizes=clusters.sizes)
    undecided = np.flatnonzero(against.tested.p >= ALPHA)
    behind = scores[:, [best]] - scores[:, undecided]
    close = undecided[behind.mean(axis=0) <= standard_errors(behind, clusters) + NOISE]
    account = nested(scores[:, order], groups, seed)
    picked = np.empty_like(account.picked)
    picked[order] = account.picked
    return Selection(
        scores=scores,
        clusters=clusters,
        best=best,
        tied=tuple(tied[tied != best].tolist()),
        against=against,
        undecided=tuple(undecided.tolist()),
        within_one_error=tuple(close.tolist()),
        recommended=_cheapest(close, means, costs, order),
        probability_best=_probability_best(scores, clusters, seed),
        nested=replace(account, picked=picked),
    )


def _cheapest(systems: Ints, means: Floats, costs: Costs, order: Ints) -> int:
    """The least context tokens, then latency, then stages, then the highest mean, then the first in
    `order`.

    Among systems within one standard error of the best the cheapest is taken (Breiman et al. 1984,
    3.4.3); the error is that of the paired difference, which is smaller than that of the mean and
    so lets less quality go.
    """
    for cost in (costs.tokens, costs.latency, costs.stages):
        values = cost[systems]
        if not np.isnan(values).any():
            systems = systems[values <= values.min() * SAME_COST + NOISE]
    systems = order[np.isin(order, systems)]
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
