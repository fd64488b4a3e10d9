"""Choosing a system without fooling oneself: the best, all that cannot be told from it, and the
cheapest of those."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.arrays import Floats, Ints
from lab.evaluation.choice import AgainstOne, Pairs, all_pairs
from lab.evaluation.clusters import Clusters
from lab.evaluation.costs import Costs
from lab.evaluation.intervals import NOISE, resample_counts, standard_errors
from lab.evaluation.nested import DECIMALS, Nested, best_of, nested
from lab.evaluation.phases import PhaseScores
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
    `phases` are the scores at every phase of the cuts, of which `scores` are the means; None where
    there is one.
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
    phases: PhaseScores | None = None

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
        true one; None without a gap, and where the cuts leave more in doubt than questions can
        settle."""
        gaps = self.scores[:, [self.best]] - self.scores[:, [other]]
        error = float(standard_errors(gaps, self.clusters)[0])
        family = self.scores.shape[1] - 1
        look = Look(self.against.critical, self.against.loss, family)
        cuts = 0.0 if self.phases is None else float(self.phases.gap_errors(self.best)[other])
        return units_needed(float(gaps.mean()), error, len(self.clusters), look, cuts=cuts)

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
    *,
    phases: PhaseScores | None = None,
) -> Selection:
    """Choose among questions x systems. `clusters` are the independent units of all tests, `groups`
    what cross-validation keeps together; `names` decide where neither means nor costs do, so that
    the order in which a grid is written never does. `phases` are the scores of which `scores` are
    the means (see `Selection`)."""
    order = costs.order(names)
    means = scores.mean(axis=0)
    best = int(order[best_of(means[order])])
    tied = np.flatnonzero(np.round(means, DECIMALS) == np.round(means[best], DECIMALS))
    against = family_of(scores, clusters, seed, phases).against(best)
    undecided = np.flatnonzero(against.tested.p >= ALPHA)
    behind = scores[:, [best]] - scores[:, undecided]
    errors = standard_errors(behind, clusters)
    if phases is not None:
        errors = np.hypot(errors, phases.gap_errors(best)[undecided])
    close = undecided[behind.mean(axis=0) <= errors + NOISE]
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
        probability_best=_probability_best(scores, clusters, seed, phases),
        nested=replace(account, picked=picked),
        phases=phases,
    )


def family_of(
    scores: Floats, clusters: Clusters, seed: int, phases: PhaseScores | None = None
) -> Pairs:
    """All pairs of systems (questions x systems), as the one family in which any is judged."""
    return all_pairs(
        clusters.sums(scores),
        seed,
        sizes=clusters.sizes,
        phase_means=None if phases is None else phases.means,
        cuts=None if phases is None else phases.cuts,
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


def _probability_best(
    scores: Floats, clusters: Clusters, seed: int, phases: PhaseScores | None
) -> Floats:
    """Share of bootstrap resamples in which each system leads; equals share the lead. With phases,
    one less than there are is drawn of them as well, which varies as their mean does (Rao & Wu
    1988)."""
    leads, count = np.zeros(scores.shape[1]), 0
    values = scores[None] if phases is None else np.nan_to_num(phases.values)
    sums = np.array([clusters.sums(of_phase) for of_phase in values])
    draw = np.random.default_rng(seed)
    for counts in resample_counts(len(clusters), seed):
        drawn = np.ones((len(counts), 1))
        if len(values) > 1:
            few = len(values) - 1
            drawn = draw.multinomial(few, np.full(len(values), 1 / len(values)), len(counts)) / few
        # The size of a resample is the same for all systems, so sums lead where means do.
        totals = sum(drawn[:, [phase]] * (counts @ of_phase) for phase, of_phase in enumerate(sums))
        totals = np.round(totals, DECIMALS - 3)
        leading = totals == totals.max(axis=1, keepdims=True)
        leads += (leading / leading.sum(axis=1, keepdims=True)).sum(axis=0)
        count += len(counts)
    return np.asarray(leads / count)
