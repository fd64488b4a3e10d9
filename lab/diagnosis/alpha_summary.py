"""What alpha curves say together: robust, fragile and hopeless questions, the best plateau, slices, regret and the oracle."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.diagnosis.alpha import Curve

Floats = NDArray[np.float64]
ROBUST = 0.8
# Alphas within this of the best mean belong to its plateau.
FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class StepCurve:
    """A mean over questions as an exact function of alpha: `value[t]` from `low[t]` to `high[t]`; the first and the last step
    are the points 0 and 1."""

    low: Floats
    high: Floats
    value: Floats

    @property
    def best(self) -> tuple[float, float, float]:
        """(low, high, value) of the highest plateau; of equally high ones the widest."""
        top, runs = self.value.max() - FLAT, list[tuple[float, float]]()
        for low, high, value in zip(self.low, self.high, self.value, strict=True):
            if value < top:
                continue
            if runs and runs[-1][1] == low:
                runs[-1] = (runs[-1][0], float(high))
            else:
                runs.append((float(low), float(high)))
        low, high = max(runs, key=lambda run: run[1] - run[0])
        return low, high, float(self.value.max())

    def at(self, alphas: Floats) -> Floats:
        """The mean at each alpha, at a border that of the step above it."""
        inner = np.maximum(np.searchsorted(self.low[1:-1], alphas, side="right"), 1)
        return np.asarray(self.value[np.where(alphas <= 0, 0, np.where(alphas >= 1, len(self.low) - 1, inner))])


def recall_curve(curves: Sequence[Curve], k: int) -> StepCurve:
    """Mean recall@k of the questions, exact at every alpha."""
    edges = np.unique(np.concatenate([curve.low for curve in curves]))
    inner = edges[(edges > 0) & (edges < 1)]
    low, high = np.concatenate(([0.0, 0.0], inner, [1.0])), np.concatenate(([0.0], inner, [1.0, 1.0]))
    total = np.zeros(len(low))
    for curve in curves:
        recall = (curve.complete <= k).mean(axis=0)
        step = np.searchsorted(curve.low[1:-1], low[1:-1], side="right")
        total += np.concatenate(([recall[0]], recall[np.maximum(step, 1)], [recall[-1]]))
    return StepCurve(low, high, total / len(curves))


def width_within(curve: Curve, k: int) -> float:
    """Share of [0, 1] in which every piece of the question is complete within k; -1 where no alpha does it."""
    whole = (curve.complete <= k).all(axis=0)
    return float((curve.high - curve.low)[whole].sum()) if whole.any() else -1.0


def temper(curve: Curve, k: int) -> str:
    """`robust` when at least 80% of all alphas have every piece within k, `hopeless` when none has, else `fragile`."""
    width = width_within(curve, k)
    return "hopeless" if width < 0 else "robust" if width >= ROBUST else "fragile"


@dataclass(frozen=True, slots=True)
class AlphaSummary:
    """Alpha over the questions of one slice: the best plateau [low, high] and its mean recall@k, the recall at the plateau of
    all questions (`at_common`), and `oracle`, the mean if every question had its own best alpha. `robust`, `fragile` and
    `hopeless` count questions."""

    slice: str
    questions: int
    low: float
    high: float
    recall: float
    at_common: float
    oracle: float
    robust: int
    fragile: int
    hopeless: int

    @property
    def regret(self) -> float:
        """What one alpha for all costs against the slice's own best."""
        return self.recall - self.at_common


def summaries(curves: Sequence[Curve], slices: Sequence[str], k: int) -> tuple[AlphaSummary, ...]:
    """`all` questions first, then every slice; `slices` names the slice of each question. The common alpha is the middle of
    the best plateau of all."""
    low, high, _ = recall_curve(curves, k).best
    common = np.array([(low + high) / 2])
    names = [("all", list(range(len(curves))))]
    names += [(name, [i for i, of in enumerate(slices) if of == name]) for name in sorted(set(slices))]
    found = []
    for name, members in names:
        some = [curves[i] for i in members]
        steps, tempers = recall_curve(some, k), [temper(curve, k) for curve in some]
        oracle = float(np.mean([(curve.complete <= k).mean(axis=0).max() for curve in some]))
        counts = (tempers.count("robust"), tempers.count("fragile"), tempers.count("hopeless"))
        found.append(AlphaSummary(name, len(some), *steps.best, float(steps.at(common)[0]), oracle, *counts))
    return tuple(found)
