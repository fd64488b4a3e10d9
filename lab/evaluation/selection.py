"""Choosing a system without fooling oneself: the best, all that cannot be told from it, and the
cheapest of those."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.arrays import Floats, Ints
from lab.evaluation.choice import AgainstOne, all_pairs
from lab.evaluation.clusters import Clusters
from lab.evaluation.costs import Costs
from lab.evaluation.intervals import NOISE, resample_counts, standard_errors
from lab.evaluation.nested import DECIMALS, Nested, best_of, nested
from lab.evaluation.power import Look, units_needed
from lab.evaluation.verdict import ALPHA, Verdict, verdict


@dataclass(frozen=True, eq=False)
class Selection:
    """The choice among the systems of a grid.

    `best` is the system with the highest mean, of equals the cheapest (`Costs.order`); `tied` are
    the others with the same mean; `against` tests every system against it; `undecided` are those
    that the questions do not tell from it at the 5% level, itself included; `within_one_error`
    those of them that lie at most one standard error of the paired difference behind; `recommended`
    the cheapest of these. `probability_best[s]` is how often s leads when questions are resampled;
    `nested` the honest estimate of choosing so. `order` has the systems from the cheapest on.
    """

    scores: Floats
    clusters: Clusters
    costs: Costs
    order: Ints
    best: int
    tied: tuple[int, ...]
    against: AgainstOne
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

    @property
    def runner_up(self) -> int | None:
        """The system with the second highest mean, of equals the cheaper."""
        means = np.round(self.scores.mean(axis=0), DECIMALS)[self.order]
        means[self.order == self.best] = -np.inf
        return int(self.order[np.argmax(means)]) if len(means) > 1 else None

    @property
    def cheaper(self) -> dict[str, tuple[float, float]]:
        """The costs of the recommended system and of the best: the one that set the best behind,
        and all others that are lower by more than a tenth."""
        if self.recommended == self.best:
            return {}
        close = np.array(self.within_one_error)
        decided = self.costs.set_behind(close, self.best, self.recommended)
        return decided | self.costs.cheaper(self.recommended, self.best)

    def units_needed(self, other: int) -> int | None:
        """Units like those at hand that would tell the best from `other`, were the observed gap the
        true one; None without a gap."""
        gaps = self.scores[:, [self.best]] - self.scores[:, [other]]
        error = float(standard_errors(gaps, self.clusters)[0])
        family = self.scores.shape[1] - 1
        look = Look(self.against.critical, self.against.loss, family)
        return units_needed(float(gaps.mean()), error, len(self.clusters), look)

    def questions(self, units: int) -> int:
        """How many questions so many units like those at hand have."""
        return math.ceil(len(self.scores) * units / len(self.clusters))


def verdicts(scores: Floats, best: int, against: AgainstOne) -> list[Verdict]:
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
    against = all_pairs(clusters.sums(scores), seed, sizes=clusters.sizes).against(best)
    undecided = np.flatnonzero(against.tested.p >= ALPHA)
    behind = scores[:, [best]] - scores[:, undecided]
    close = undecided[behind.mean(axis=0) <= standard_errors(behind, clusters) + NOISE]
    account = nested(scores[:, order], groups, seed)
    picked = np.empty_like(account.picked)
    picked[order] = account.picked
    return Selection(
        scores=scores,
        clusters=clusters,
        costs=costs,
        order=order,
        best=best,
        tied=tuple(tied[tied != best].tolist()),
        against=against,
        undecided=tuple(undecided.tolist()),
        within_one_error=tuple(close.tolist()),
        recommended=_recommended(close, means, costs, order),
        probability_best=_probability_best(scores, clusters, seed),
        nested=replace(account, picked=picked),
    )


def _recommended(close: Ints, means: Floats, costs: Costs, order: Ints) -> int:
    """The cheapest, then the highest mean, then the first in `order`.

    Among systems within one standard error of the best the cheapest is taken (Breiman et al. 1984,
    3.4.3); the error is that of the paired difference, which is smaller than that of the mean and
    so lets less quality go.
    """
    cheap = costs.cheapest(close)
    cheap = order[np.isin(order, cheap)]
    return int(cheap[best_of(means[cheap])])


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
