"""Several aims at once: systems that no other beats in quality without costing more."""

from collections.abc import Mapping, Sequence

import numpy as np

from lab.arrays import Bools, Floats

# Decimals at which two values are the same: costs are measured, means are sums of floats.
DECIMALS = 9


def pareto_front(quality: Floats, costs: Floats) -> Bools:
    """Which systems are on the front (quality: systems, higher is better; costs: systems x costs,
    lower is better).

    A system is off it when another is at least as good in everything and better in something. A
    cost that is NaN for any system is left out, for it cannot be compared.
    """
    aims = np.column_stack([-quality, costs[:, ~np.isnan(costs).any(axis=0)]]).round(DECIMALS)
    no_worse = (aims[:, None, :] <= aims[None, :, :]).all(axis=2)
    better = (aims[:, None, :] < aims[None, :, :]).any(axis=2)
    return np.asarray(~(no_worse & better).any(axis=0))


def weighted(values: Floats, metrics: Sequence[str], weights: Mapping[str, float]) -> Floats:
    """Weighted mean of metrics, question by question (... x metrics): one aim made of several by
    the user's own weights."""
    shares = np.array([weights.get(metric, 0.0) for metric in metrics])
    used = shares > 0
    return np.asarray(values[..., used] @ (shares[used] / shares.sum()))
