"""What "pick the best by this metric" really yields: cross-validation of the choice itself, over
the whole grid."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import Floats, Ints
from lab.evaluation.clusters import Clusters

FOLDS = 10
REPEATS = 20
# Decimals: sums in another order differ by float noise, which must not pick a winner.
DECIMALS = 12


@dataclass(frozen=True, eq=False)
class Nested:
    """The honest account of a choice. `apparent` is the best system's mean on the questions that
    chose it, `honest` the mean that choosing on other questions yields; `picked[s]` the share of
    folds that chose system s; `held_out[q]` the score of question q under what was chosen without
    it, averaged over repeats. `folds` is how many there were, `grouped_by` whether documents or
    single questions were kept together."""

    apparent: float
    honest: float
    picked: Floats
    held_out: Floats
    folds: int
    grouped_by: str

    @property
    def optimism(self) -> float:
        """By how much the apparent score flatters."""
        return self.apparent - self.honest


def best_of(means: Floats) -> Ints:
    """Index of the highest mean along the last axis, the first of equals."""
    return np.asarray(np.argmax(np.round(means, DECIMALS), axis=-1))


def nested(scores: Floats, groups: Clusters, seed: int, repeats: int = REPEATS) -> Nested:
    """Cross-validate the choice among questions x systems, units of `groups` kept whole.

    Nothing is fitted per system, so the inner loop is the mean over the training questions, and the
    outer one scores what it chose on the questions left out (Varma & Simon 2006). With one unit,
    nothing can be left out and the estimate is NaN.
    """
    questions, systems = scores.shape
    folds = min(FOLDS, len(groups))
    apparent = float(scores.mean(axis=0)[best_of(scores.mean(axis=0))])
    if folds < 2:
        return Nested(
            apparent,
            float("nan"),
            np.zeros(systems),
            np.full(questions, np.nan),
            folds,
            groups.unit,
        )
    generator = np.random.default_rng(seed)
    sizes = np.bincount(groups.of)
    held_out, picks = np.zeros(questions), np.zeros(systems)
    for _ in range(repeats):
        fold = fold_of_unit(sizes, folds, generator)[groups.of]
        totals = Clusters(fold, groups.unit).sums(scores)
        left = (totals.sum(axis=0) - totals) / (questions - np.bincount(fold, minlength=folds))[
            :, None
        ]
        chosen = best_of(left)
        held_out += scores[np.arange(questions), chosen[fold]]
        picks += np.bincount(chosen, minlength=systems)
    held_out /= repeats
    return Nested(
        apparent, float(held_out.mean()), picks / picks.sum(), held_out, folds, groups.unit
    )


def fold_of_unit(sizes: Ints, folds: int, generator: np.random.Generator) -> Ints:
    """A random fold for every unit: large ones first, each into the fold with the fewest questions,
    so that folds are even."""
    shuffled = generator.permutation(len(sizes))
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    fold, load = np.empty(len(sizes), dtype=np.int64), np.zeros(folds, dtype=np.int64)
    for unit in order:
        fold[unit] = np.argmin(load)
        load[fold[unit]] += sizes[unit]
    return fold
