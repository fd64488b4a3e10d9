"""Gaps: what users ask and the set does not, as clusters of questions that lie far from all of the
set's."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from lab.arrays import Bools, Floats, Ints

# Of the set's own questions this share lies no farther from its nearest neighbour in the set.
OWN = 0.95
TIES = 1e-6
# Nearest neighbours that permuted labels look through for one of the set.
NEIGHBOURS = 64


@dataclass(frozen=True, slots=True)
class Gap:
    """Questions of the log near each other and far from the set. `questions` are places in the
    sample, the most central first; `distance` is the mean cosine distance to the nearest question
    of the set."""

    questions: tuple[int, ...]
    distance: float


def distances(vectors: Floats) -> Floats:
    """Cosine distances of all rows to each other, from 0 to 2; a zero row is at 1 from all."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    between = np.clip(1 - unit @ unit.T, 0, 2)
    between = np.round((between + between.T) / 2, 9)
    np.fill_diagonal(between, 0)
    return np.asarray(between)


def limit(own: Floats) -> float:
    """The 95th percentile of every set question's distance to the nearest other one."""
    others = own + np.diag(np.full(len(own), np.inf))
    return float(np.quantile(others.min(axis=1), OWN))


def far_shares(between: Floats, labels: Bools) -> Floats:
    """For every column of `labels` (which questions are the log's), the share of the log's that lie
    farther from the set than `limit` says: 5% where both are of one kind. Equal shares are parted
    by a millionth of the mean distance, for a test over ties finds too little."""
    others = between + np.diag(np.full(len(between), np.inf))
    order = np.argsort(others, axis=1, kind="stable")[:, : min(NEIGHBOURS, len(others) - 1)]
    near = np.take_along_axis(others, order, axis=1)
    shares = np.empty(labels.shape[1])
    for column, in_log in enumerate(labels.T):
        in_set = ~in_log[order]
        first = np.where(in_set.any(axis=1), in_set.argmax(axis=1), order.shape[1] - 1)
        nearest = near[np.arange(len(near)), first]
        far = nearest[in_log] > np.quantile(nearest[~in_log], OWN)
        shares[column] = far.mean() + TIES * nearest[in_log].mean()
    return shares


def find_gaps(own: Floats, toward: Floats, among: Floats) -> tuple[tuple[Gap, ...], float]:
    """Clusters of the log's questions farther from every set question than `limit(own)`, and that
    limit: average linkage, cut at the limit. `own` are the distances among the set's questions,
    `toward` those of the log's (rows) to the set's, `among` those among the log's. The largest
    cluster comes first."""
    most = limit(own)
    nearest = toward.min(axis=1)
    far = np.flatnonzero(nearest > most)
    if not len(far):
        return (), most
    between = among[np.ix_(far, far)]
    cluster = np.ones(len(far), dtype=np.int64)
    if len(far) > 1:
        tree = linkage(squareform(between, checks=False), "average")
        cluster = fcluster(tree, most, "distance").astype(np.int64)
    gaps = [
        _gap(np.flatnonzero(cluster == name), between, far, nearest) for name in np.unique(cluster)
    ]
    return tuple(sorted(gaps, key=lambda gap: (-len(gap.questions), gap.questions))), most


def _gap(members: Ints, between: Floats, far: Ints, nearest: Floats) -> Gap:
    central = members[np.argsort(between[np.ix_(members, members)].mean(axis=1), kind="stable")]
    places: Sequence[int] = far[central].tolist()
    return Gap(tuple(places), float(nearest[far[members]].mean()))
