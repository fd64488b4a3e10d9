"""The main job: every system of a grid over one corpus and one set of questions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.cluster.cluster import Cluster
from lab.config.config import Config
from lab.config.grid import Grid
from lab.config.hosted import HostedEncoderConfig, HostedRerankerConfig
from lab.config.measure import Measure
from lab.config.retriever import RetrieverConfig
from lab.corpus.document import Corpus
from lab.errors import RerankerError, counted
from lab.pipeline.foreign.retriever import Retriever
from lab.pipeline.hosted.connected import hosted_notes, record_of, usage_of
from lab.pipeline.resources import Resources
from lab.relevance.query import Query
from lab.retrieval.encoder import Encoder
from lab.retrieval.rerank import PairScorer
from lab.runs.run import Run
from lab.storage.progress import Progress, Silent, noted, progress_of
from lab.sweeping.arguments import as_grid, as_inputs, as_measure
from lab.sweeping.doubts import doubts
from lab.sweeping.failing import without
from lab.sweeping.heldout import Sealed, one_cell
from lab.sweeping.measured import Account, Measured
from lab.sweeping.outcomes import Outcomes, run_systems
from lab.sweeping.plan import Plan, plan_of
from lab.sweeping.preflight.preparation import Preparation, prepare
from lab.sweeping.shelf import Shelf
from lab.sweeping.tables import run_of
from lab.sweeping.tools import Tools, check_shards
from lab.sweeping.values import values_of
from lab.sweeping.weighing import rule_of

if TYPE_CHECKING:
    from lab.sweeping.arguments import GivenCorpus, GivenMeasure, GivenQueries


def sweep(
    corpus: "GivenCorpus",
    queries: "GivenQueries",
    grid: Grid | Mapping[str, Any] | None = None,
    measure: "GivenMeasure" = None,
    *,
    name: str = "sweep",
    cache: str | Path | None = None,
    progress: Progress | bool | None = True,
    encoders: Mapping[str, Encoder | HostedEncoderConfig] | None = None,
    rerankers: Mapping[str, PairScorer | HostedRerankerConfig] | None = None,
    retrievers: Mapping[str, Retriever | RetrieverConfig] | None = None,
    profile: bool = False,
    cluster: Cluster | None = None,
    shards: int = 1,
) -> Run:
    """Run every system of `grid` and score it on the questions that have relevant evidence.

    `corpus` is a lab.Corpus, the path of documents, a DataFrame, lab.Documents or texts by id;
    `queries` are lab.Query, paths of sets or a DataFrame; `grid` and `measure` also mappings of
    their settings, and `measure` a list of metrics, of which the last chooses. Progress and notes
    are shown unless `progress` is False or None, or an object of one's own.

    `encoders` and `rerankers` give objects, or models behind HTTP, for the model names that the
    grid uses; other names are loaded. `cache` is the SQLite file for vectors and pair scores, by
    default the user's (see `default_cache_path`). `retrievers` are foreign systems by name, objects
    with `search(queries, depth)` or RetrieverConfigs: rows beside those of the grid, judged like
    them.

    With `profile` every system is also asked question by question, for its latency (see
    `lab.sweeping.profile`).

    On a `cluster` (`with Cluster() as cluster:`, see `lab.cluster.cluster`) tasks encode, cut and
    run the systems, and the run is the same to the last byte. There the documents may lie in
    `shards`, each with its chunks, terms and vectors in a process of its own.

    A reranker that fails while it is asked takes its systems out of the sweep, with a note; the
    others are scored.

    Raises ConfigError when no system of the grid is possible, CorpusError when no document has
    text, DiagnosticsError when no question can be scored or two share an id, and ModelError when
    no system is left without a reranker that failed.
    """
    documents, questions = as_inputs(corpus, queries)
    tools = Tools(
        cache=None if cache is None else Path(cache),
        progress=progress_of(progress),
        encoders=encoders or {},
        rerankers=rerankers or {},
        retrievers=retrievers or {},
        profile=profile,
        cluster=cluster,
        shards=shards,
    )
    check_shards(tools)
    return run_of(measured(documents, questions, as_grid(grid), as_measure(measure), name, tools))


def measured(
    corpus: Corpus,
    queries: Sequence[Query],
    grid: Grid,
    measure: Measure,
    name: str,
    tools: Tools,
    *,
    only: Sequence[Config] | None = None,
    shelf: Shelf | None = None,
) -> Measured:
    """What `sweep` finds, as arrays; once more without a reranker that fails, from what the cache
    holds by then. `only` are the systems of the grid that are wanted, by default all, and
    `shelf` is what a session keeps."""
    plan = plan_of(corpus, queries, grid, measure, name, tools, only=only)
    try:
        return _with_sealed(_measured(plan, tools, shelf or Shelf(tools.resources())), tools)
    except RerankerError as fault:
        left, _ = without(plan.systems, [fault])
        if not left:
            raise
        tools.progress.note(str(fault))
        fewer = replace(tools, failed=(*tools.failed, fault))
        return measured(corpus, queries, grid, measure, name, fewer, only=only, shelf=shelf)


def _measured(plan: Plan, tools: Tools, shelf: Shelf) -> Measured:
    """Prepare, run, score and doubt the systems of a plan; Ctrl-C says what is kept."""
    with shelf.resources.kept.telling():
        return _with_shelf(plan, tools, shelf)


def _with_shelf(plan: Plan, tools: Tools, shelf: Shelf) -> Measured:
    resources, preparation = shelf.resources, prepare(plan, shelf, tools.shards)
    outcomes = run_systems(plan, preparation, tools, shelf)
    if preparation.shards is not None:
        preparation.shards.end()
    with resources.timed("diagnose"):
        findings = outcomes.findings(plan)
    advance = resources.progress.stage("metrics", 1)
    with resources.timed("metrics"):
        values = values_of(plan, outcomes.runs, outcomes.phased)
    doubtful = doubts(plan, outcomes)
    lines = doubtful.notes([plan.configs[place].name for place in outcomes.compared])
    lines = *hosted_notes(resources), *lines
    notes = *preparation.notes, *outcomes.notes, *noted(resources.progress, lines)
    advance(1)
    return Measured(
        plan=plan,
        account=_account(plan, preparation, outcomes, notes, resources),
        metrics=plan.labels,
        values=values.scores,
        complete=outcomes.complete,
        context_tokens=values.context_tokens,
        rows=outcomes.rows,
        findings=findings,
        doubts=doubtful,
        families=tuple(system.family for system in outcomes.systems),
        incomparable=tuple(system.incomparable for system in outcomes.systems),
        calls=tuple(system.calls for system in outcomes.systems),
        by_phase=values.by_phase,
        weighings=outcomes.weighings,
    )


def _account(
    plan: Plan,
    preparation: Preparation,
    outcomes: Outcomes,
    notes: tuple[str, ...],
    resources: Resources,
) -> Account:
    return Account(
        facts=preparation.facts,
        notes=notes,
        identities=outcomes.identities,
        counts=dict(resources.counts),
        seconds={stage: round(seconds, 3) for stage, seconds in resources.seconds.items()},
        peak_mb=dict(resources.peak_mb),
        profile=outcomes.profile,
        hosted=_hosted(resources),
        dimensions=_dimensions(plan, resources),
    )


def _dimensions(plan: Plan, resources: Resources) -> dict[str, int]:
    """Numbers of a vector by encoder, of a question that was encoded before; none where all systems
    store whole vectors, of whose bytes nobody asks."""
    legs = [config.dense for config in plan.configs if config.dense]
    if all(leg.stores_whole for leg in legs):
        return {}
    question = [plan.pieces.queries[0].text]
    encoders = dict.fromkeys(leg.encoder for leg in legs)
    return {name: resources.embed(name, "query", question).shape[1] for name in encoders}


def _hosted(resources: Resources) -> dict[str, Any]:
    """Models behind HTTP, and what they were asked in this run; empty without any."""
    record: dict[str, Any] = dict(record_of(resources))
    return record | {"usage": usage_of(resources)} if record else {}


def _with_sealed(outcome: Measured, tools: Tools) -> Measured:
    """The same with what the sealed questions, if there are any, say of the recommended system,
    which alone is asked them, once."""
    plan = outcome.plan
    if not plan.sealed:
        return outcome
    place = outcome.compared[outcome.selection.recommended]
    chosen = plan.configs[place]
    rule = rule_of(outcome.weighings, outcome.families[place], chosen)
    tools.progress.note(
        f"{counted(len(plan.sealed), 'sealed question')}: scored once, for {chosen.name}"
    )
    unsealed = plan.measure.model_copy(update={"sealed": 0.0})
    same = {name: of for name, of in tools.retrievers.items() if name == chosen.retriever}
    last = replace(tools, progress=Silent(), retrievers=same, profile=False, rule=rule)
    fresh = run_of(measured(plan.corpus, plan.sealed, one_cell(chosen), unsealed, plan.name, last))
    scored = replace(outcome, sealed=_sealed_scores(fresh, chosen.name))
    if chosen.name not in fresh.tables.not_comparable:
        return scored
    reason = fresh.tables.not_comparable[chosen.name]
    note = f"sealed questions: {chosen.name} is not comparable there, {reason}"
    tools.progress.note(note)
    account = replace(outcome.account, notes=(*outcome.account.notes, note))
    return replace(scored, account=account)


def _sealed_scores(fresh: Run, system: str) -> Sealed:
    """The last system's means and intervals on the sealed questions: the only one, or the foreign
    one. `system` is its name among the open questions; without any filter or variant to use it is
    called otherwise among the sealed ones."""
    row = fresh.tables.systems.iloc[-1]
    scores = {
        metric: tuple(float(row[name]) for name in (metric, f"{metric}_low", f"{metric}_high"))
        for metric in fresh.metrics
    }
    return Sealed(system, fresh.query_ids, scores)
