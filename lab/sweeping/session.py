"""Session: one corpus and one set of questions, asked again and again from a script."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.config.config import Config
from lab.config.distinct import distinct
from lab.config.grid import Grid
from lab.config.hosted import HostedEncoderConfig, HostedRerankerConfig
from lab.config.rows import FOREIGN
from lab.config.settings import SETTINGS
from lab.errors import ConfigError, DiagnosticsError
from lab.evaluation.scores import Scores
from lab.relevance.query import Query, in_order
from lab.retrieval.encoder import Encoder
from lab.retrieval.rerank import PairScorer
from lab.runs.inputs import questions_fingerprint
from lab.runs.run import Run, read_run
from lab.storage.progress import Progress, progress_of
from lab.sweeping.arguments import as_grid, as_inputs, as_measure
from lab.sweeping.chunking_run import run_phase
from lab.sweeping.plan import Plan, plan_of
from lab.sweeping.preflight.compiling import compile_for
from lab.sweeping.preflight.preparation import checked, stages_of
from lab.sweeping.shelf import Shelf
from lab.sweeping.sweep import measured
from lab.sweeping.tables import run_of
from lab.sweeping.tools import Tools
from lab.sweeping.values import values_of

if TYPE_CHECKING:
    from lab.sweeping.arguments import GivenCorpus, GivenMeasure, GivenQueries


class Session:
    """Keeps indexes, vectors and outcomes between calls, for searches over many settings:

    >>> session = lab.Session("corpora/devices", "diagnostic_sets/devices")
    >>> session.evaluate(mode="bm25", k1=1.4).means()["ndcg@10"]
    >>> run = session.sweep({"mode": "bm25", "k1": (0.8, 1.2)})
    >>> run = session.sweep({"mode": "bm25", "k1": 1.6}, extend=run)

    Arguments are those of `lab.sweep`. What it finds is what a sweep finds: both take the same
    way.
    """

    def __init__(
        self,
        corpus: "GivenCorpus",
        queries: "GivenQueries",
        measure: "GivenMeasure" = None,
        *,
        cache: str | Path | None = None,
        progress: Progress | bool | None = False,
        encoders: Mapping[str, Encoder | HostedEncoderConfig] | None = None,
        rerankers: Mapping[str, PairScorer | HostedRerankerConfig] | None = None,
    ) -> None:
        documents, questions = as_inputs(corpus, queries)
        self.corpus = documents
        self.queries = in_order(questions)
        self.measure = as_measure(measure)
        self._tools = Tools(
            cache=None if cache is None else Path(cache),
            progress=progress_of(progress),
            encoders=encoders or {},
            rerankers=rerankers or {},
        )
        self._shelf = Shelf(self._tools.resources(), keeps=True)

    def asking(self, queries: Iterable[Query | str]) -> "Session":
        """A session over the same indexes with other questions: questions, or ids of some of this
        one's. Raises DiagnosticsError for ids that are not there."""
        own = {query.query_id: query for query in self.queries}
        wanted = list(queries)
        unknown = [item for item in wanted if isinstance(item, str) and item not in own]
        if unknown:
            raise DiagnosticsError(f"no question has the id '{name}'" for name in unknown)
        other = object.__new__(Session)
        other.__dict__.update(self.__dict__)
        other.queries = in_order([own[item] if isinstance(item, str) else item for item in wanted])
        other._shelf = self._shelf.for_other_questions()
        return other

    def evaluate(self, **settings: Any) -> Scores:
        """Score one system, by the settings of `lab.Grid`, on every question, without diagnosis or
        intervals. Raises ConfigError where they make several systems, or none."""
        plan = self._plan(Grid(**settings))
        if len(plan.systems) != 1:
            several = [name for name, value in settings.items() if _is_several(value)]
            raise ConfigError(
                f"these settings make {len(plan.systems)} systems ({', '.join(several)}); evaluate "
                "scores one: give one value each, or sweep the grid"
            )
        checked(plan, self._shelf.resources)
        compile_for(plan.configs, plan.metrics, self._shelf.resources)
        (of_phases,) = stages_of(plan, self._shelf).values()
        first, *others = (
            run_phase(stages, plan.systems, plan, self._shelf) for stages in of_phases
        )
        values = values_of(plan, first, others)
        self._shelf.tidy()
        ids = tuple(query.query_id for query in plan.pieces.queries)
        return Scores(ids, plan.labels, values.scores[0], plan.pieces.unscored)

    def sweep(
        self,
        grid: Grid | Mapping[str, Any] | None = None,
        *,
        extend: Run | str | Path | None = None,
        name: str | None = None,
    ) -> Run:
        """Run every system of a grid as `lab.sweep` does. With `extend` its systems are added to
        those of a run, or of the folder of one, over the same documents and questions: what this
        session has run is not run again, and the run is that of all systems together.

        Raises ConfigError where the run to extend is of other documents, questions or measures, or
        has foreign retrievers.
        """
        wanted, only = as_grid(grid), None
        if isinstance(extend, str | Path):
            extend = read_run(extend)
        if extend is not None:
            systems = (*self._systems_of(extend), *wanted.asking(self.queries)[0].systems()[0])
            wanted = _joined(Grid(**extend.manifest["grid"]), wanted)
            only = _ordered(distinct(systems), wanted.asking(self.queries)[0])
        name = name or (str(extend.manifest["name"]) if extend else "sweep")
        arguments = self.corpus, self.queries, wanted, self.measure, name, self._tools
        run = run_of(measured(*arguments, only=only, shelf=self._shelf))
        self._shelf.tidy()
        return run

    def _plan(self, grid: Grid) -> Plan:
        return plan_of(self.corpus, self.queries, grid, self.measure, "session", self._tools)

    def _systems_of(self, run: Run) -> tuple[Config, ...]:
        """The systems of a run that may be extended here."""
        manifest, queries = run.manifest, self.queries
        facts = {
            "documents": (manifest["corpus"]["fingerprint"], self.corpus.fingerprint),
            "questions": (manifest["questions"]["fingerprint"], questions_fingerprint(queries)),
            "measures": (manifest["measure"], self.measure.model_dump(mode="json")),
        }
        other = [what for what, (of_run, here) in facts.items() if of_run != here]
        problems = [f"the run to extend has other {what} than this session" for what in other]
        foreign = run.table()["mode"].eq(FOREIGN)
        if foreign.any():
            problems.append("the run to extend has foreign retrievers; sweep them anew")
        if problems:
            raise ConfigError(problems)
        rows = run.table().to_dict("records")
        return tuple(Grid.from_row(row).systems()[0][0] for row in rows)


def _is_several(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _ordered(systems: tuple[Config, ...], grid: Grid) -> tuple[Config, ...]:
    """The systems in the order of a grid that makes these and no others, else as they are."""
    every = grid.systems()[0]
    return every if set(every) == set(systems) else systems


def _joined(first: Grid, second: Grid) -> Grid:
    """The grid whose axes hold the values of both."""
    axes = {
        name: tuple(dict.fromkeys((*getattr(first, name), *getattr(second, name))))
        for name in SETTINGS
    }
    return Grid(**axes)
