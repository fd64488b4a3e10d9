"""Two systems, the same questions: the difference, how sure it is, and what may be said of it."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import Floats, Ints
from lab.evaluation.clusters import Clusters
from lab.evaluation.intervals import NOISE
from lab.evaluation.phases import Luck, intervals_over_phases
from lab.evaluation.significance import holm, paired_test
from lab.evaluation.verdict import Verdict, verdict


@dataclass(frozen=True, eq=False)
class Paired:
    """Several paired comparisons, one family; every array has one entry a comparison.

    `difference` is the mean of second minus first with its 95% interval `low`, `high`; `p` the
    test's (`lab.evaluation.significance.paired_test`), the larger of `noise_p` and `unseen_p`;
    `p_holm` corrected for the family, `least_p` the smallest `p_holm` that the differing questions
    could have given, were all or all but one on one side; `effect` the standardised difference
    d_z = mean / standard deviation of the per-question differences (Cohen 1988; 0 without any
    difference); `wins`, `ties`, `losses` count questions.
    """

    difference: Floats
    low: Floats
    high: Floats
    p: Floats
    noise_p: Floats
    unseen_p: Floats
    p_holm: Floats
    least_p: Floats
    effect: Floats
    wins: Ints
    ties: Ints
    losses: Ints

    @property
    def verdicts(self) -> list[Verdict]:
        """`better` or `worse` beyond chance; `same` if no question differs; `cannot be settled` if
        so few differ that no outcome could have been significant; else `undecided`."""
        return [
            verdict(*row)
            for row in zip(
                self.difference, self.p_holm, self.least_p, self.wins + self.losses, strict=True
            )
        ]


def compare(
    differences: Floats,
    clusters: Clusters,
    seed: int,
    systems: int | None = None,
    phase_means: Floats | None = None,
    alike: Ints | None = None,
) -> Paired:
    """Judge questions x comparisons of per-question differences within [-1, 1], as one family under
    Holm's correction. `systems` is how many pairs of systems the columns compare, by default each
    another one: several metrics of one pair share the losses that were missed, so the chance of
    that is not multiplied by their number. `phase_means` (phases x comparisons) are the mean
    differences at every phase, of which `differences` are the means, None where there is one;
    `alike` numbers the groups of comparisons in which the cuts play about the same part
    (`lab.evaluation.phases`)."""
    columns = differences.shape[1]
    luck = None if phase_means is None else Luck.of(phase_means, differences, clusters, alike)
    tested = paired_test(clusters.sums(differences), clusters.sizes, seed, luck=luck)
    corrected = corrected_p(tested.noise, tested.unseen, columns if systems is None else systems)
    low, high = intervals_over_phases(differences, clusters, seed, phase_means, bounds=None)
    wins, losses = (differences > NOISE).sum(axis=0), (differences < -NOISE).sum(axis=0)
    spread = (
        differences.std(axis=0, ddof=1) if len(differences) > 1 else np.zeros(differences.shape[1])
    )
    mean = differences.mean(axis=0)
    return Paired(
        difference=mean,
        low=low,
        high=high,
        p=tested.p,
        noise_p=tested.noise,
        unseen_p=tested.unseen,
        p_holm=corrected,
        least_p=np.minimum(1.0, tested.least * columns),
        effect=np.divide(mean, spread, out=np.zeros_like(mean), where=spread > NOISE),
        wins=wins,
        ties=len(differences) - wins - losses,
        losses=losses,
    )


def corrected_p(noise: Floats, unseen: Floats, systems: int) -> Floats:
    """p of a family: of noise under Holm's correction, and at least the chance that losses were
    missed in any of the pairs of systems that it compares."""
    return np.asarray(np.maximum(holm(noise), np.minimum(1.0, systems * unseen)))
