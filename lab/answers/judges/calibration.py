"""Whether a judge's confidence means what it says: calibration error, Brier score, and what is left
wrong when only the surest judgements are kept."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import Bools, Floats

BINS = 10


@dataclass(frozen=True, eq=False)
class Calibration:
    """`ece` is the expected calibration error (Naeini et al. 2015, ten equal bins): the mean
    distance between confidence and share right, weighted by the judgements of a bin. `brier` is the
    mean squared distance of confidence and right (1) or wrong (0). `coverage` and `risk` are the
    risk-coverage curve: keeping the surest share of judgements, the share of them that is wrong;
    `area` is the mean risk over that curve. Equal confidences enter together."""

    judgements: int
    ece: float
    brier: float
    coverage: Floats
    risk: Floats
    area: float


def calibration(confidence: Floats, right: Bools) -> Calibration:
    """Judge confidences in [0, 1] by what people say of the same judgements; at least one."""
    correct = right.astype(np.float64)
    bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    sizes = np.bincount(bins, minlength=BINS)
    gaps = np.abs(
        np.bincount(bins, weights=confidence, minlength=BINS)
        - np.bincount(bins, weights=correct, minlength=BINS)
    )
    order = np.argsort(-confidence, kind="stable")
    wrong = np.cumsum(1 - correct[order])
    count = np.arange(1, len(order) + 1)
    last = np.append(np.diff(confidence[order]) != 0, True)
    risk = wrong / count
    steps = np.diff(np.append(0, count[last]))
    return Calibration(
        judgements=len(confidence),
        ece=float(gaps.sum() / sizes.sum()),
        brier=float(np.mean((confidence - correct) ** 2)),
        coverage=count[last] / len(order),
        risk=risk[last],
        area=float((risk[last] * steps).sum() / len(order)),
    )
