"""Checking before anything expensive runs: the audit of the sets, chunks beyond the encoders'
limits, evidence that chunkings scatter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.chunking.units import Tokenize
from lab.config.config import Config
from lab.config.experiment import read_experiment
from lab.corpus.document import Corpus
from lab.corpus.read import read_corpus
from lab.diagnosis.scatter import Scatter, scatter
from lab.errors import ConfigError, ModelError
from lab.pipeline.resources import Resources
from lab.relevance.pieces import pieces
from lab.relevance.query import Query, has_spans
from lab.relevance.read import read_diagnostics
from lab.sets.audit.audit import Audit, audit
from lab.sets.audit.finding import Finding, by_gravity
from lab.sets.audit.foreign import is_foreign, read_foreign
from lab.sets.audit.hands import one_hand
from lab.storage.cache import Cache
from lab.storage.folder import obstacle
from lab.sweeping.heldout import seal
from lab.sweeping.preflight.facts import ChunkFacts, facts_of
from lab.sweeping.preflight.fields import check_fields
from lab.sweeping.preflight.needs import lacking_rerankers, unmet, windowed
from lab.sweeping.preflight.reading import reading
from lab.sweeping.preflight.treatment import treatment_findings
from lab.sweeping.tools import Tools


@dataclass(frozen=True, slots=True)
class ChunkCheck:
    """Facts of every chunking of an experiment, and the scatter test where the set has spans.
    `notes` say what else must be known: models that cannot be loaded and chunkings that need a
    model, whose limits are not checked; documents that are read in parts; and what splitters did
    beside. `findings` say where the evidence was chosen by the chunkings that it judges."""

    facts: tuple[ChunkFacts, ...]
    scatter: tuple[Scatter, ...]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, eq=False)
class Check:
    """Everything that is known of an experiment, or of documents and sets without one, before it
    runs.

    `systems` counts the systems of the experiment, foreign ones included, `impossible` says which
    cells of its grid are none; `chunks` is None without an experiment.
    """

    name: str
    corpus: Corpus
    queries: tuple[Query, ...]
    audit: Audit
    systems: int = 0
    impossible: tuple[str, ...] = ()
    chunks: ChunkCheck | None = None


def check(paths: Sequence[Path], beside: Sequence[Path] = ()) -> Check:
    """The same as `check_alone`, and whether the documents share an author's phrases with those
    that are given `beside` them, of which nothing else is checked."""
    found = check_alone(paths)
    corpora = {path.name: read_corpus(path) for path in beside}
    hands = tuple(one_hand({Path(found.corpus.source or found.name).name: found.corpus, **corpora}))
    if not hands:
        return found
    findings = tuple(by_gravity((*found.audit.findings, *hands)))
    return replace(found, audit=replace(found.audit, findings=findings))


def check_alone(paths: Sequence[Path]) -> Check:
    """Check one experiment file (.toml), or documents and then their sets (a BEIR folder alone is
    both), or a foreign set: one source, or its documents, questions and judgements.

    Raises LabError with everything that cannot be read, evidence that is not found among it.
    """
    if paths[0].suffix != ".toml" and is_foreign(paths):
        read = read_foreign(paths)
        audited = audit(read.corpus, read.queries)
        known_rules = {
            finding.rule for finding in read.findings
        }  # with file and line, which the audit of the mended set has not
        rest = (finding for finding in audited.findings if finding.rule not in known_rules)
        audited = replace(audited, findings=tuple(by_gravity((*read.findings, *rest))))
        return Check(str(paths[0]), read.corpus, read.queries, audited)
    if paths[0].suffix != ".toml":
        corpus = read_corpus(paths[0])
        queries = read_diagnostics(paths[1:] or paths[:1], corpus)
        return Check(str(paths[0]), corpus, queries, audit(corpus, queries))
    if len(paths) > 1:
        raise ConfigError(
            f"{paths[1]}: an experiment names its own sets; expected one .toml, or documents and "
            "then sets"
        )
    experiment = read_experiment(paths[0])
    corpus = read_corpus(experiment.corpus)
    queries = read_diagnostics(experiment.diagnostic_sets, corpus)
    measure = experiment.measure
    seal(queries, measure.unit, measure.sealed, measure.seed, measure.sealed_by, corpus)
    asking, idle = experiment.grid.asking(queries)
    systems, impossible = asking.systems()
    check_fields(corpus, systems)
    analyzers = list(dict.fromkeys(config.bm25.analyzer for config in systems if config.bm25)) or [
        "auto"
    ]
    audited = audit(corpus, queries, analyzers)
    chunks = check_chunks(corpus, queries, systems, experiment.models)
    return Check(
        name=str(paths[0]),
        corpus=corpus,
        queries=queries,
        audit=replace(
            audited,
            findings=tuple(
                by_gravity((*audited.findings, *chunks.findings, *unwritable(experiment.name)))
            ),
        ),
        systems=len(systems) + len(experiment.retrievers),
        impossible=(*impossible, *idle),
        chunks=chunks,
    )


def unwritable(name: str) -> tuple[Finding, ...]:
    """A warning where the run of that name could not be written once its work is done."""
    place = Path("runs") / name
    reason = obstacle(place)
    if not reason:
        return ()
    message = f"{place}: cannot be written ({reason})"
    return (Finding("warning", "output folder", message, "name another with `lab run --out`"),)


def check_chunks(
    corpus: Corpus,
    queries: Sequence[Query],
    configs: Sequence[Config],
    models: Mapping[str, Any] | None = None,
) -> ChunkCheck:
    """Cut the corpus as each system would. Nothing is encoded; tokens are counted with the models'
    tokenizer files. `models` are the experiment's, behind HTTP."""
    resources = Tools(**(models or {})).resources(Cache(None))
    missing: dict[str, str] = {}
    for name in dict.fromkeys(config.dense.model for config in configs if config.dense):
        try:
            resources.encoder(name).max_tokens  # noqa: B018 - asks for the model's files
        except ModelError as fault:
            missing[name] = str(fault)
    readable = [
        config for config in configs if config.dense is None or config.dense.model not in missing
    ]
    absent = unmet(readable, resources)
    if absent:
        raise ConfigError(absent)
    asked = pieces(queries) if has_spans(queries) else None
    facts, scattered = [], []
    chunkings: dict[ChunkConfig, Chunking] = {}
    for config in dict.fromkeys(config.chunk for config in readable):
        if config.strategy == "semantic":
            missing[config.label] = (
                f"{config.label}: where it cuts is known once its sentences are encoded; not "
                "checked"
            )
            continue
        chunking = chunk(corpus, config, _tokenize(config, resources))
        chunkings[config] = chunking
        facts.append(facts_of(chunking, config, readable, resources))
        if asked is not None:
            scattered.append(scatter(asked, chunking, config.label))
    tokenizers = {config: _tokenize(config, resources) for config in chunkings}
    read = reading(readable, corpus, [query.text for query in queries], resources)
    notes = [line for fact in facts for line in fact.notes]
    return ChunkCheck(
        tuple(facts),
        tuple(scattered),
        (
            *missing.values(),
            *lacking_rerankers(configs, resources),
            *windowed(readable, corpus, resources),
            *read,
            *notes,
        ),
        tuple(treatment_findings(corpus, queries, chunkings, tokenizers)),
    )


def _tokenize(config: ChunkConfig, resources: Resources) -> Tokenize | None:
    return resources.encoder(config.tokenizer).offsets if config.tokenizer else None
