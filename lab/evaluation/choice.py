"""One of many systems against every other, corrected for its having been chosen by the same
questions."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from lab.arrays import Bools, Floats, Ints
from lab.evaluation.few_units import (
    LARGEST_LOSS,
    TAIL,
    losses_seen,
    ratios,
    studentized,
    unseen_loss,
    unseen_p,
)
from lab.evaluation.intervals import NOISE, errors_of_sums
from lab.evaluation.phases import Luck
from lab.evaluation.significance import FLIPS, Tested, sign_patterns
from lab.evaluation.verdict import ALPHA


@dataclass(frozen=True, eq=False)
class AgainstOne:
    """Every system against one.

    `tested` holds p and the least p that could be reached (1 for the one itself); `critical` is
    what |sum| / root of the sum of squares must reach to tell a pair apart at the 5% level
    (`lab.evaluation.few_units.t_of_ratio` makes it standard errors); `loss` how much a unit that
    was not drawn may lose (`lab.evaluation.few_units.unseen_loss`).
    """

    tested: Tested
    critical: float
    loss: float


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of the systems of a grid as one family: units x systems of `sums`, of `sizes`
    questions a unit; `largest` is the largest scaled difference of any pair in every flip of signs,
    in ascending order.

    Which system is best is seen only after looking at all of them, so the family is every pair: had
    another one been ahead, other pairs would have been tested. Bonferroni and Holm over k (k - 1) /
    2 pairs would waste what the systems have in common; the single-step max-T permutation test
    (Westfall & Young 1993) keeps it. It is the randomised Tukey test of Carterette (TOIS 2012) with
    each difference divided by its own root sum of squares, which no flip of signs changes, so that
    two systems that differ on few questions are not drowned by pairs that differ on many. Testing
    the best against the k - 1 others under Holm alone would call a chance winner of 66 equal
    systems better in every third set.

    `phase_means` (phases x systems) are the means at every phase of the cuts, None where there is
    one, and `cuts` numbers the chunkings of the systems: what the cuts add to the uncertainty of a
    difference lowers it (`lab.evaluation.phases`).
    """

    sums: Floats
    sizes: Floats
    largest: Floats
    phase_means: Floats | None = None
    cuts: Ints | None = None

    def against(self, reference: int) -> AgainstOne:
        """Every system against the one at `reference`. As in
        `lab.evaluation.significance.paired_test`, skew against a difference lowers it, and losses
        that may have been missed bound p from below; how large those are is read from the systems
        that noise does not tell from the reference."""
        units, systems = self.sums.shape
        gaps = self.sums[:, [reference]] - self.sums
        lowered = self._lowered(gaps, reference)
        gaps = gaps * np.where(gaps.sum(axis=0) < 0, -1.0, 1.0)
        root = np.sqrt((gaps**2).sum(axis=0))
        safe = np.where(root > NOISE, root, 1.0)
        reachable = np.where(root > NOISE, np.abs(gaps).sum(axis=0) / safe, 0.0)
        p = _share_beyond(self.largest, lowered)
        least = _share_beyond(self.largest, reachable)
        gain = gaps.sum(axis=0) / self.sizes.sum()
        loss = _loss(gaps / self.sizes[:, None], gain, p >= ALPHA, reference)
        unseen = unseen_p(gain, loss, units, systems - 1)
        agreeing = unseen_p(np.abs(gaps).sum(axis=0) / self.sizes.sum(), loss, units, systems - 1)
        differing = (np.abs(gaps) > NOISE).sum(axis=0)
        # Where one of the units that differ goes the other way, a loss was seen.
        against_all = reachable * (1 - 2 / np.maximum(differing, 2))
        one_against = _share_beyond(self.largest, against_all)
        tested = Tested(
            np.where(differing, np.maximum(p, unseen), p),
            np.where(differing, np.maximum(least, np.minimum(agreeing, one_against)), least),
        )
        flips = len(self.largest)
        critical = float(self.largest[min(int(np.ceil((1 - ALPHA) * (flips + 1))), flips) - 1])
        return AgainstOne(tested, critical, float(loss))

    def _lowered(self, gaps: Floats, reference: int) -> Floats:
        """|sum| / root of the sum of squares of units x systems of gaps, lowered by skew that
        speaks against them and by what the cuts leave uncertain."""
        plain = ratios(gaps)
        lowered = np.minimum(studentized(gaps), plain)
        if self.phase_means is None:
            return lowered
        by_phase = self.phase_means[:, [reference]] - self.phase_means
        errors = errors_of_sums(gaps, self.sizes[:, None])
        alike = np.zeros(len(plain)) if self.cuts is None else self.cuts == self.cuts[reference]
        luck = Luck.beside(by_phase, errors, len(gaps), alike.astype(np.int64))
        kept = np.divide(lowered, plain, out=np.ones(len(plain)), where=plain > 0)
        return luck.lowered(lowered, gaps.sum(axis=0) / self.sizes.sum(), kept)


