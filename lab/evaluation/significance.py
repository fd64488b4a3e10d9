"""Could chance have done it: paired sign-flip tests, the least p they can reach, the sign test, and
Holm's correction."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from lab.arrays import Floats, Ints
from lab.evaluation.few_units import (
    LARGEST_LOSS,
    losses_seen,
    ratios,
    studentized,
    unseen_loss,
    unseen_p,
)
from lab.evaluation.intervals import BLOCK, NOISE
from lab.evaluation.phases import Luck
from lab.evaluation.verdict import ALPHA

FLIPS = 9_999
# Up to this many units that differ, all sign patterns (8,192) are tried instead of a sample.
EXACT_UNITS = 13


@dataclass(frozen=True, eq=False)
class Tested:
    """p of every comparison, and the least p that its number of differing units could have given at
    all."""

    p: Floats
    least: Floats


@dataclass(frozen=True, eq=False)
class PairTested:
    """`noise` is p of the sign flips, `unseen` the chance that losses were missed; `p` the larger
    of both. `least` is the least p that the units which differ could have given."""

    noise: Floats
    unseen: Floats
    least: Floats

    @property
    def p(self) -> Floats:
        return np.maximum(self.noise, self.unseen)


def paired_test(
    sums: Floats, sizes: Floats, seed: int, flips: int = FLIPS, luck: Luck | None = None
) -> PairTested:
    """Test every column of units x comparisons (sums of differences per unit, of `sizes` questions)
    so that it holds with few units and skew; `luck` is what the cuts add, None for nothing.

    p is the larger of two: the sign-flip test's, of a sum that skew speaking against it has lowered
    (`studentized`), and the chance that the losses which would undo the gain were all missed
    (`unseen_p`). Sign flips alone call two equal systems different in 13% of sets of 20 units of
    which one in ten loses 0.9 and the others gain 0.1: where no loser is drawn, every unit agrees.
    """
    plain = ratios(sums)
    kept = np.divide(studentized(sums), plain, out=np.ones(sums.shape[1]), where=plain > 0)
    if luck is not None:
        means = sums.sum(axis=0) / sizes.sum()
        lowered = luck.lowered(plain * kept, means, kept)
        kept = np.divide(lowered, plain, out=kept, where=plain > 0)
    tested = sign_flip_test(sums, seed, flips, kept * np.abs(sums.sum(axis=0)))
    toward = sums * np.where(sums.sum(axis=0) < 0, -1.0, 1.0)
    means, gain = toward / sizes[:, None], toward.sum(axis=0) / sizes.sum()
    largest = np.maximum(LARGEST_LOSS, np.abs(means).max(axis=0, initial=0.0))
    loss = largest * unseen_loss(losses_seen(means, gain))
    unseen = unseen_p(gain, loss, len(sums))
    agreeing = unseen_p(np.abs(toward).sum(axis=0) / sizes.sum(), largest, len(sums))
    # Where one unit of all that differ goes the other way, a loss was seen.
    differing = (np.abs(sums) > NOISE).sum(axis=0)
    one_against = np.minimum(1.0, (differing + 1.0) * 2.0 ** (1.0 - differing))
    least = np.maximum(tested.least, np.minimum(agreeing, one_against))
    moved = differing > 0
    return PairTested(tested.p, np.where(moved, unseen, 0.0), np.where(moved, least, tested.least))


def sign_flip_test(
    sums: Floats, seed: int, flips: int = FLIPS, totals: Floats | None = None
) -> Tested:
    """Two-sided paired permutation test of every column of units x comparisons (sums of differences
    per unit). `totals` are the absolute sums to be judged, by default those of the columns.

    Under the null hypothesis each unit's difference could as well have the other sign. With at most
    13 units that differ all patterns are tried and p is exact; beyond, p = (b + 1) / (n + 1) where
    b of n random patterns give a sum at least as far from 0 (Phipson & Smyth 2010). Units without a
    difference play no part, so the least p is 2 / 2^m of m that differ.
    """
    differing = (np.abs(sums) > NOISE).sum(axis=0)
    observed = np.abs(sums.sum(axis=0)) if totals is None else totals
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
