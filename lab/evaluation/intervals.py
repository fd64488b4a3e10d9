"""How sure a mean is: bias-corrected and accelerated bootstrap intervals for all systems and
metrics at once."""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from lab.arrays import Floats
from lab.evaluation.clusters import Clusters

Bounds = tuple[float, float]

RESAMPLES = 9_999
LEVEL = 0.95
# Resamples that are held in memory at once.
BLOCK = 1_000
# Differences below this are float noise of summation, not differences.
NOISE = 1e-10
# Ends are rounded to this many decimals.
DIGITS = 12


def resample_counts(units: int, seed: int, resamples: int = RESAMPLES) -> Iterator[Floats]:
    """How often every unit is drawn in each resample, as blocks of resamples x units.

    The draws are those of `scipy.stats.bootstrap` with the same seed, so that results agree to the
    digit.
    """
    generator = np.random.default_rng(seed)
    for first in range(0, resamples, BLOCK):
        rows = min(BLOCK, resamples - first)
        drawn = generator.integers(0, units, (rows, units)) + np.arange(rows)[:, None] * units
        yield (
            np.bincount(drawn.ravel(), minlength=rows * units)
            .reshape(rows, units)
            .astype(np.float64)
        )


def mean_intervals(
    values: Floats,
    clusters: Clusters,
    seed: int,
    bounds: Bounds | None = (0.0, 1.0),
    resamples: int = RESAMPLES,
) -> tuple[Floats, Floats]:
    """Lower and upper end of the 95% interval of every column's mean (questions x columns; NaN is
    left out, and a column of nothing else has no interval).

    Whole units are resampled, the same for all columns, and BCa ends are taken (Efron 1987; the
    formulas of `scipy.stats.bootstrap`, which it equals when every question is a unit), with tails
    widened for few units (`tail_share`). Where BCa is not defined, because the mean lies outside
    all resampled ones, the percentile interval is given. Where all questions score the same,
    resampling says nothing: for values within `bounds` the ends are the Clopper-Pearson bounds of
    "always this score", without bounds the value itself.
    """
    empty = np.isnan(values).all(axis=0)
    values = np.where(empty, 0.0, values)
    sums, sizes = _sums_and_sizes(values, clusters)
    observed = sums.sum(axis=0) / sizes.sum(axis=0)
    blocks = []
    for counts in resample_counts(len(clusters), seed, resamples):
        total, known = counts @ sums, counts @ sizes
        # A resample in which no question has a value says nothing that the observed mean does not.
        blocks.append(
            np.divide(total, known, out=np.tile(observed, (len(counts), 1)), where=known > 0)
        )
    means = np.concatenate(blocks)
    means.sort(axis=0)
    low, high = (_quantiles(means, share) for share in _bca_shares(means, observed, sums, sizes))
    constant = np.nanmax(values, axis=0) - np.nanmin(values, axis=0) <= NOISE
    if bounds is not None:
        # P(no other score in n independent units) = tail at this share of the same score (Clopper &
        # Pearson 1934).
        surely = ((1 - LEVEL) / 2) ** (1 / len(clusters))
        low = np.where(constant, bounds[0] + (observed - bounds[0]) * surely, low)
        high = np.where(constant, bounds[1] - (bounds[1] - observed) * surely, high)
    if bounds is None:
        low, high = np.where(constant, observed, low), np.where(constant, observed, high)
    # The last bits of the products above change with the number of the BLAS's threads.
    low, high = np.round(low, DIGITS), np.round(high, DIGITS)
    return np.where(empty, np.nan, low), np.where(empty, np.nan, high)


def standard_errors(values: Floats, clusters: Clusters) -> Floats:
    """Standard error of every column's mean, robust to dependence within units (Liang & Zeger
    1986)."""
    return errors_of_sums(*_sums_and_sizes(values, clusters))


def errors_of_sums(sums: Floats, sizes: Floats) -> Floats:
    """The same from units x columns of sums, and of the questions in them."""
    units, total = len(sums), sizes.sum(axis=0)
    if units < 2:
        return np.full(sums.shape[1], np.inf)
    residuals = sums - sizes * (sums.sum(axis=0) / total)
    return np.asarray(np.sqrt((residuals**2).sum(axis=0) * units / (units - 1)) / total)


def tail_share(units: int) -> float:
    """The share of resampled means to leave out at each end for a 95% interval.

    A resample of n units varies by sqrt((n - 1) / n) too little, and its spread is itself an
    estimate, so the tail is that of a normal beyond sqrt(n / (n - 1)) t, t of n - 1 degrees of
    freedom (Hesterberg 2015, Am. Stat. 69, 4.3.1): 1.5% with 20 units, 2.5% with very many.
    """
    if units < 2:
        return (1 - LEVEL) / 2
    t = stdtrit(units - 1, (1 + LEVEL) / 2)
    return float(ndtr(-math.sqrt(units / (units - 1)) * t))


def _sums_and_sizes(values: Floats, clusters: Clusters) -> tuple[Floats, Floats]:
    known = ~np.isnan(values)
    return clusters.sums(np.where(known, values, 0.0)), clusters.sums(known.astype(np.float64))


def _bca_shares(
    means: Floats, observed: Floats, sums: Floats, sizes: Floats
) -> tuple[Floats, Floats]:
    """The shares of sorted resampled means at which the interval ends, column by column (Efron
    1987, eq. 6.1 and 6.6)."""
    tail = tail_share(len(sums))
    below = ((means < observed - NOISE).sum(axis=0) + (means <= observed + NOISE).sum(axis=0)) / (
        2 * len(means)
    )
    bias = ndtri(below)
    units = len(sums)
    with np.errstate(invalid="ignore", divide="ignore"):
        left_out = (sums.sum(axis=0) - sums) / (sizes.sum(axis=0) - sizes)
        pull = (units - 1) * (left_out.mean(axis=0) - left_out)
        acceleration = (
            (pull**3).sum(axis=0) / units**3 / (6 * ((pull**2).sum(axis=0) / units**2) ** 1.5)
        )
        shares = [
            ndtr(bias + (bias + z) / (1 - acceleration * (bias + z)))
            for z in (ndtri(tail), ndtri(1 - tail))
        ]
    defined = np.isfinite(bias) & np.isfinite(acceleration)
    low, high = (
        np.where(defined, share, plain)
        for share, plain in zip(shares, (tail, 1 - tail), strict=True)
    )
    return low, high


def _quantiles(ordered: Floats, share: Floats) -> Floats:
    """Each column's quantile at its own share, interpolated linearly between the sorted rows."""
    place = np.nan_to_num(share) * (len(ordered) - 1)
    below = np.minimum(place.astype(np.int64), max(len(ordered) - 2, 0))
    columns = np.arange(ordered.shape[1])
    first, second = (
        ordered[below, columns],
        ordered[np.minimum(below + 1, len(ordered) - 1), columns],
    )
    return np.asarray(first + (second - first) * (place - below))
