"""Phases: what the places of the cuts add to the uncertainty of a mean.

A chunking that was run at several phases (`lab.chunking.phase`) has every score once a phase. Their
mean is reported; how far they lie apart says how much of it is where the cuts happened to fall.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from lab.arrays import Floats, Ints
from lab.evaluation.clusters import Clusters
from lab.evaluation.few_units import ratio_of_t
from lab.evaluation.intervals import LEVEL, NOISE, Bounds, mean_intervals, standard_errors


@dataclass(frozen=True, eq=False)
class PhaseScores:
    """Scores by phase, of which a table of scores holds the means: `values` is phases x questions x
    systems, a system that was run once having the same at each; `cuts` numbers the chunkings of the
    systems."""

    values: Floats
    cuts: Ints

    @property
    def means(self) -> Floats:
        """Means over questions at every phase (phases x systems), without those that have no
        value."""
        return phase_means(self.values)

    def gap_errors(self, place: int) -> Floats:
        """What the cuts leave uncertain of the gap between one system and each."""
        means = self.means
        return phase_errors(means[:, [place]] - means)


def phase_means(values: Floats) -> Floats:
    """Means over questions at every phase (phases x questions x columns, NaN for no value)."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    empty = np.full(count.shape, np.nan)
    totals = np.where(known, values, 0.0).sum(axis=1)
    return np.asarray(np.divide(totals, count, out=empty, where=count > 0))


def over_phases(values: Floats) -> Floats:
    """Means over the first axis, without those phases that have no value."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    empty = np.full(count.shape, np.nan)
    totals = np.where(known, values, 0.0).sum(axis=0)
    return np.asarray(np.divide(totals, count, out=empty, where=count > 0))


@dataclass(frozen=True, eq=False)
class Luck:
    """What the cuts and what the questions leave uncertain of every column's mean.

    `cuts` is the standard error from the phases alone, of so many degrees of `freedom`; `questions`
    that of the mean over phases, of so many independent `units`. Both together are a standard error
    of root(questions^2 + cuts^2) with Satterthwaite's (1946) degrees of freedom, (q^2 + c^2)^2 /
    (q^4 / (units - 1) + c^4 / freedom). The luck that one question has and another has not stands
    in both, so the sum is on the safe side.
    """

    cuts: Floats
    freedom: Floats
    questions: Floats
    units: int

    @staticmethod
    def of(
        phase_means: Floats, values: Floats, clusters: Clusters, alike: Ints | None = None
    ) -> "Luck":
        """`phase_means` is phases x columns, the means over the questions at each phase; `values`
        questions x columns, the means over phases. `alike` numbers the groups of columns in which
        the cuts play about the same part (see `beside`)."""
        return Luck.beside(phase_means, standard_errors(values, clusters), len(clusters), alike)

    @staticmethod
    def beside(
        phase_means: Floats, questions: Floats, units: int, alike: Ints | None = None
    ) -> "Luck":
        """The same with the standard errors of the questions, infinite where one unit says nothing.

        A few phases make a rough estimate, and among many comparisons the one that chance made
        small would win: of twelve equal systems one was told from another in up to 27% of sets. So
        a variance is the mean of its own and that of its group, which halves at most what is its
        own and doubles its degrees of freedom (Smyth 2004, with as many prior as own ones)."""
        known = np.where(np.isfinite(questions), questions, 0.0)
        cuts, own = phase_errors(phase_means), float(len(phase_means) - 1)
        freedom = np.full(len(cuts), own)
        for group in () if alike is None else np.unique(alike):
            members = (alike == group) & (cuts > 0)
            if members.sum() > 1:
                cuts[members] = np.sqrt((cuts[members] ** 2 + (cuts[members] ** 2).mean()) / 2)
                freedom[members] = 2 * own
        return Luck(cuts, freedom, known, units)

    @property
    def together(self) -> Floats:
        """Standard error of every mean."""
        return np.hypot(self.cuts, self.questions)

    @property
    def degrees(self) -> Floats:
        """Degrees of freedom of `together`."""
        most = float(max(self.units - 1, 1))
        total = np.where(self.together > 0, self.together, 1.0)
        of_cuts, of_questions = self.cuts / total, self.questions / total
        spread = of_questions**4 / most + of_cuts**4 / self.freedom
        alone = np.full(len(total), most)
        return np.asarray(np.divide(1.0, spread, out=alone, where=self.cuts > 0))

    def widened(self, mean: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Intervals of the questions with the cuts counted: both arms grow in quadrature by as much
        as half a t interval does."""
        tail = (1 + LEVEL) / 2
        alone = stdtrit(max(self.units - 1, 1), tail) * self.questions
        both = stdtrit(self.degrees, tail) * self.together
        more = np.sqrt(np.maximum(both**2 - alone**2, 0.0))
        return mean - np.hypot(mean - low, more), mean + np.hypot(high - mean, more)

    def lowered(self, ratio: Floats, mean: Floats, kept: Floats) -> Floats:
        """|sum| / root of the sum of squares over units, lowered to what is as rare without the
        cuts as the `mean` is with them; `kept` is the share of it that skew has left."""
        struck = (self.cuts > 0) & (self.units > 1)
        errors = np.where(struck, self.together, 1.0)
        tails = stdtr(np.where(struck, self.degrees, 1.0), -np.abs(mean) * kept / errors)
        t = -stdtrit(max(self.units - 1, 1), np.maximum(tails, np.finfo(float).tiny))
        return np.where(struck, np.minimum(ratio, ratio_of_t(t, self.units)), ratio)


def phase_errors(phase_means: Floats) -> Floats:
    """Standard error of the mean over phases (phases x columns); 0 in a column without values."""
    spread = np.nan_to_num(phase_means.std(axis=0, ddof=1)) / np.sqrt(len(phase_means))
    return np.where(spread > NOISE, spread, 0.0)


def gaps_between(before: Floats | None, after: Floats | None) -> Floats | None:
    """Differences of means at every phase (phases x columns) of two sides that may have been run at
    another number of phases, then as far apart as the luck of both together makes them. A side
    without phases (None) adds none; None where neither has any."""
    if before is None:
        return after
    if after is None:
        return 0.0 - before
    if len(before) == len(after):
        return np.asarray(after - before)
    phases = min(len(before), len(after))
    error = np.hypot(phase_errors(before), phase_errors(after)) * np.sqrt(phases)
    apart = np.linspace(-1.0, 1.0, phases)[:, None]
    gap = after.mean(axis=0) - before.mean(axis=0)
    return np.asarray(gap + apart / apart.std(ddof=1) * error)


def intervals_over_phases(
    values: Floats,
    clusters: Clusters,
    seed: int,
    phase_means: Floats | None,
    bounds: Bounds | None = (0.0, 1.0),
) -> tuple[Floats, Floats]:
    """`mean_intervals` of questions x columns of means over phases, with the spread between the
    phases counted (None: there is one)."""
    low, high = mean_intervals(values, clusters, seed, bounds)
    if phase_means is None:
        return low, high
    known = ~np.isnan(values)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, values, 0.0).sum(axis=0) / count
    luck = Luck.of(phase_means, values, clusters)
    wide = luck.widened(mean, low, high)
    least, most = bounds or (-np.inf, np.inf)
    return np.clip(wide[0], least, most), np.clip(wide[1], least, most)
