"""Result: what a sweep found, as tables."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.corpus.document import Corpus
from lab.diagnosis.explain import Explanation, explain
from lab.errors import RunError, nearest
from lab.evaluation.scores import Scores
from lab.evaluation.selection import Selection, select
from lab.evaluation.statistics import bootstrap_interval
from lab.experiment.config import SETTINGS, Config
from lab.experiment.experiment import Measure
from lab.experiment.facts import ChunkFacts
from lab.experiment.grid import Grid
from lab.experiment.rows import StageRows
from lab.truth.pieces import Ints, Pieces
from lab.truth.query import Query

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Result:
    """Everything a sweep found, per question first.

    `values` is systems x scored questions x metrics; `complete` systems x pieces holds the rank at which each piece of
    evidence was complete; `rows` the stage ranks of hits and evidence per system.
    """

    name: str
    configs: tuple[Config, ...]
    grid: Grid
    measure: Measure
    corpus: Corpus
    queries: tuple[Query, ...]
    pieces: Pieces
    metrics: tuple[str, ...]
    values: Floats
    complete: Ints
    rows: tuple[StageRows, ...]
    facts: tuple[ChunkFacts, ...]
    notes: tuple[str, ...]
    identities: Mapping[str, str]
    counts: Mapping[str, int]
    seconds: Mapping[str, float]

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Names of all systems, in the order of the grid."""
        return tuple(config.name for config in self.configs)

    @cached_property
    def selection(self) -> Selection:
        """The best system by `measure.select_by` and what cannot be told from it."""
        return select(self.values[:, :, self.metrics.index(self.measure.select_by)].T, self.measure.seed)

    @property
    def best(self) -> str:
        """Name of the system with the highest mean of `measure.select_by`."""
        return self.systems[self.selection.best]

    def scores(self, system: str) -> Scores:
        """Per-question scores of one system."""
        ids = tuple(query.query_id for query in self.pieces.queries)
        return Scores(ids, self.metrics, self.values[self.index(system)], self.pieces.unscored)

    def index(self, system: str) -> int:
        """Place of a system by name; raises RunError with the nearest name."""
        if system not in self.systems:
            raise RunError(f"no system '{system}' in this run{nearest(system, self.systems)}")
        return self.systems.index(system)

    def table(self) -> "pd.DataFrame":
        """One row a system: its settings under the names of Grid, the mean of every metric, the 95% interval of the
        selecting one, and whether the questions tell it from the best."""
        import pandas as pd

        rows = [{"system": name, **config.settings()} for name, config in zip(self.systems, self.configs, strict=True)]
        table = pd.DataFrame(rows, columns=["system", *SETTINGS])
        for column, metric in enumerate(self.metrics):
            table[metric] = np.nanmean(self.values[:, :, column], axis=1)
        chosen = self.measure.select_by
        low, high = bootstrap_interval(self.values[:, :, self.metrics.index(chosen)].T, self.measure.seed)
        table[f"{chosen} low"], table[f"{chosen} high"] = low, high
        table["p (Holm)"] = self.selection.p
        table["as good as best"] = np.isin(np.arange(len(table)), self.selection.undecided)
        return table

    def slices(self, by: str = "kind") -> "pd.DataFrame":
        """One row a system and slice: the means over the questions of one kind, or of one value of a tag."""
        import pandas as pd

        values = np.array([query.kind if by == "kind" else query.tags.get(by, "") for query in self.pieces.queries])
        rows = []
        for slice_ in sorted(set(values)):
            members = values == slice_
            means = np.nanmean(self.values[:, members], axis=1)
            for system, name in enumerate(self.systems):
                row = dict(zip(self.metrics, means[system], strict=True))
                rows.append({"system": name, by: slice_, "questions": int(members.sum()), **row})
        return pd.DataFrame(rows)

    def explain(self, query_id: str, system: str | None = None) -> Explanation:
        """Every stage's rank of one question's evidence under a system, by default the best one."""
        from lab.experiment.run_folder import run_of

        return explain(run_of(self), self.corpus, self.queries, query_id, system or self.best)

    def write(self, path: str | Path) -> Path:
        """Write the run folder (see `lab.experiment.run_folder`); a complete older run at the place is replaced."""
        from lab.experiment.run_folder import run_of, write_run

        return write_run(run_of(self), Path(path))
