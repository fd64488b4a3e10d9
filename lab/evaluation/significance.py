"""Could chance have done it: paired sign-flip tests, the least p they can reach, the sign test, and
two corrections."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import bdtr

from lab.arrays import Floats, Ints
from lab.evaluation.intervals import BLOCK, NOISE

ALPHA = 0.05
FLIPS = 9_999
# Up to this many units that differ, all sign patterns (8,192) are tried instead of a sample.
EXACT_UNITS = 13


@dataclass(frozen=True, eq=False)
class Tested:
    """p of every comparison, and the least p that its number of differing units could have given at
    all."""

    p: Floats
    least: Floats


def sign_flip_test(sums: Floats, seed: int, flips: int = FLIPS) -> Tested:
    """Two-sided paired permutation test of every column of units x comparisons (sums of differences
    per unit).

    Under the null hypothesis each unit's difference could as well have the other sign. With at most
    13 units that differ all patterns are tried and p is exact; beyond, p = (b + 1) / (n + 1) where
    b of n random patterns give a sum at least as far from 0 (Phipson & Smyth 2010). Units without a
    difference play no part, so the least p is 2 / 2^m of m that differ.
    """
    differing = (np.abs(sums) > NOISE).sum(axis=0)
    observed = np.abs(sums.sum(axis=0))
    reached = np.zeros(sums.shape[1])
    many = differing > EXACT_UNITS
    # More comparisons are corrected harder, so they need finer p: a twentieth of what the
    # correction leaves.
    flips = max(flips, int(20 / ALPHA * sums.shape[1]) - 1)
    if many.any():
        for signs in sign_patterns(len(sums), seed, flips):
            reached[many] += (np.abs(signs @ sums[:, many]) >= observed[many] - NOISE).sum(axis=0)
    p, least = (reached + 1) / (flips + 1), np.maximum(2.0 ** (1.0 - differing), 1 / (flips + 1))
    for column in np.flatnonzero(~many):
        moved = sums[np.abs(sums[:, column]) > NOISE, column]
        p[column] = (np.abs(_all_patterns(len(moved)) @ moved) >= observed[column] - NOISE).mean()
        least[column] = min(1.0, 2.0 ** (1 - len(moved)))
    return Tested(p, least)


def sign_patterns(units: int, seed: int, flips: int) -> Iterator[Floats]:
    """Blocks of random signs, flips x units."""
    generator = np.random.default_rng(seed)
    for first in range(0, flips, BLOCK):
        yield _signs(generator.integers(0, 2, (min(BLOCK, flips - first), units), dtype=np.int8))


def _all_patterns(units: int) -> Floats:
    return _signs(np.arange(2**units)[:, None] >> np.arange(units) & 1)


def _signs(bits: NDArray[np.integer]) -> Floats:
    return bits.astype(np.float64) * 2.0 - 1.0


def sign_test(wins: Ints, losses: Ints) -> Floats:
    """Two-sided sign test; ties are left out. Asks only how often, not by how much: a check that
    shares no assumption."""
    return np.asarray(np.minimum(1.0, 2 * bdtr(np.minimum(wins, losses), wins + losses, 0.5)))


def holm(p: Floats) -> Floats:
    """Holm's step-down adjusted p (Holm 1979): the family-wise error stays below the level whatever
    the dependence."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


@dataclass(frozen=True, eq=False)
class AgainstBest:
    """Every system against the best one, corrected for the best having been chosen by the same
    questions.

    `tested` holds p and the least p that could be reached (1 for the best itself); `critical` is
    the number of standard errors by which a system must lie behind to be told from the best at the
    5% level.
    """

    tested: Tested
    critical: float


def against_best(sums: Floats, best: int, seed: int, flips: int = FLIPS) -> AgainstBest:
    """Test units x systems (sums per unit) against column `best`.

    Which system is best is seen only after looking at all of them, so the family is every pair: had
    another one been ahead, other pairs would have been tested. Bonferroni and Holm over k (k - 1) /
    2 pairs would waste what the systems have in common; the single-step max-T permutation test
    (Westfall & Young 1993) keeps it. It is the randomised Tukey test of Carterette (TOIS 2012) with
    each difference divided by its own root sum of squares, which no flip of signs changes, so that
    two systems that differ on few questions are not drowned by pairs that differ on many. Testing
    the best against the k - 1 others under Holm alone would call a chance winner of 66 equal
    systems better in every third set.
    """
    units, systems = sums.shape
    first, second = np.triu_indices(systems, 1)
    gram = sums.T @ sums
    squares = np.diag(gram)[first] + np.diag(gram)[second] - 2 * gram[first, second]
    differ = squares > NOISE
    first, second, scale = first[differ], second[differ], 1 / np.sqrt(squares[differ])
    largest = np.concatenate(
        [
            _largest(signs @ sums, first, second, scale)
            for signs in sign_patterns(units, seed, flips)
        ]
        if len(first)
        else [np.zeros(flips)]
    )
    largest.sort()
    gaps = sums[:, [best]] - sums
    root = np.sqrt((gaps**2).sum(axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        reached = np.where(root > NOISE, np.abs(gaps.sum(axis=0)) / root, 0.0)
        reachable = np.where(root > NOISE, np.abs(gaps).sum(axis=0) / root, 0.0)
    critical = float(largest[min(int(np.ceil((1 - ALPHA) * (flips + 1))), flips) - 1])
    return AgainstBest(
        Tested(_share_beyond(largest, reached), _share_beyond(largest, reachable)), critical
    )


@njit(cache=True)
def _largest(totals, first, second, scale):  # type: ignore[no-untyped-def]
    """The largest scaled difference of any pair, for flips x systems of sums."""
    largest = np.zeros(len(totals))
    for flip in range(len(totals)):
        row = totals[flip]
        for pair in range(len(first)):
            largest[flip] = max(
                largest[flip], abs(row[first[pair]] - row[second[pair]]) * scale[pair]
            )
    return largest


def _share_beyond(ordered: Floats, values: Floats) -> Floats:
    beyond = len(ordered) - np.searchsorted(ordered, values - NOISE, side="left")
    return np.asarray((beyond + 1) / (len(ordered) + 1))
