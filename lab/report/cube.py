"""Cube: the scores of a run as one array, in the order of its tables."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.arrays import Floats
from lab.evaluation.against_best import against_best
from lab.evaluation.clusters import Clusters, clustered
from lab.evaluation.nested import best_of
from lab.evaluation.paired import Paired, compare
from lab.evaluation.verdict import ALPHA
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Cube:
    """`values` is systems x scored questions x metrics; `clusters` are the independent units of the
    questions."""

    systems: tuple[str, ...]
    query_ids: tuple[str, ...]
    metrics: tuple[str, ...]
    values: Floats
    clusters: Clusters
    seed: int

    def column(self, system: str, metric: str) -> Floats:
        """One metric of one system, question by question."""
        return self.values[self.systems.index(system), :, self.metrics.index(metric)]

    def against(self, system: str, baseline: str) -> Paired:
        """One system minus another, a comparison for every metric."""
        first, second = (self.values[self.systems.index(name)] for name in (system, baseline))
        return compare(first - second, self.clusters, self.seed)

    def undecided(self, metric: str) -> tuple[str, ...]:
        """Systems that the questions do not tell from the best by one metric (5% level, corrected
        for the choice)."""
        scores = np.nan_to_num(self.values[:, :, self.metrics.index(metric)].T)
        against = against_best(
            self.clusters.sums(scores),
            int(best_of(scores.mean(axis=0))),
            self.seed,
            sizes=self.clusters.sizes,
        )
        return tuple(self.systems[i] for i in np.flatnonzero(against.tested.p >= ALPHA))


def cube_of(run: Run) -> Cube:
    """The scores of a run; its table holds every system, question and metric once, in that
    order."""
    systems, query_ids, metrics = (
        _categories(run.scores[key]) for key in ("system", "query_id", "metric")
    )
    values = (
        run.scores["value"]
        .to_numpy(dtype=np.float64)
        .reshape(len(systems), len(query_ids), len(metrics))
    )
    documents = (
        run.questions.set_index("query_id")["doc_id"].loc[list(query_ids)].to_numpy(dtype=str)
    )
    return Cube(
        systems,
        query_ids,
        metrics,
        values,
        clustered(documents),
        int(run.manifest["measure"]["seed"]),
    )


def _categories(column: "pd.Series") -> tuple[str, ...]:
    return tuple(str(value) for value in column.unique())
