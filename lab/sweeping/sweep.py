"""The main job: every system of a grid over one corpus and one set of questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lab.chunking.config import ChunkConfig
from lab.config.config import Config
from lab.config.experiment import Measure
from lab.config.grid import Grid
from lab.config.retriever import RetrieverConfig
from lab.corpus.document import Corpus
from lab.diagnosis.alpha.curve import compile_curves
from lab.diagnosis.alpha.families import Family
from lab.diagnosis.unanswerable import Unanswered, unanswerable
from lab.errors import ConfigError, RerankerError
from lab.evaluation.compiled import compile_metric
from lab.evaluation.metrics import WEIGHTED, Metric, parse_metric
from lab.evaluation.pareto import weighted
from lab.evaluation.scores import check_unit, score
from lab.pipeline.foreign.answers import foreign_config
from lab.pipeline.foreign.retriever import Retriever
from lab.pipeline.indexes import Indexes
from lab.pipeline.pairs import rerank_notes
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.stages import Stages
from lab.relevance.evidence import given
from lab.relevance.pieces import pieces
from lab.relevance.query import Query, in_order
from lab.retrieval.analyzer import ANALYZERS
from lab.retrieval.encoder import Encoder
from lab.retrieval.postings import compile_all
from lab.retrieval.products import compile_products
from lab.retrieval.rerank import PairScorer
from lab.runs.run import Run
from lab.storage.cache import Cache, default_cache_path
from lab.storage.progress import Progress, Silent, progress_of
from lab.sweeping.arguments import as_grid, as_inputs, as_measure
from lab.sweeping.depth import cut_by_depth
from lab.sweeping.doubts import doubts
from lab.sweeping.failing import without
from lab.sweeping.findings import Findings, proved
from lab.sweeping.heldout import Sealed, one_cell, seal
from lab.sweeping.measured import Account, Measured, Plan
from lab.sweeping.preflight.facts import (
    chunk_facts,
    distracted,
    leaked,
    left_out,
    unmatched,
    warnings,
)
from lab.sweeping.preflight.fields import check_fields
from lab.sweeping.preflight.needs import lacking_rerankers, unmet, windowed
from lab.sweeping.preflight.reading import reading
from lab.sweeping.profile import Profile
from lab.sweeping.systems import EvaluationContext, SystemFound, run_chunking, run_foreign
from lab.sweeping.tables import run_of


def sweep(
    corpus: Corpus | str | Path,
    queries: Sequence[Query] | str | Path | Sequence[str | Path],
    grid: Grid | Mapping[str, Any] | None = None,
    measure: Measure | Mapping[str, Any] | Sequence[str] | None = None,
    *,
    name: str = "sweep",
    cache: str | Path | None = None,
    progress: Progress | bool = True,
    encoders: Mapping[str, Encoder] | None = None,
    rerankers: Mapping[str, PairScorer] | None = None,
    retrievers: Mapping[str, Retriever | RetrieverConfig] | None = None,
    profile: bool = False,
) -> Run:
    """Run every system of `grid` and score it on the questions that have relevant evidence.

    `corpus` and `queries` are documents and questions, or where they lie; `grid` and `measure` also
    mappings of their settings, and `measure` a list of metrics, of which the last chooses. Progress
    and notes are shown unless `progress` is False, or an object of one's own.

    `encoders` and `rerankers` give objects for the model names that the grid uses; other names are
    loaded. `cache` is the SQLite file for vectors and pair scores, by default the user's (see
    `default_cache_path`). `retrievers` are foreign systems by name, objects with `search(queries,
    depth)` or RetrieverConfigs: rows beside those of the grid, judged like them.

    With `profile` every system is also asked question by question, for its latency (see
    `lab.sweeping.profile`).

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
    )
    return run_of(measured(documents, questions, as_grid(grid), as_measure(measure), name, tools))


@dataclass(frozen=True, slots=True)
class Tools:
    """What a sweep works with (see `sweep`)."""

    cache: Path | None = None
    progress: Progress = field(default_factory=Silent)
    encoders: Mapping[str, Encoder] = field(default_factory=dict)
    rerankers: Mapping[str, PairScorer] = field(default_factory=dict)
    retrievers: Mapping[str, Retriever | RetrieverConfig] = field(default_factory=dict)
    profile: bool = False
    failed: tuple[RerankerError, ...] = ()


def measured(
    corpus: Corpus,
    queries: Sequence[Query],
    grid: Grid,
    measure: Measure,
    name: str,
    tools: Tools,
) -> Measured:
    """What `sweep` finds, as arrays; once more without a reranker that fails, from what the cache
    holds by then."""
    try:
        return _measured(corpus, queries, grid, measure, name, tools)
    except RerankerError as fault:
        failed = (*tools.failed, fault)
        systems, _ = without(grid.asking(queries)[0].systems()[0], failed)
        if not systems:
            raise
        tools.progress.note(str(fault))
        return measured(corpus, queries, grid, measure, name, replace(tools, failed=failed))