def all_pairs(
    sums: Floats,
    seed: int,
    flips: int = FLIPS,
    sizes: Floats | None = None,
    phase_means: Floats | None = None,
    cuts: Ints | None = None,
) -> Pairs:
    """The family of all pairs of units x systems (sums per unit, of `sizes` questions, by default
    one; `phase_means` and `cuts` as in `Pairs`)."""
    sizes = np.ones(len(sums)) if sizes is None else sizes
    return Pairs(sums, sizes, _largest_of_flips(sums, seed, flips), phase_means, cuts)


def _loss(means: Floats, gain: Floats, contenders: Bools, reference: int) -> Floats:
    """What a unit that was not drawn may lose: as much as a rare difference between the one and
    its contenders departs from their mean one (units x systems of mean differences), and as much as
    there is where nothing shows how large losses are: no system ever beat it in a unit, and the
    others never beat each other."""
    apart = np.abs(means - means.mean(axis=0))
    among = np.abs(means) > NOISE
    if contenders.sum() > 1:
        among &= contenders
    tail = float(np.quantile(apart[among], TAIL)) if among.any() else 0.0
    losses = losses_seen(means, gain)
    seen = losses[np.isfinite(losses)].sum() + _turns(np.delete(means, reference, axis=1))
    return unseen_loss(seen, min(tail, LARGEST_LOSS))


def _turns(means: Floats) -> int:
    """In how many units systems lie on the rarer side of what they have in common."""
    if not means.shape[1]:
        return 0
    apart = means - means.mean(axis=1, keepdims=True)
    above, below = (apart > NOISE).sum(axis=0), (apart < -NOISE).sum(axis=0)
    return int(np.minimum(above, below).sum())


def _largest_of_flips(sums: Floats, seed: int, flips: int) -> Floats:
    """The largest scaled difference of any pair in every flip, in ascending order."""
    units, _ = sums.shape
    gram = sums.T @ sums
    squares = np.diag(gram)[:, None] + np.diag(gram) - 2 * gram
    differ = np.triu(squares > NOISE, 1)
    if not differ.any():
        return np.zeros(flips)
    scale = np.where(differ, 1 / np.sqrt(np.where(differ, squares, 1.0)), 0.0)
    patterns = sign_patterns(units, seed, flips)
    largest = np.concatenate(
        [_largest(np.ascontiguousarray((signs @ sums).T), scale) for signs in patterns]
    )
    largest.sort()
    return largest


# A pair is looked at in so many flips at once: the whole block stays in the processor's cache.
FLIPS_AT_ONCE = 256


@njit(cache=True)
def _largest(totals, scale):  # type: ignore[no-untyped-def]
    """The largest scaled difference of any pair, for systems x flips of sums; `scale` is 0 but
    above the diagonal."""
    systems, flips = totals.shape
    largest = np.zeros(flips)
    for start in range(0, flips, FLIPS_AT_ONCE):
        block, most = totals[:, start : start + FLIPS_AT_ONCE].copy(), largest[start:]
        for first in range(systems - 1):
            for second in range(first + 1, systems):
                if scale[first, second] > 0:
                    _raise_to(most, block[first], block[second], scale[first, second])
    return largest


@njit(cache=True, fastmath={"nnan", "nsz"})
def _raise_to(largest, first, second, scale):  # type: ignore[no-untyped-def]
    """One pair in every flip of a block. Nothing is NaN, and a maximum has the same bits in any
    order, so the compiler may take several flips at a time."""
    for flip in range(len(first)):
        difference = abs(first[flip] - second[flip]) * scale
        largest[flip] = difference if difference > largest[flip] else largest[flip]


def _share_beyond(ordered: Floats, values: Floats) -> Floats:
    beyond = len(ordered) - np.searchsorted(ordered, values - NOISE, side="left")
    return np.asarray((beyond + 1) / (len(ordered) + 1))
