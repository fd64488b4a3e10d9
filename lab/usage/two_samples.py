"""Are two samples of questions of one kind: a classifier that tries to tell them apart, and the
population stability index of one feature, against what chance gives."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from lab.arrays import Bools, Floats

PERMUTATIONS = 999
FOLDS = 5
# Weight of the ridge for every question trained on, on standardised features.
RIDGE = 0.1
BINS = 10
# Added to the count of every bin, so that an empty one does not make the index infinite.
ADDED = 0.5


@dataclass(frozen=True, slots=True)
class Beyond:
    """A statistic beside what chance gives: the 95% interval `low`, `high` of its values under
    permuted labels, and p = (b + 1) / (n + 1) where b of n of these are at least as large."""

    value: float
    low: float
    high: float
    p: float


def labellings(in_log: Bools, seed: int, permutations: int = PERMUTATIONS) -> Bools:
    """Questions x (1 + permutations): the labels as they are, then each time in another order. If
    both samples are of one kind, all orders are alike probable."""
    generator = np.random.default_rng(seed)
    shuffled = generator.permuted(np.tile(in_log, (permutations, 1)), axis=1)
    return np.vstack([in_log[None, :], shuffled]).T


def beyond(values: Floats) -> Beyond:
    """The first value against all others, which permuted labels gave."""
    observed, chance = float(values[0]), values[1:]
    low, high = np.quantile(chance, [0.025, 0.975])
    reached = int((chance >= observed - 1e-12).sum())
    return Beyond(observed, float(low), float(high), (reached + 1) / (len(chance) + 1))


def jointly(statistics: Sequence[Floats]) -> Floats:
    """p of every statistic (first value observed, the others under the same permuted labels) after
    allowing for all of them: single-step min-p of Westfall and Young (1993), which counts how often
    chance brings any of them to so small a p. Exact however they hang together."""
    own = np.array([rankdata(-np.round(row, 9), method="max") / len(row) for row in statistics])
    least = np.sort(own.min(axis=0))
    return np.asarray(np.searchsorted(least, own[:, 0], side="right") / len(least))


def classifier_auc(features: Floats, labels: Bools, seed: int) -> Floats:
    """AUC of a cross-validated linear discriminant (ridge regression on the labels, which orders as
    Fisher's discriminant does) for every column of `labels`: the classifier two-sample test of
    Lopez-Paz and Oquab (ICLR 2017). Folds do not depend on labels, so permuting these is exact;
    ridge regression makes one matrix do for all columns."""
    varying = features[:, features.std(axis=0) > 0]
    standard = (varying - varying.mean(axis=0)) / varying.std(axis=0)
    targets = labels.astype(np.float64)
    scores = np.zeros(targets.shape)
    fold = np.random.default_rng(seed).permutation(len(standard)) % FOLDS
    for number in range(FOLDS):
        train, test = standard[fold != number], standard[fold == number]
        centre = train.mean(axis=0)
        train, test = train - centre, test - centre
        ridge = RIDGE * len(train) * np.eye(train.shape[1])
        weights = np.linalg.solve(train.T @ train + ridge, train.T)
        trained = targets[fold != number]
        scores[fold == number] = test @ (weights @ (trained - trained.mean(axis=0)))
    # Equal questions have equal scores whatever the order of a sum.
    ranks = rankdata(np.round(scores, 9), axis=0)
    positives = labels.sum(axis=0)
    above = (ranks * labels).sum(axis=0) - positives * (positives + 1) / 2
    return np.asarray(above / (positives * (len(labels) - positives)))


def stability(feature: Floats, labels: Bools) -> Floats:
    """The population stability index of a feature for every column of `labels`: the sum over bins
    of (q - p) ln(q / p), p and q being the shares of both samples. Bins are the values where there
    are at most ten, else tenths of all questions together."""
    values = np.unique(feature)
    edges = values[1:]
    if len(values) > BINS:
        edges = np.unique(np.quantile(feature, np.arange(1, BINS) / BINS))
    bins = np.searchsorted(edges, feature, side="right")
    held = np.eye(len(edges) + 1)[bins]
    log, other = held.T @ labels + ADDED, held.T @ ~labels + ADDED
    q, p = log / log.sum(axis=0), other / other.sum(axis=0)
    return np.asarray(((q - p) * np.log(q / p)).sum(axis=0))


def principal_components(vectors: Floats, most: int) -> Floats:
    """The first components of vectors (rows), at most `most` and as many as tell anything; labels
    play no part in them."""
    centred = vectors - vectors.mean(axis=0)
    values, rows = np.linalg.eigh(centred @ centred.T)
    kept = [place for place in np.argsort(-values)[:most] if values[place] > 1e-9 * values.max()]
    return np.asarray(rows[:, kept] * np.sqrt(values[kept]))