def _measured(
    corpus: Corpus,
    queries: Sequence[Query],
    grid: Grid,
    measure: Measure,
    name: str,
    tools: Tools,
) -> Measured:
    """What the systems find that ask no reranker which has failed."""
    progress, retrievers = tools.progress, dict(tools.retrievers)
    queries = given(queries, corpus)
    asking, idle = grid.asking(queries)
    own, impossible = asking.systems()
    own, failed = without(own, tools.failed)
    configs = (*own, *map(foreign_config, retrievers))
    twice = {config.name for config in own} & set(retrievers)
    if twice:
        raise ConfigError(
            f"retriever '{name}' has the name of a system of the grid; choose another"
            for name in sorted(twice)
        )
    queries = in_order(queries)
    open_questions, sealed = seal(
        queries, measure.unit, measure.sealed, measure.seed, measure.sealed_by
    )
    asked = pieces(open_questions, measure.unit)
    metrics = [parse_metric(metric) for metric in measure.measured]
    check_unit(metrics, asked.unit)
    functions = measure.own_metrics()
    kept = Cache(tools.cache or default_cache_path(), progress.note)
    resources = Resources(kept, progress, dict(tools.encoders), dict(tools.rerankers))
    resources.read_synonyms(
        dict.fromkeys(
            config.bm25.synonyms for config in own if config.bm25 and config.bm25.synonyms
        )
    )
    absent = (*unmet(own, resources), *lacking_rerankers(own, resources))
    if absent:
        raise ConfigError(absent)
    lacking = check_fields(corpus, own)
    by_chunk: dict[ChunkConfig, list[int]] = {}
    for system, config in enumerate(own):
        by_chunk.setdefault(config.chunk, []).append(system)

    advance = resources.progress.stage("chunk", len(by_chunk))
    stages: dict[ChunkConfig, Stages] = {}
    questions = Questions.of(asked.queries)
    for chunk_config in by_chunk:
        stages[chunk_config] = Stages(Indexes(corpus, chunk_config, resources), questions)
        advance(1)
    counter = next((config.dense.model for config in configs if config.dense), None)
    with resources.timed("count tokens"):
        starts = resources.token_starts(counter, corpus)
    facts = chunk_facts(stages, configs, resources)
    notes = (
        *corpus.unread,
        *distracted(corpus),
        *failed,
        *impossible,
        *idle,
        *lacking,
        *windowed(own, corpus, resources),
        *reading(own, corpus, [query.text for query in asked.queries], resources),
        *warnings(facts, asked),
        *leaked(asked, corpus),
        *left_out(configs, asked, corpus),
        *unmatched(stages, configs, asked),
    )
    for note in notes:
        resources.progress.note(note)
    _encode_all(stages, configs, resources)
    _compile(metrics, configs, resources)

    evaluated = EvaluationContext(
        corpus=corpus,
        pieces=asked,
        unanswerable=unanswerable(open_questions, asked),
        measure=measure,
        metrics=metrics,
        counter=counter,
        starts=starts,
    )
    profiled = Profile() if tools.profile else None
    found: list[SystemFound] = [None] * len(configs)  # type: ignore[list-item]  # every place is filled below
    families: list[Family] = []
    separations: list[Unanswered] = []
    advance = resources.progress.stage("systems", len(configs))
    for chunk_config, members in by_chunk.items():
        # Popped, so that the indexes of one chunking are freed before those of the next are built.
        of_chunking = run_chunking(
            stages.pop(chunk_config), [configs[system] for system in members], evaluated, profiled
        )
        for system, own_found in zip(members, of_chunking.systems, strict=True):
            found[system] = own_found
        families.extend(of_chunking.families)
        separations.extend(of_chunking.unanswered)
        advance(len(members))
    identities = _identities(configs, resources)
    for system, (label, retriever) in enumerate(retrievers.items(), start=len(own)):
        found[system], identities[f"retriever {label}"], told = run_foreign(
            label, retriever, evaluated, resources
        )
        for note in told:
            resources.progress.note(note)
        notes = (*notes, *told)
        advance(1)
    reaches = [system.reach for system in found if system.reach is not None]
    late = (*cut_by_depth(reaches, metrics, asked.unit), *rerank_notes(resources))
    for note in late:
        resources.progress.note(note)
    notes = (*notes, *late)
    runs = [system.run for system in found]
    with resources.timed("diagnose"):
        misses = proved([system.misses for system in found], configs, asked)
        reachable = np.array([system.reachable for system in found])
        findings = Findings(
            evaluated.cutoff, misses, tuple(families), tuple(separations), reachable
        )
    advance = resources.progress.stage("metrics", 1)
    with resources.timed("metrics"):
        values = score(asked, runs, metrics, functions)
        context = score(asked, runs, [Metric("context_tokens", measure.context_k)])[:, :, 0].mean(
            axis=1
        )
        if measure.weights:
            mean = weighted(values, [metric.label for metric in metrics], measure.weights)
            values = np.concatenate([values, mean[:, :, None]], axis=2)
    doubtful = doubts(asked, corpus, runs, [system.rows for system in found], measure)
    for note in (doubted := doubtful.notes([config.name for config in configs])):
        resources.progress.note(note)
    notes = (*notes, *doubted)
    advance(1)
    names = (metric.label for metric in metrics)
    outcome = Measured(
        plan=Plan(
            name=name,
            configs=configs,
            grid=grid,
            measure=measure,
            corpus=corpus,
            queries=tuple(queries),
            pieces=asked,
        ),
        account=Account(
            facts=facts,
            notes=notes,
            identities=identities,
            counts=dict(resources.counts),
            seconds={stage: round(seconds, 3) for stage, seconds in resources.seconds.items()},
            peak_mb=dict(resources.peak_mb),
            profile=profiled,
        ),
        metrics=(*names, *((WEIGHTED,) if measure.weights else ())),
        values=values,
        complete=np.array([run.judged.complete for run in runs]),
        context_tokens=context,
        rows=tuple(system.rows for system in found),
        findings=findings,
        doubts=doubtful,
        families=tuple(system.family for system in found),
    )
    if not sealed:
        return outcome
    chosen = configs[outcome.selection.recommended]
    resources.progress.note(f"{len(sealed)} sealed question(s): scored once, for {chosen.name}")
    unsealed = measure.model_copy(update={"sealed": 0.0})
    same = {key: value for key, value in retrievers.items() if key == chosen.retriever}
    last = replace(tools, progress=Silent(), retrievers=same, profile=False)
    fresh = run_of(measured(corpus, sealed, one_cell(chosen), unsealed, name, last))
    return replace(outcome, sealed=_sealed_scores(fresh, chosen.name))


