"""A run's metrics looked at themselves: which say the same, and what the means hide."""

from dataclasses import dataclass

import numpy as np

from lab.evaluation.metrics import is_cost
from lab.evaluation.redundancy import Redundancy, redundancy
from lab.evaluation.risk import georisk, hurt
from lab.runs.tables import Tables


@dataclass(frozen=True, slots=True)
class Risk:
    """One system by the selecting metric: its `mean`, how many questions it hurts and helps against
    the baseline (by 0.2 or more), and its GeoRisk."""

    system: str
    mean: float
    hurt: int
    helped: int
    georisk: float


@dataclass(frozen=True, eq=False)
class MetricStudy:
    """Which metrics say the same, and the risk of every system, the highest mean first."""

    select_by: str
    baseline: str
    questions: int
    same: Redundancy
    risks: tuple[Risk, ...]


def metric_study(tables: Tables, baseline: str) -> MetricStudy:
    """See `lab.evaluation.redundancy` and `lab.evaluation.risk`."""
    costs, compared = [is_cost(metric) for metric in tables.metrics], tables.compared
    same = redundancy(tables.values[compared], tables.metrics, tables.clusters, costs)
    scores = np.nan_to_num(tables.column(tables.select_by)[:, compared])
    place = tables.place(tables.comparable(baseline))
    lost, won = hurt(scores, compared.tolist().index(place))
    risks, means = georisk(scores), scores.mean(axis=0)
    order = np.argsort(-np.round(means, 12), kind="stable").tolist()
    rows = (
        Risk(tables.names[compared[s]], float(means[s]), int(lost[s]), int(won[s]), float(risks[s]))
        for s in order
    )
    return MetricStudy(tables.select_by, tables.named(baseline), len(scores), same, tuple(rows))
