"""What alpha curves say together: robust, fragile and hopeless questions, the best plateau, slices,
regret and the oracle."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lab.arrays import Floats
from lab.diagnosis.alpha.curve import Curve
from lab.evaluation.metrics import Metric
from lab.evaluation.scores import SystemRun, score
from lab.relevance.judge import Judged
from lab.relevance.pieces import Pieces
from lab.retrieval.ranking import Ranking

ROBUST = 0.8
# Alphas within this of the best mean belong to its plateau.
FLAT = 1e-9
# Alphas whose mean is this much lower at most do about as well.
NEAR_BEST = 0.01


def has_curve(metric: Metric, cap: int) -> bool:
    """Whether a metric is a function of ranks within the cap, so that it has an exact curve; token
    budgets are not."""
    return metric.family.by_ranks and not metric.by_tokens and 0 < metric.k <= cap


@dataclass(frozen=True, eq=False)
class StepCurve:
    """A mean over questions as an exact function of alpha: `value[t]` from `low[t]` to `high[t]`;
    the first and the last step are the points 0 and 1, between them neighbours differ."""

    low: Floats
    high: Floats
    value: Floats

    @cached_property
    def best(self) -> tuple[float, float, float]:
        """(low, high, value) of the highest plateau; of equally high ones the widest."""
        top = float(self.value.max())
        low, high = max(self._stretches(top - FLAT), key=lambda run: run[1] - run[0])
        return low, high, top

    @property
    def near_best(self) -> tuple[float, float]:
        """The alphas around the best plateau that stay within `NEAR_BEST` of it."""
        low, _, top = self.best
        return next(run for run in self._stretches(top - NEAR_BEST) if run[0] <= low <= run[1])

    def _stretches(self, least: float) -> list[tuple[float, float]]:
        """The intervals of alpha in which the mean is `least` or more."""
        stretches: list[tuple[float, float]] = []
        for low, high in zip(
            self.low[self.value >= least].tolist(),
            self.high[self.value >= least].tolist(),
            strict=True,
        ):
            if stretches and stretches[-1][1] == low:
                stretches[-1] = (stretches[-1][0], high)
            else:
                stretches.append((low, high))
        return stretches

    def at(self, alphas: Floats) -> Floats:
        """The mean at each alpha, at a border that of the step above it."""
        inner = np.maximum(np.searchsorted(self.low[1:-1], alphas, side="right"), 1)
        return np.asarray(
            self.value[np.where(alphas <= 0, 0, np.where(alphas >= 1, len(self.low) - 1, inner))]
        )


def mean_curve(curves: Sequence[Curve], values: Sequence[Floats]) -> StepCurve:
    """The mean of what every question scores at each of its own steps."""
    edges = np.unique(np.concatenate([curve.low for curve in curves]))
    inner = edges[(edges > 0) & (edges < 1)]
    low, high = (
        np.concatenate(([0.0, 0.0], inner, [1.0])),
        np.concatenate(([0.0], inner, [1.0, 1.0])),
    )
    total = np.zeros(len(low))
    for curve, of_question in zip(curves, values, strict=True):
        step = np.searchsorted(curve.low[1:-1], low[1:-1], side="right")
        total += np.concatenate(
            ([of_question[0]], of_question[np.maximum(step, 1)], [of_question[-1]])
        )
    mean = total / len(curves)
    first = np.ones(len(low), dtype=bool)
    first[2:-1] = mean[2:-1] != mean[1:-2]
    starts = np.flatnonzero(first)
    return StepCurve(low[starts], high[np.append(starts[1:], len(low)) - 1], mean[starts])


def metric_values(
    curves: Sequence[Curve], asked: Pieces, metrics: Sequence[Metric]
) -> list[list[Floats]]:
    """Each metric of every question at each step of its curve, by the evaluation's own code: a
    step's ranks are all that a metric over ranks looks at, so every step is scored as a question of
    its own. `curves` has one a question of `asked`."""
    steps = [len(curve.low) for curve in curves]
    of = np.concatenate(
        [np.tile(np.flatnonzero(asked.query == query), count) for query, count in enumerate(steps)]
    )
    row = np.repeat(np.arange(sum(steps)), np.repeat(asked.per_query, steps))
    queries = tuple(
        query for query, count in zip(asked.queries, steps, strict=True) for _ in range(count)
    )
    many = Pieces(asked.unit, queries, (), tuple(asked.items[piece] for piece in of), row)
    complete = np.concatenate([curve.complete.T.reshape(-1) for curve in curves])
    deepest = max(metric.k for metric in metrics)
    relevant, first = np.zeros((len(queries), deepest), dtype=bool), 0
    for curve, count in zip(curves, steps, strict=True):
        thing, step = np.nonzero(curve.relevant <= deepest)
        relevant[first + step, curve.relevant[thing, step] - 1] = True
        first += count
    nothing = Ranking(np.zeros((len(queries), 0), dtype=np.int64), np.zeros((len(queries), 0)))
    # Metrics over ranks never ask the judge: what it found is given.
    run = SystemRun(None, Judged(nothing, complete, relevant), np.zeros(0, dtype=np.int64))  # type: ignore[arg-type]
    values = score(many, [run], metrics)[0]
    return [np.split(column, np.cumsum(steps)[:-1]) for column in values.T]


def values_at(curves: Sequence[Curve], values: Sequence[Floats], alphas: Floats) -> Floats:
    """Questions x alphas: what every question scores at each alpha."""
    pairs = zip(curves, values, strict=True)
    return np.array([of_question[curve.steps(alphas)] for curve, of_question in pairs])


def width_within(curve: Curve, k: int) -> float:
    """Share of [0, 1] in which every piece of the question is complete within k; -1 where no alpha
    does it."""
    whole = (curve.complete <= k).all(axis=0)
    return float((curve.high - curve.low)[whole].sum()) if whole.any() else -1.0


def sensitivity(curve: Curve, k: int) -> str:
    """`robust` when at least 80% of all alphas have every piece within k, `hopeless` when none has,
    else `fragile`."""
    width = width_within(curve, k)
    return "hopeless" if width < 0 else "robust" if width >= ROBUST else "fragile"


@dataclass(frozen=True, eq=False)
class AlphaSummary:
    """Alpha over the questions of one slice, by one metric: `steps` is the mean, exact at every
    alpha, `at_common` the mean at the middle of the best plateau of all questions, and `oracle` the
    mean if every question had its own best alpha. `robust`, `fragile` and `hopeless` count
    questions by recall at the cut-off."""

    metric: str
    slice: str
    questions: int
    steps: StepCurve
    at_common: float
    oracle: float
    robust: int
    fragile: int
    hopeless: int

    @property
    def value(self) -> float:
        """The mean at the slice's own best plateau."""
        return self.steps.best[2]

    @property
    def regret(self) -> float:
        """What one alpha for all costs against the slice's own best."""
        return self.value - self.at_common

    @property
    def row(self) -> dict[str, object]:
        """The columns of a table: the best plateau from `low` to `high`, about as good from
        `near_low` to `near_high`."""
        return {name: getattr(self, name) for name in ("metric", "slice", "questions")} | {
            **dict(zip(("low", "high", "value"), self.steps.best, strict=True)),
            **dict(zip(("near_low", "near_high"), self.steps.near_best, strict=True)),
            **{
                name: getattr(self, name)
                for name in ("at_common", "regret", "oracle", "robust", "fragile", "hopeless")
            },
        }


def summaries(
    curves: Sequence[Curve], slices: Sequence[str], k: int, metric: str, values: Sequence[Floats]
) -> tuple[AlphaSummary, ...]:
    """`all` questions first, then every slice; `slices` names the slice of each question and
    `values` has the metric at each step of its curve. The common alpha is the middle of the best
    plateau of all."""
    sensitivities, best = (
        [sensitivity(curve, k) for curve in curves],
        [value.max() for value in values],
    )
    common: Floats | None = None
    rows = []
    for name in ("all", *sorted(set(slices))):
        members = [i for i, of in enumerate(slices) if name in ("all", of)]
        steps = mean_curve([curves[i] for i in members], [values[i] for i in members])
        if common is None:
            common = np.array([sum(steps.best[:2]) / 2])
        counts = Counter(sensitivities[i] for i in members)
        rows.append(
            AlphaSummary(
                metric=metric,
                slice=name,
                questions=len(members),
                steps=steps,
                at_common=float(steps.at(common)[0]),
                oracle=float(np.mean([best[i] for i in members])),
                robust=counts["robust"],
                fragile=counts["fragile"],
                hopeless=counts["hopeless"],
            )
        )
    return tuple(rows)
