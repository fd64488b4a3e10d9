"""Plan: what a sweep is asked, known before any model is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from lab.chunking.config import ChunkConfig
from lab.config.config import Config
from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.config.phases import check_phases, shares
from lab.corpus.document import Corpus
from lab.diagnosis.alpha.summary import has_curve
from lab.diagnosis.cutoff import Cutoff
from lab.diagnosis.unanswerable import unanswerable
from lab.errors import ConfigError
from lab.evaluation.alpha_rules import AlphaRule
from lab.evaluation.metrics import WEIGHTED, Metric, parse_metric
from lab.evaluation.own import OwnMetric
from lab.evaluation.scores import check_unit
from lab.pipeline.foreign.answers import foreign_config
from lab.relevance.evidence import given
from lab.relevance.pieces import Pieces, pieces
from lab.relevance.query import Query, in_order
from lab.sweeping.failing import without
from lab.sweeping.heldout import seal
from lab.sweeping.tools import Tools


@dataclass(frozen=True, eq=False)
class Plan:
    """What a sweep is asked: the systems of the `grid`, and after them the foreign ones; the
    documents; all `queries`, those that are `sealed` among them, and the `pieces` of those that are
    scored; and the `metrics`, of which the user's own call `functions`. `notes` say what of the
    grid is left out, and why. `rule` gives every question its alpha where a system asks for one by
    question; None learns it here."""

    name: str
    systems: tuple[Config, ...]
    foreign: tuple[Config, ...]
    grid: Grid
    measure: Measure
    corpus: Corpus
    queries: tuple[Query, ...]
    sealed: tuple[Query, ...]
    unanswerable: tuple[Query, ...]
    pieces: Pieces
    metrics: tuple[Metric, ...]
    functions: Mapping[str, OwnMetric]
    notes: tuple[str, ...]
    rule: AlphaRule | None = None

    @cached_property
    def configs(self) -> tuple[Config, ...]:
        """All systems, in the order of every table."""
        return *self.systems, *self.foreign

    @cached_property
    def by_chunk(self) -> Mapping[ChunkConfig, Sequence[int]]:
        """Chunk config -> places of the systems that share its chunking."""
        places: dict[ChunkConfig, list[int]] = {}
        for place, config in enumerate(self.systems):
            places.setdefault(config.chunk, []).append(place)
        return places

    @cached_property
    def phases(self) -> tuple[float, ...]:
        """At which phases every chunking that cuts by length is run, the stated one first; empty
        if it is run once, as it is."""
        return shares(self.measure.phases, self.measure.seed)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of all scores: those of the metrics, and of their weighted mean if it is asked
        for."""
        weighted = (WEIGHTED,) if self.measure.weights else ()
        return *(metric.label for metric in self.metrics), *weighted

    @cached_property
    def cutoff(self) -> Cutoff:
        """What counts as a miss."""
        return Cutoff.of(self.metrics)

    @property
    def ranks_read(self) -> int | None:
        """How many ranks the metrics look at beside completion ranks; None for all, which a token
        budget may need, and metrics that read every hit."""
        if any(metric.by_tokens or metric.family.whole for metric in self.metrics):
            return None
        return max(self.measure.context_k, *(metric.k for metric in self.metrics))

    @cached_property
    def counter(self) -> str | None:
        """The model whose tokens are counted: that of the first dense leg; None counts words."""
        return next((config.dense.model for config in self.configs if config.dense), None)


def plan_of(
    corpus: Corpus,
    queries: Sequence[Query],
    grid: Grid,
    measure: Measure,
    name: str,
    tools: Tools,
    *,
    only: Sequence[Config] | None = None,
) -> Plan:
    """Plan the systems that ask no reranker which has failed. `only` are those of the
    grid that are wanted, in their order; by default all.

    Raises ConfigError when no system is possible, a foreign one has the name of another, a metric
    needs another unit or a function that is not given; DiagnosticsError when no question can be
    scored.
    """
    queries = given(queries, corpus)
    check_phases(grid, measure)
    asking, idle = grid.asking(queries)
    possible, impossible = asking.systems()
    possible = possible if only is None else tuple(only)
    systems, failed = without(possible, tools.failed)
    taken = {config.name for config in systems} & set(tools.retrievers)
    if taken:
        raise ConfigError(
            f"retriever '{name}' has the name of a system of the grid; choose another"
            for name in sorted(taken)
        )
    queries = in_order(queries)
    open_questions, sealed = seal(
        queries, measure.unit, measure.sealed, measure.seed, measure.sealed_by, corpus
    )
    asked = pieces(open_questions, measure.unit)
    metrics = tuple(parse_metric(metric) for metric in measure.measured)
    check_unit(metrics, asked.unit)
    _check_rules(systems, measure, Cutoff.of(metrics).cap)
    return Plan(
        name=name,
        systems=systems,
        foreign=tuple(map(foreign_config, tools.retrievers)),
        grid=grid,
        measure=measure,
        corpus=corpus,
        queries=tuple(queries),
        sealed=sealed,
        unanswerable=tuple(unanswerable(open_questions, asked)),
        pieces=asked,
        metrics=metrics,
        functions=measure.own_metrics(),
        notes=(*failed, *impossible, *idle),
        rule=tools.rule,
    )


def _check_rules(systems: Sequence[Config], measure: Measure, cap: int) -> None:
    """Raises ConfigError where an alpha by question has no metric to learn by."""
    rules = dict.fromkeys(system.fusion.rule for system in systems if system.fusion)
    chosen = measure.select_by
    if any(rules) and (chosen == WEIGHTED or not has_curve(parse_metric(chosen), cap)):
        raise ConfigError(
            f"alpha '{next(filter(None, rules))}' is learned by measure.select_by, '{chosen}', "
            f"which is no function of the first {cap} ranks; choose by one that is, like 'ndcg@10'"
        )
