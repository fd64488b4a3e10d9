"""From a verdict to its use: a system of a finished run, ready to be asked."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lab.config.config import Config
from lab.config.grid import Grid
from lab.config.hosted import HostedEncoderConfig, HostedRerankerConfig
from lab.corpus.document import Corpus
from lab.errors import RunError
from lab.evaluation.alpha_rules import AlphaRule
from lab.pipeline.alphas import by_rule
from lab.pipeline.hosted.connected import connect, connected_encoders, connected_rerankers
from lab.pipeline.index_folder import open_index
from lab.pipeline.resources import Resources
from lab.pipeline.searcher import Searcher
from lab.retrieval.encoder import Encoder
from lab.retrieval.rerank import PairScorer
from lab.runs.run import Run, read_run
from lab.storage.cache import Cache, default_cache_path
from lab.storage.generations import has_generations
from lab.storage.progress import Progress, Silent

RECOMMENDED = "recommended"


def load(
    run: Run | str | Path,
    system: str = RECOMMENDED,
    corpus: Corpus | str | Path | None = None,
    *,
    cache: str | Path | None = None,
    progress: Progress | None = None,
    encoders: Mapping[str, Encoder | HostedEncoderConfig] | None = None,
    rerankers: Mapping[str, PairScorer | HostedRerankerConfig] | None = None,
) -> Searcher:
    """A searcher of one system of a run: its recommended one, its `best`, or one by its name or
    short label. One whose alpha goes by question has the rule that was learned from all questions,
    where the sweep ranked each by one that had not seen its document. `corpus` says where the
    documents lie if not where the run says; `encoders` and `rerankers` are the objects that the
    sweep was given, if any. `run` may be the folder of an index (see `lab.runs.index`), which holds
    one system and its documents.

    Raises RunError when the run, the index or its documents cannot be read, or have changed, and
    for an unknown system; ConfigError for a foreign retriever.
    """
    resources = resources_of(cache, progress, encoders, rerankers)
    if not isinstance(run, Run) and has_generations(Path(run)):
        return _indexed(Path(run), system, corpus, resources)
    run, config = chosen(run, system, corpus)
    connect(run.manifest.get("hosted", {}), resources)
    if config.bm25 is not None and config.bm25.synonyms:
        resources.read_synonyms([config.bm25.synonyms])
    rule = rule_of(run, config)
    return Searcher(run.corpus, config if rule is None else by_rule(config, rule), resources)


def rule_of(run: Run, config: Config) -> AlphaRule | None:
    """What the run learned for a system whose alpha goes by question, from all its questions; None
    where all have one alpha. Raises RunError where the run does not hold it."""
    if config.fusion is None or config.fusion.rule is None:
        return None
    weights = run.tables.weights
    family = config.model_copy(update={"rerank": None}).family
    rows = weights[(weights["family"] == family) & (weights["rule"] == config.fusion.rule)]
    if rows.empty:
        raise RunError(
            f"the run has no weights for alpha '{config.fusion.rule}' of '{family}'; run the "
            "experiment again"
        )
    return AlphaRule.from_json(json.loads(rows.iloc[0]["weights"]))


def _indexed(
    folder: Path, system: str, corpus: Corpus | str | Path | None, resources: Resources
) -> Searcher:
    searcher = open_index(folder, resources)
    if system not in (RECOMMENDED, searcher.config.name):
        raise RunError(
            f"{folder}: this index holds '{searcher.config.name}', not '{system}'; lab index RUN "
            "--system writes another"
        )
    if corpus is not None:
        raise RunError(f"{folder}: an index holds its documents; lab index brings them up to date")
    return searcher


def chosen(
    run: Run | str | Path, system: str, corpus: Corpus | str | Path | None
) -> tuple[Run, Config]:
    """A run with its documents at `corpus`, if that is given, and one of its systems. Raises
    RunError for an unknown system, ConfigError for a foreign retriever."""
    if not isinstance(run, Run):
        run = read_run(run)
    if corpus is not None:
        run = replace(run, inputs=replace(run.inputs, corpus=corpus))
    name = {RECOMMENDED: run.recommended, "best": run.best}.get(system) or run.tables.named(system)
    return run, config_of(run, name)


def resources_of(
    cache: str | Path | None,
    progress: Progress | None,
    encoders: Mapping[str, Encoder | HostedEncoderConfig] | None,
    rerankers: Mapping[str, PairScorer | HostedRerankerConfig] | None,
) -> Resources:
    """What a searcher needs beside its system."""
    progress = progress or Silent()
    kept = Cache(Path(cache) if cache is not None else default_cache_path(), progress.note)
    return Resources(
        kept, progress, connected_encoders(encoders or {}), connected_rerankers(rerankers or {})
    )


def config_of(run: Run, system: str) -> Config:
    """The config of one system of a run, by its full name. Raises ConfigError for a foreign
    retriever."""
    rows = run.table()
    row = rows[rows["system"] == system].iloc[0].to_dict()
    return Grid.from_row(row).systems()[0][0]
