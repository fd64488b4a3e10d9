"""Which metrics say the same of a run's systems, and how well each tells systems apart, so that a
reader keeps few."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from lab.arrays import Bools, Floats
from lab.evaluation.clusters import Clusters

# Orders of systems that agree this well are one order for all purposes (Voorhees 2000).
SAME = 0.9
# Level at which a pair of systems counts as told apart.
LEVEL = 0.05
# Means that differ by less are equal: float noise of sums.
NOISE = 1e-12


@dataclass(frozen=True, eq=False)
class Redundancy:
    """Of each metric `power`, the share of all pairs of systems that it tells apart; of each two
    `tau`, Kendall's tau-b of the order of systems by their means, `both`, the share of pairs that
    both tell apart in the same direction, and `contrary`, in opposite ones. tau is None where a
    metric gives all systems one mean. `same_as` names for each metric the one kept that says the
    same, itself where it is kept."""

    metrics: tuple[str, ...]
    power: Floats
    tau: tuple[tuple[float | None, ...], ...]
    both: Floats
    contrary: Floats
    same_as: tuple[str, ...]


def redundancy(
    values: Floats, metrics: Sequence[str], clusters: Clusters, costs: Sequence[bool]
) -> Redundancy:
    """`values` are systems x questions x metrics, `costs` say which metrics are better when lower.

    A pair of systems is told apart by a paired t test over the independent units, two-sided at
    LEVEL, each pair by itself: what Sakai (2006) calls discriminative power. It compares metrics
    with each other; that systems differ is not concluded from it. Metrics are then kept from the
    most powerful on (first of equals in the order given): one that agrees with a kept one by tau
    of SAME or more says the same.
    """
    signs = np.where(np.array(costs, dtype=bool), -1.0, 1.0)
    means = np.nan_to_num(values).mean(axis=1) * signs
    apart = np.stack(
        [_told_apart(values[:, :, m] * signs[m], clusters) for m in range(len(metrics))]
    )
    pairs = max(apart.shape[1], 1)
    power = (apart != 0).sum(axis=1) / pairs
    same = np.einsum("ap,bp->ab", apart, apart)
    both = np.einsum("ap,bp->ab", np.abs(apart), np.abs(apart))
    tau = _taus(means)
    return Redundancy(
        tuple(metrics),
        power,
        tau,
        (both + same) / (2 * pairs),
        (both - same) / (2 * pairs),
        _kept(metrics, power, tau),
    )


def _told_apart(scores: Floats, clusters: Clusters) -> Floats:
    """Per pair of systems 1 or -1 if the first is better or worse beyond chance, else 0."""
    known = np.nan_to_num(scores).T
    first, second = np.triu_indices(len(scores), k=1)
    sums = clusters.sums(known)
    difference = sums[:, first] - sums[:, second]
    units = len(difference)
    if units < 2:
        return np.zeros(len(first))
    mean = difference.mean(axis=0)
    error = difference.std(axis=0, ddof=1) / np.sqrt(units)
    with np.errstate(divide="ignore"):
        t = np.divide(
            np.abs(mean), error, out=np.where(np.abs(mean) > NOISE, np.inf, 0.0), where=error > 0
        )
    p = 2 * stdtr(units - 1, -t)
    return np.asarray(np.where(p < LEVEL, np.sign(mean), 0.0))


def _taus(means: Floats) -> tuple[tuple[float | None, ...], ...]:
    """Kendall's tau-b (1945) of every two columns: (concordant - discordant) / sqrt(pairs that the
    first orders * pairs that the second orders)."""
    first, second = np.triu_indices(len(means), k=1)
    gaps = means[first] - means[second]
    order = np.where(np.abs(gaps) > NOISE, np.sign(gaps), 0.0)
    ordered = (order != 0).sum(axis=0)
    agree = order.T @ order
    scale = np.sqrt(np.outer(ordered, ordered))
    rows = np.divide(agree, scale, out=np.full(agree.shape, np.nan), where=scale > 0)
    known: Bools = ~np.isnan(rows)
    return tuple(
        tuple(float(v) if k else None for v, k in zip(row, of, strict=True))
        for row, of in zip(rows, known, strict=True)
    )


def _kept(
    metrics: Sequence[str], power: Floats, tau: Sequence[Sequence[float | None]]
) -> tuple[str, ...]:
    kept: list[int] = []
    same_as = list(metrics)
    for metric in np.argsort(-power, kind="stable").tolist():
        agreeing = [k for k in kept if (t := tau[metric][k]) is not None and t >= SAME]
        if agreeing:
            same_as[metric] = metrics[agreeing[0]]
        else:
            kept.append(metric)
    return tuple(same_as)
