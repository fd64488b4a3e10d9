"""Tables: a finished sweep as plain data, the same in memory and on disk."""

from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lab.arrays import Floats, Ints
from lab.config.rows import is_absent
from lab.config.settings import of_stage
from lab.errors import RunError, nearest
from lab.evaluation.clusters import Clusters, clustered
from lab.evaluation.phases import PhaseScores, phase_means
from lab.runs.labels import labels, shown_settings

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Tables:
    """The content of a run folder: `manifest` says what was run, and every table is described
    column by column in `lab.runs.columns`. What is absent is null."""

    manifest: dict[str, Any]
    systems: "pd.DataFrame"
    scores: "pd.DataFrame"
    phases: "pd.DataFrame"
    rankings: "pd.DataFrame"
    evidence: "pd.DataFrame"
    questions: "pd.DataFrame"
    causes: "pd.DataFrame"
    curves: "pd.DataFrame"
    alphas: "pd.DataFrame"
    means: "pd.DataFrame"
    separation: "pd.DataFrame"
    thresholds: "pd.DataFrame"
    calls: "pd.DataFrame"
    weighing: "pd.DataFrame"
    weights: "pd.DataFrame"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of all systems, in the order of the grid."""
        return tuple(map(str, self.systems["system"]))

    @cached_property
    def shown(self) -> "pd.DataFrame":
        """The settings that vary, a text column for each (see `lab.runs.labels.shown_settings`)."""
        return shown_settings(self.systems)

    @cached_property
    def labels(self) -> dict[str, str]:
        """Name -> short label of every system, as screens and reports print it."""
        return labels(self.systems, self.shown)

    @cached_property
    def query_ids(self) -> tuple[str, ...]:
        """Ids of the scored questions, in order."""
        return tuple(map(str, self.scores["query_id"].unique()))

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Every measured metric, in the order of the experiment."""
        return tuple(map(str, self.scores["metric"].unique()))

    @cached_property
    def values(self) -> Floats:
        """Systems x scored questions x metrics: the scores as one array. NaN where a question has
        no value."""
        shape = len(self.names), len(self.query_ids), len(self.metrics)
        return np.asarray(self.scores["value"], dtype=np.float64).reshape(shape)

    @cached_property
    def by_phase(self) -> Floats | None:
        """Phases x systems x scored questions x metrics: the scores of which `values` are the
        means; systems that were run once have the same at each. None where all were."""
        if self.phases.empty:
            return None
        run_at = [place for place, name in enumerate(self.names) if name in self.phased]
        scores = np.asarray(self.phases["value"], dtype=np.float64)
        scores = scores.reshape(len(run_at), -1, len(self.query_ids), len(self.metrics))
        every = np.tile(self.values, (scores.shape[1], 1, 1, 1))
        every[:, run_at] = scores.swapaxes(0, 1)
        return every

    @cached_property
    def phased(self) -> tuple[str, ...]:
        """Names of the systems that were run at several phases."""
        return tuple(map(str, self.phases["system"].unique()))

    @cached_property
    def cuts(self) -> Ints:
        """A number for every system that those with the same chunking share."""
        columns = [setting.name for setting in of_stage("chunk")]
        rows = self.systems.reindex(columns=columns).to_numpy(dtype=object).tolist()
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(repr(row), len(numbers)) for row in rows])

    @cached_property
    def documents(self) -> NDArray[np.str_]:
        """The main document of every scored question."""
        by_id = self.questions.set_index("query_id")["doc_id"]
        return np.array(by_id.loc[list(self.query_ids)].tolist(), dtype=np.str_)

    @cached_property
    def clusters(self) -> Clusters:
        """The independent units of every interval and test."""
        return clustered(self.documents)

    @cached_property
    def from_the_cheapest(self) -> Ints:
        """Places of the systems, the cheapest first, of equals by name: the order in which a choice
        settles ties."""
        return np.asarray(self.systems["cost_rank"], dtype=np.int64).argsort()

    @cached_property
    def ranked(self) -> "pd.DataFrame":
        """The table of systems, the best by the selecting metric first; of equals the cheaper.
        Those that cannot be compared stand last."""
        ordered = self.systems.iloc[self.from_the_cheapest]
        ranked = ordered.sort_values(self.select_by, ascending=False, kind="stable")
        return ranked.sort_values(
            "system", key=lambda names: names.isin(self.not_comparable), kind="stable"
        )

    @cached_property
    def not_comparable(self) -> dict[str, str]:
        """System -> why its figures cannot be compared, of those that take part in no choice."""
        return dict(self.manifest["conclusions"]["not_comparable"])

    @cached_property
    def compared(self) -> Ints:
        """Places of the systems that take part in choices and tests."""
        return np.flatnonzero([name not in self.not_comparable for name in self.names])

    def comparable(self, system: str) -> str:
        """The full name of a system; raises RunError for one whose figures cannot be compared."""
        name = self.named(system)
        if name in self.not_comparable:
            raise RunError(f"'{name}' is not comparable: {self.not_comparable[name]}")
        return name

    @cached_property
    def best_of_modes(self) -> list[str]:
        """The best system of every mode that has one to compare, the best first."""
        ranked = self.ranked[~self.ranked["system"].isin(self.not_comparable)]
        return [str(name) for name in ranked.groupby("mode", sort=False)["system"].first()]

    @property
    def seed(self) -> int:
        """What all resampling starts from."""
        return int(self.manifest["measure"]["seed"])

    @property
    def select_by(self) -> str:
        """The metric that chooses."""
        return str(self.manifest["measure"]["select_by"])

    @property
    def k(self) -> int:
        """The cut-off in hits that a miss is relative to."""
        return int(self.manifest["causes"]["k"])

    def named(self, system: str) -> str:
        """The full name of a system, given it or the short label that screens print; raises
        RunError with the nearest name when the run has no such system."""
        if system in self.names:
            return system
        full = [name for name, label in self.labels.items() if label == system]
        if full:
            return full[0]
        known = {*self.names, *self.labels.values()}
        raise RunError(f"no system '{system}' in this run{nearest(system, known)}")

    def rows(self, table: str, system: str) -> "pd.DataFrame":
        """The rows of one system in one of the tables."""
        rows: pd.DataFrame = getattr(self, table)
        return rows[rows["system"] == system]

    def whole(self, table: str, column: str, absent: int = 0) -> Ints:
        """A column of whole numbers as an array, with a number where there is none."""
        values: pd.Series = getattr(self, table)[column]
        return np.asarray(values.to_numpy(dtype=np.int64, na_value=absent))

    def place(self, system: str) -> int:
        """Place of a system, by its full name or its short label."""
        return self.names.index(self.named(system))

    def metric_place(self, metric: str) -> int:
        """Place of a metric; raises RunError with the nearest name."""
        if metric not in self.metrics:
            raise RunError(f"metric '{metric}' is not measured{nearest(metric, self.metrics)}")
        return self.metrics.index(metric)

    def phase_means(self, metric: str) -> Floats | None:
        """Means of one metric at every phase (phases x systems); None where there is one phase."""
        if self.by_phase is None:
            return None
        return phase_means(self.by_phase[:, :, :, self.metric_place(metric)].swapaxes(1, 2))

    def phase_scores(self, metric: str) -> PhaseScores | None:
        """One metric of every phase, scored question and system that can be compared; None where
        there is one phase."""
        if self.by_phase is None:
            return None
        values = self.by_phase[..., self.metric_place(metric)][:, self.compared]
        return PhaseScores(values.swapaxes(1, 2), self.cuts[self.compared])

    def column(self, metric: str) -> Floats:
        """One metric of every scored question and system (questions x systems)."""
        return self.values[:, :, self.metric_place(metric)].T


def plain_rows(frame: "pd.DataFrame") -> list[SimpleNamespace]:
    """Rows as plain values by name, None for what is null."""
    return [
        SimpleNamespace(**{key: None if is_absent(value) else value for key, value in row.items()})
        for row in frame.to_dict("records")
    ]
