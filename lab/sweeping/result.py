"""Result: what a sweep found, as tables."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.arrays import Floats, Ints
from lab.config.config import Config
from lab.config.experiment import Measure
from lab.config.grid import Grid
from lab.config.rows import settings_table
from lab.corpus.document import Corpus
from lab.errors import RunError, nearest
from lab.evaluation.clusters import FEWEST_GROUPS, Clusters, clustered, main_documents
from lab.evaluation.intervals import mean_intervals
from lab.evaluation.metrics import is_cost
from lab.evaluation.paired import compare
from lab.evaluation.pareto import pareto_front
from lab.evaluation.scores import Scores
from lab.evaluation.selection import Costs, Selection, select
from lab.evaluation.slices import labels
from lab.pipeline.rows import StageRows
from lab.relevance.pieces import Pieces
from lab.relevance.query import Query
from lab.runs.explain import Explanation, explain
from lab.sweeping.costs import costs_of, index_bytes
from lab.sweeping.findings import Findings
from lab.sweeping.heldout import Sealed
from lab.sweeping.preflight.facts import ChunkFacts
from lab.sweeping.profile import Profile

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Result:
    """Everything a sweep found, per question first.

    `values` is systems x scored questions x metrics; `complete` systems x pieces holds the rank at
    which each piece of evidence was complete; `rows` the stage ranks of hits and evidence per
    system; `findings` why pieces were missed; `context_tokens` the mean tokens of what every system
    hands to the reader at the selecting metric's cut-off; `sealed` what questions that no choice
    has seen say of the recommended system, None if none were set aside.
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
    context_tokens: Floats
    rows: tuple[StageRows, ...]
    findings: Findings
    facts: tuple[ChunkFacts, ...]
    notes: tuple[str, ...]
    identities: Mapping[str, str]
    counts: Mapping[str, int]
    seconds: Mapping[str, float]
    peak_mb: Mapping[str, float]
    profile: Profile | None = None
    sealed: Sealed | None = None

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Names of all systems, in the order of the grid."""
        return tuple(config.name for config in self.configs)

    @cached_property
    def clusters(self) -> Clusters:
        """The independent units of every interval and test: documents where questions share them,
        else questions."""
        return clustered(main_documents(self.pieces))

    @cached_property
    def selection(self) -> Selection:
        """The choice by `measure.select_by`: the best system, what cannot be told from it, the
        cheapest of those."""
        groups = clustered(main_documents(self.pieces), FEWEST_GROUPS)
        return select(
            self.column(self.measure.select_by),
            self.clusters,
            groups,
            self.costs,
            self.measure.seed,
            self.systems,
        )

    @cached_property
    def costs(self) -> Costs:
        """What every system costs."""
        return costs_of(self.configs, self.context_tokens, self.profile)

    @cached_property
    def intervals(self) -> tuple[Floats, Floats]:
        """Ends of the 95% interval of every mean (systems x metrics each)."""
        return self._intervals(self.values, self.clusters)

    def _intervals(self, values: Floats, clusters: Clusters) -> tuple[Floats, Floats]:
        ends = np.empty((2, len(values), len(self.metrics)))
        for column, metric in enumerate(self.metrics):
            bounds = None if is_cost(metric) else (0.0, 1.0)
            ends[:, :, column] = mean_intervals(
                values[:, :, column].T, clusters, self.measure.seed, bounds
            )
        return ends[0], ends[1]

    def column(self, metric: str) -> Floats:
        """One metric of every question and system (questions x systems)."""
        if metric not in self.metrics:
            raise RunError(f"metric '{metric}' is not measured{nearest(metric, self.metrics)}")
        return self.values[:, :, self.metrics.index(metric)].T

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
        """One row a system: its settings under the names of Grid; every metric's mean with the ends
        of its 95% interval (`recall@5 low`, `recall@5 high`); the context tokens; then, by the
        selecting metric, `p best`, the chance to lead when questions are drawn again, `picked`, how
        often cross-validation chose it, `p`, against the best and corrected for the choice, `least
        p`, what that could have been at most, and whether the system is `as good as best`, on the
        `pareto` front of quality and costs, and `recommended`. Sets with unanswerable questions add
        how well scores tell them (see `lab.sweeping.findings.Findings.silence`). A profiled sweep
        adds the latencies (see `lab.sweeping.profile.Latency`), which like all times differ from
        run to run."""
        import pandas as pd

        rows = [
            {"system": name, **config.settings()}
            for name, config in zip(self.systems, self.configs, strict=True)
        ]
        low, high = self.intervals
        columns: dict[str, Floats] = {}
        for column, metric in enumerate(self.metrics):
            columns |= {
                metric: _means(self.values[:, :, column]),
                f"{metric} low": low[:, column],
                f"{metric} high": high[:, column],
            }
        chosen, numbers = self.selection, np.arange(len(rows))
        means = columns[self.measure.select_by]
        costs = np.column_stack(
            [self.costs.tokens, self.costs.latency, index_bytes(self.configs, self.profile)]
        )
        found = {
            **columns,
            "context tokens": self.context_tokens,
            "p best": chosen.probability_best,
            "picked": chosen.nested.picked,
            "p": chosen.p,
            "least p": chosen.against.tested.least,
            "as good as best": np.isin(numbers, chosen.undecided),
            "pareto": pareto_front(means, costs),
            "recommended": numbers == chosen.recommended,
            **self.findings.silence(self.systems),
            **(self.profile.columns(self.configs) if self.profile else {}),
        }
        return pd.concat([settings_table(rows), pd.DataFrame(found)], axis=1)

    def slices(self, by: str = "kind") -> "pd.DataFrame":
        """One row a system and slice: means and 95% intervals over the questions of one kind,
        document type (`doctype`), `length`, `language`, or of one value of a tag (see
        `lab.evaluation.slices`)."""
        import pandas as pd

        values = np.array(labels(self.pieces.queries, self.corpus, by))
        tables = []
        for slice_ in sorted(set(values)):
            members = values == slice_
            low, high = self._intervals(self.values[:, members], self.clusters.only(members))
            found: dict[str, object] = {
                "system": self.systems,
                by: slice_,
                "questions": int(members.sum()),
            }
            for column, metric in enumerate(self.metrics):
                found[metric] = _means(self.values[:, members, column])
                found |= {f"{metric} low": low[:, column], f"{metric} high": high[:, column]}
            tables.append(pd.DataFrame(found))
        return pd.concat(tables, ignore_index=True)

    def against(self, system: str, metric: str | None = None) -> "pd.DataFrame":
        """Every other system compared with one named in advance: difference with interval, p (Holm
        over these comparisons) and the least it could be, effect size, wins, ties, losses, verdict
        (see `lab.evaluation.paired`)."""
        import pandas as pd

        scores, baseline = self.column(metric or self.measure.select_by), self.index(system)
        others = [number for number in range(len(self.systems)) if number != baseline]
        found = compare(scores[:, others] - scores[:, [baseline]], self.clusters, self.measure.seed)
        columns = {name: getattr(found, name) for name in found.__dataclass_fields__}
        return pd.DataFrame(
            {
                "system": [self.systems[other] for other in others],
                **columns,
                "verdict": found.verdicts,
            }
        )

    @property
    def recommended(self) -> str:
        """Name of the cheapest system within one standard error of the best."""
        return self.systems[self.selection.recommended]

    def causes(self) -> "pd.DataFrame":
        """Why pieces were missed: a row a system and missed piece (see
        `lab.diagnosis.misses.Miss`)."""
        return self.findings.causes(self.systems)

    def waterfall(self, system: str | None = None) -> "pd.DataFrame":
        """From 100% down to a system's recall, by default the best one's: what each cause lost, how
        much of that is verified, what is left, and the ceiling if all of it came back, as far as k
        places can hold it; all questions, then every kind (see `lab.diagnosis.waterfall`)."""
        import pandas as pd

        number = self.selection.best if system is None else self.index(system)
        return pd.DataFrame(map(asdict, self.findings.waterfall(number, self.pieces)))

    def rescues(self) -> "pd.DataFrame":
        """Pairs of systems that differ in one setting: questions that `after` rescues and breaks,
        their net, and the exact McNemar p; the largest net first."""
        import pandas as pd

        found = self.findings.rescues(self.configs, self.pieces)
        return pd.DataFrame(
            {**asdict(r), "a": self.systems[r.a], "b": self.systems[r.b], "net": r.net}
            for r in found
        )

    def alphas(self) -> "pd.DataFrame":
        """What alpha does to every hybrid family before any reranker, exactly, by every metric over
        ranks: best plateau, regret of one alpha for all, oracle, and robust, fragile and hopeless
        questions; all questions, then every kind."""
        return self.findings.alphas(self.pieces, self.metrics)[0]

    def separation(self) -> "pd.DataFrame":
        """How well each stage's best score tells answerable from unanswerable questions; a row a
        system and stage (see `lab.diagnosis.separation.Separation`)."""
        return self.findings.separation()

    def thresholds(self) -> "pd.DataFrame":
        """What `rerank.threshold` does to precision@3 and recall@5, and how many unanswerable
        questions it silences; a row a system that reranks and threshold (see
        `lab.diagnosis.separation.ThresholdEffect`)."""
        return self.findings.thresholds()

    def explain(self, query_id: str, system: str | None = None) -> Explanation:
        """Every stage's rank of one question's evidence under a system, by default the best one."""
        from lab.sweeping.tables import run_of

        return explain(run_of(self), self.corpus, self.queries, query_id, system or self.best)

    def write(self, path: str | Path) -> Path:
        """Write the run folder with its report (see `lab.runs.folder`); a complete older run at the
        place is replaced."""
        from lab.runs.folder import write_run
        from lab.sweeping.tables import run_of

        run = run_of(self)
        return write_run(
            run, Path(path), {"report.html": _report("page").page(run, self.corpus, self.queries)}
        )

    @property
    def plot(self) -> Any:
        """The report's plots as Plotly figures: `plot.heatmap()`, `plot.pareto()` ... (see
        `lab.report.page.notebook.Plots`)."""
        from lab.sweeping.tables import run_of

        return _report("notebook").Plots(run_of(self))

    def _repr_html_(self) -> str:
        """What a notebook shows for a result."""
        from lab.sweeping.tables import run_of

        return str(_report("notebook").html_of(run_of(self)))


def _report(file: str) -> Any:
    """A file of the report, by name: that room lies further down and imports this one; only a
    person's own call goes there."""
    return import_module(f"lab.report.page.{file}")


def _means(values: Floats) -> Floats:
    """Means over questions (systems x questions), without those that have no value."""
    known = ~np.isnan(values)
    total, count = np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1)
    return np.asarray(np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0))