def _encode_all(
    stages: Mapping[ChunkConfig, Stages], configs: Sequence[Config], resources: Resources
) -> None:
    """Encode the texts of all chunkings together, so that batches are sorted by length over all of
    them."""
    texts: dict[str, dict[str, None]] = {}
    late: dict[str, dict[ChunkConfig, None]] = {}
    for config in configs:
        if config.dense is not None and config.dense.pooling == "late":
            late.setdefault(config.dense.encoder, {})[config.chunk] = None
        elif config.dense is not None:
            texts.setdefault(config.dense.encoder, {}).update(
                dict.fromkeys(stages[config.chunk].indexes.passages(config.dense.views))
            )
    for model, distinct in texts.items():
        resources.encode(model, "passage", distinct)
    for model, chunkings in late.items():
        spans = {span for chunk in chunkings for span in stages[chunk].chunking.spans}
        corpus = next(iter(stages.values())).chunking.corpus.documents
        resources.embed_late(
            model, [(corpus[document].text, start, end) for document, start, end in sorted(spans)]
        )


def _compile(metrics: Sequence[Metric], configs: Sequence[Config], resources: Resources) -> None:
    """Compile before anything is timed, just what this sweep calls."""
    names = sorted({metric.name for metric in metrics})
    advance = resources.progress.stage(
        "compile (the first run on a machine takes longest)", len(names) + 1
    )
    with resources.timed("compile"):
        if any(config.bm25 for config in configs):
            compile_all()
        if any(config.dense for config in configs):
            compile_products()
            compile_curves()
        advance(1)
        for name in names:
            compile_metric(name)
            advance(1)


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


def _identities(configs: Sequence[Config], resources: Resources) -> dict[str, str]:
    """Name -> identity of every analyzer, file of synonyms and model that was used."""
    found = {
        f"analyzer {c.bm25.analyzer}": ANALYZERS[c.bm25.analyzer].identity
        for c in configs
        if c.bm25
    }
    synonyms = dict.fromkeys(c.bm25.synonyms for c in configs if c.bm25 and c.bm25.synonyms)
    found |= {f"synonyms {path}": resources.synonyms(path).identity for path in synonyms}
    found |= {
        f"model {c.dense.encoder}": resources.encoder(c.dense.encoder).identity
        for c in configs
        if c.dense
    }
    found |= {
        f"similarity {c.dense.similarity} of {c.dense.model}": resources.similarity(c.dense)
        for c in configs
        if c.dense
    }
    return found | {
        f"reranker {c.rerank.model}": resources.scorer(c.rerank.model).identity
        for c in configs
        if c.rerank
    }
