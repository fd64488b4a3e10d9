"""What alpha curves say together: robust, fragile and hopeless questions, the best plateau, slices, regret and the oracle."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.diagnosis.alpha import Curve
from lab.evaluation.metrics import RANX, Metric
from lab.evaluation.scores import SystemRun, score
from lab.retrieval.ranking import Ranking
from lab.truth.judge import Judged
from lab.truth.pieces import Pieces

Floats = NDArray[np.float64]
ROBUST = 0.8
# Alphas within this of the best mean belong to its plateau.
FLAT = 1e-9


def has_curve(metric: Metric, cap: int) -> bool:
    """Whether a metric is a function of ranks within the cap, so that it has an exact curve; token budgets are not."""
    return metric.name in (*RANX, "front_hit") and not metric.by_tokens and 0 < metric.k <= cap


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
    return mean_curve(curves, [(curve.complete <= k).mean(axis=0) for curve in curves])


def mean_curve(curves: Sequence[Curve], values: Sequence[Floats]) -> StepCurve:
    """The mean of what every question scores at each of its own steps."""
    edges = np.unique(np.concatenate([curve.low for curve in curves]))
    inner = edges[(edges > 0) & (edges < 1)]
    low, high = np.concatenate(([0.0, 0.0], inner, [1.0])), np.concatenate(([0.0], inner, [1.0, 1.0]))
    total = np.zeros(len(low))
    for curve, own in zip(curves, values, strict=True):
        step = np.searchsorted(curve.low[1:-1], low[1:-1], side="right")
        total += np.concatenate(([own[0]], own[np.maximum(step, 1)], [own[-1]]))
    return StepCurve(low, high, total / len(curves))


def metric_values(curves: Sequence[Curve], asked: Pieces, metric: Metric) -> list[Floats]:
    """A metric of every question at each step of its curve, by the evaluation's own code: a step's ranks are all that a metric
    over ranks looks at, so every step is scored as a question of its own. `curves` has one a question of `asked`."""
    steps = [len(curve.low) for curve in curves]
    of = np.concatenate([np.tile(np.flatnonzero(asked.query == query), count) for query, count in enumerate(steps)])
    row = np.repeat(np.arange(sum(steps)), np.repeat(asked.per_query, steps))
    queries = tuple(query for query, count in zip(asked.queries, steps, strict=True) for _ in range(count))
    many = Pieces(asked.unit, queries, (), tuple(asked.items[piece] for piece in of), row)
    complete = np.concatenate([curve.complete.T.reshape(-1) for curve in curves])
    relevant, first = np.zeros((len(queries), metric.k), dtype=bool), 0
    for curve, count in zip(curves, steps, strict=True):
        thing, step = np.nonzero(curve.relevant <= metric.k)
        relevant[first + step, curve.relevant[thing, step] - 1] = True
        first += count
    nothing = Ranking(np.zeros((len(queries), 0), dtype=np.int64), np.zeros((len(queries), 0)))
    # Metrics over ranks never ask the judge: what it found is given.
    run = SystemRun(None, Judged(nothing, complete, relevant), np.zeros(0, dtype=np.int64))  # type: ignore[arg-type]
    return np.split(score(many, [run], [metric])[0, :, 0], np.cumsum(steps)[:-1])


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
    """Alpha over the questions of one slice, by one metric: the best plateau [low, high] and its mean `value`, the mean at the
    plateau of all questions (`at_common`), and `oracle`, the mean if every question had its own best alpha. `robust`, `fragile`
    and `hopeless` count questions by recall at the cut-off."""

    metric: str
    slice: str
    questions: int
    low: float
    high: float
    value: float
    at_common: float
    oracle: float
    robust: int
    fragile: int
    hopeless: int

    @property
    def regret(self) -> float:
        """What one alpha for all costs against the slice's own best."""
        return self.value - self.at_common


def summaries(
    curves: Sequence[Curve], slices: Sequence[str], k: int, metric: str, values: Sequence[Floats]
) -> tuple[AlphaSummary, ...]:
    """`all` questions first, then every slice; `slices` names the slice of each question and `values` has the metric at each
    step of its curve. The common alpha is the middle of the best plateau of all."""
    low, high, _ = mean_curve(curves, values).best
    common = np.array([(low + high) / 2])
    names = [("all", list(range(len(curves))))]
    names += [(name, [i for i, of in enumerate(slices) if of == name]) for name in sorted(set(slices))]
    found = []
    for name, members in names:
        some, own = [curves[i] for i in members], [values[i] for i in members]
        steps, tempers = mean_curve(some, own), [temper(curve, k) for curve in some]
        oracle = float(np.mean([value.max() for value in own]))
        counts = (tempers.count("robust"), tempers.count("fragile"), tempers.count("hopeless"))
        found.append(AlphaSummary(metric, name, len(some), *steps.best, float(steps.at(common)[0]), oracle, *counts))
    return tuple(found)
