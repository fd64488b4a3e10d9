"""Run: a finished sweep, fresh or read from its folder; it answers alike."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.corpus.document import Corpus
from lab.errors import counted
from lab.evaluation.cases import Cases
from lab.evaluation.choice import Pairs
from lab.evaluation.paired import Paired
from lab.evaluation.scores import Scores
from lab.evaluation.verdict import Verdict
from lab.relevance.query import Query
from lab.runs.differences import (
    against,
    baseline_of,
    best_by,
    case_by_case,
    chosen_verdicts,
    family,
    paired,
)
from lab.runs.explain import Explanation, explain
from lab.runs.folder import check_place, mark_sealed_use, read_tables, write_run
from lab.runs.inputs import Inputs, Sets, find_corpus, find_questions, find_sets
from lab.runs.losses import rescue_table, waterfall_table
from lab.runs.metrics import MetricStudy, metric_study
from lab.runs.phases import phase_effects, phase_table
from lab.runs.questions import questions_of
from lab.runs.renderer import renderer
from lab.runs.slices import KIND, Sliced, sliced, table_by
from lab.runs.tables import Tables
from lab.runs.weighing import predictor_table, weighing_table

if TYPE_CHECKING:
    import pandas as pd

REPORT = "report.html"


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A finished sweep: `tables` hold what was measured (see `lab.runs.tables.Tables`), `inputs`
    what was given beside it. Wherever a system is asked for, its full name or the short one that
    screens print will do, and the recommended one is meant where none is named."""

    tables: Tables
    inputs: Inputs = field(default_factory=Inputs)
    _families: dict[str, Pairs] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Run({self.manifest['name']!r}, {counted(len(self.systems), 'system')}, "
            f"{counted(len(self.query_ids), 'question')}, recommended {self.recommended!r})"
        )

    @property
    def manifest(self) -> dict[str, Any]:
        """What was run: settings, fingerprints, versions, notes, conclusions."""
        return self.tables.manifest

    @property
    def systems(self) -> tuple[str, ...]:
        """Names of all systems, in the order of the grid."""
        return self.tables.names

    @property
    def labels(self) -> dict[str, str]:
        """Name -> short label of every system."""
        return self.tables.labels

    @property
    def query_ids(self) -> tuple[str, ...]:
        """Ids of the scored questions."""
        return self.tables.query_ids

    @property
    def metrics(self) -> tuple[str, ...]:
        """Every measured metric."""
        return self.tables.metrics

    @property
    def best(self) -> str:
        """The system with the highest mean of the selecting metric, of equals the cheaper, then the
        first by name."""
        return str(self.manifest["best"])

    @property
    def recommended(self) -> str:
        """The cheapest system within one standard error of the best."""
        return str(self.manifest["recommended"])

    @property
    def compared(self) -> tuple[str, ...]:
        """Names of the systems that take part in choices and tests: all but those that did not
        answer too many questions, in the order of the grid."""
        return tuple(self.systems[place] for place in self.tables.compared)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to read before quoting a number."""
        return tuple(self.manifest["notes"])

    @property
    def several_kinds(self) -> bool:
        """Whether the scored questions are of more than one kind."""
        questions = self.tables.questions
        scored = questions["query_id"].isin(self.query_ids)
        return bool(questions.loc[scored, "kind"].nunique() > 1)

    @cached_property
    def baseline(self) -> str:
        """The best BM25 system without a reranker, else the first system of the grid."""
        return baseline_of(self.tables)

    @cached_property
    def corpus(self) -> Corpus:
        """The documents, read at first use; raises RunError when they are not where the run says,
        or have changed."""
        return find_corpus(self.manifest, self.inputs)

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """All questions, scored or not, as the run's own table has them. If others were given, they
        are read and must be the same: raises RunError when they are not."""
        if self.inputs.questions is None:
            return questions_of(self.tables.questions)
        asked = self.tables.questions["query_id"]
        return find_questions(self.manifest, self.inputs, lambda: self.corpus, asked)

    @property
    def sets(self) -> list[Path]:
        """Where the questions were read from; raises RunError for questions made in Python."""
        return find_sets(self.manifest, self.inputs)

    def table(self) -> "pd.DataFrame":
        """One row a system: its settings under the names of Grid; every metric's mean with the ends
        of its 95% interval; what it costs; and by the selecting metric how sure the choice is."""
        return self.tables.systems.copy()

    def scores(self, system: str | None = None) -> Scores:
        """Per-question scores of one system."""
        place = self.tables.place(system or self.recommended)
        unscored = tuple(
            (query_id, why) for query_id, why in self.manifest["questions"]["unscored"]
        )
        return Scores(self.query_ids, self.metrics, self.tables.values[place], unscored)

    def causes(self) -> "pd.DataFrame":
        """One row a system and missed piece, with cause, proof, remedy and the ranks at every
        stage."""
        return self.tables.causes.copy()

    def waterfall(self, system: str | None = None) -> "pd.DataFrame":
        """From 100% down to a system's recall: what each cause lost, how much of that is verified,
        what is left, and the ceiling if all of it came back; all questions, then every kind."""
        return waterfall_table(self.tables, self.tables.named(system or self.recommended))

    def rescues(self) -> "pd.DataFrame":
        """Pairs of systems that differ in one setting: questions that `after` rescues and breaks,
        their net, and the exact McNemar p; the largest net first."""
        return self._rescues.copy()

    @cached_property
    def _rescues(self) -> "pd.DataFrame":
        return rescue_table(self.tables)

    def alphas(self) -> "pd.DataFrame":
        """What alpha does to every hybrid family before any reranker, exactly, by every metric over
        ranks: best plateau, regret of one alpha for all, oracle, and robust, fragile and hopeless
        questions; all questions, then every kind."""
        return self.tables.alphas.copy()

    def weighing(self) -> "pd.DataFrame":
        """What alpha by question is worth against one alpha for all and against the oracle; a row a
        hybrid family and rule (see `lab.runs.weighing`)."""
        return weighing_table(self.tables)

    def predictors(self) -> "pd.DataFrame":
        """How well what is known of a question before fusion foretells what it scores, by Kendall's
        tau; a row a hybrid family whose alpha goes by question, and predictor."""
        return predictor_table(self.tables)

    def separation(self) -> "pd.DataFrame":
        """How well each stage's best score tells answerable from unanswerable questions; a row a
        system and stage (see `lab.diagnosis.separation.Separation`)."""
        return self.tables.separation.copy()

    def thresholds(self) -> "pd.DataFrame":
        """What `rerank.threshold` does to precision@3 and recall@5, and how many unanswerable
        questions it silences; a row a system that reranks and threshold (see
        `lab.diagnosis.separation.ThresholdEffect`)."""
        return self.tables.thresholds.copy()

    def slices(self, by: str = KIND, systems: Sequence[str] | None = None) -> "pd.DataFrame":
        """One row a slice and system: means and 95% intervals over the questions of one kind,
        document type (`doctype`), `length`, `language`, of one value of a tag, or by the `distance`
        of the evidence from the nearest cut. By `siblings`: how often a near-miss identifier
        outranks the right one (see `lab.runs.siblings.Confusion`), a row a system."""
        names = [self.tables.named(system) for system in systems or self.systems]
        return table_by(self.tables, by, names, lambda: (self.corpus, self.queries))

    def sliced(self, by: str = KIND, system: str | None = None) -> Sliced:
        """What `lab slices` shows of one axis for a system: `slices` beside what it is compared
        with, and by `distance` the boundary gap with the worst cuts."""
        name = self.tables.named(system or self.recommended)
        return sliced(self.tables, self.corpus, self.queries, by, name)

    def phases(self, metric: str | None = None) -> "pd.DataFrame":
        """How far each system's mean moves when its cuts fall elsewhere: a row a system that was
        run at several phases (see `lab.runs.phases`)."""
        return phase_table(self.tables, metric or self.tables.select_by)

    def phase_effects(self, metric: str | None = None) -> "pd.DataFrame":
        """How much of what every change of the chunks does is where the cuts fell: a row a change,
        seen from the baseline (see `lab.runs.phases`)."""
        return phase_effects(self.tables, metric or self.tables.select_by, self.baseline)

    def against(self, system: str, metric: str | None = None) -> "pd.DataFrame":
        """Every other system that can be compared with one named in advance, as planned pairs:
        difference with interval, p (Holm over these comparisons) and the least it could be, effect
        size, wins, ties, losses, verdict (see `lab.evaluation.paired`)."""
        return against(self.tables, system, metric or self.tables.select_by)

    def metric_study(self, baseline: str | None = None) -> MetricStudy:
        """Which metrics say the same, and how many questions every system hurts against the
        baseline."""
        return metric_study(self.tables, baseline or self.baseline)

    def paired(self, system: str, baseline: str) -> Paired:
        """One system minus another, a comparison for every metric, as a planned pair: as if nothing
        had been chosen by these questions."""
        return paired(self.tables, system, baseline)

    def best_by(self, metric: str) -> str:
        """The system with the highest mean of a metric, the lowest of a cost, of equals the
        cheaper, then the first by name."""
        return best_by(self.tables, metric)

    def verdicts(self, metric: str, reference: str | None = None) -> dict[str, Verdict]:
        """What may be said of every system against one of them by one metric, after choosing among
        all; by default against the metric's best. Whatever shows a verdict that allows for the
        choice reads it here."""
        best = self.best_by(metric)
        if metric == self.tables.select_by and reference in (None, best):
            return dict(zip(self.systems, self.tables.systems["verdict"], strict=True))
        if metric not in self._families:
            self._families[metric] = family(self.tables, metric)
        return chosen_verdicts(self.tables, self._families[metric], metric, reference or best)

    def cases(self, system: str, other: str) -> Cases:
        """The scored questions by who finds them, and those on which two systems differ."""
        return case_by_case(self.tables, system, other)

    def explain(self, query_id: str, system: str | None = None) -> Explanation:
        """Why one question fails under a system: its hits, what became of its evidence at every
        stage, and what would help."""
        name = self.tables.named(system or self.recommended)
        return explain(self.tables, self.corpus, self.queries, query_id, name)

    def write(self, path: str | Path) -> Path:
        """Write the run folder with its report (see `lab.runs.folder`); a complete older run at the
        place is replaced."""
        path = Path(path)
        check_place(path)
        mark_sealed_use(self.manifest, path)
        return write_run(self.tables, path, {REPORT: renderer().page(self)})

    @property
    def plot(self) -> Any:
        """The report's plots: `plot.heatmap()`, `plot.cost().save("cost.pdf")` ... (see
        `lab.report.notebook.Plots`)."""
        return renderer().plots(self)

    def _repr_html_(self) -> str:
        """What a notebook shows for a run."""
        return renderer().notebook(self)


def read_run(
    path: str | Path,
    corpus: Corpus | str | Path | None = None,
    questions: Sets | Sequence[Query] | None = None,
) -> Run:
    """Read a run folder. `corpus` and `questions` are its documents and questions, or where they
    lie now, if not where the run says.

    Raises RunError when the folder is absent, incomplete or of another format.
    """
    return Run(read_tables(path), Inputs(corpus, questions, Path(path)))
