"""From a verdict to its use: a system of a finished run, ready to be asked."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lab.config.config import Config
from lab.config.grid import Grid
from lab.corpus.document import Corpus
from lab.pipeline.resources import Resources
from lab.pipeline.searcher import Searcher
from lab.retrieval.encoder import Encoder
from lab.retrieval.rerank import PairScorer
from lab.runs.run import Run, read_run
from lab.storage.cache import Cache, default_cache_path
from lab.storage.progress import Progress, Silent

RECOMMENDED = "recommended"


def load(
    run: Run | str | Path,
    system: str = RECOMMENDED,
    corpus: Corpus | str | Path | None = None,
    *,
    cache: str | Path | None = None,
    progress: Progress | None = None,
    encoders: Mapping[str, Encoder] | None = None,
    rerankers: Mapping[str, PairScorer] | None = None,
) -> Searcher:
    """A searcher of one system of a run: its recommended one, its `best`, or one by its name or
    short label. `corpus` says where the documents lie if not where the run says; `encoders` and
    `rerankers` are the objects that the sweep was given, if any.

    Raises RunError when the run or its documents cannot be read, or have changed, and for an
    unknown system; ConfigError for a foreign retriever.
    """
    if not isinstance(run, Run):
        run = read_run(run)
    if corpus is not None:
        run = replace(run, inputs=replace(run.inputs, corpus=corpus))
    name = {RECOMMENDED: run.recommended, "best": run.best}.get(system) or run.tables.named(system)
    config = config_of(run, name)
    progress = progress or Silent()
    kept = Cache(Path(cache) if cache is not None else default_cache_path(), progress.note)
    resources = Resources(kept, progress, dict(encoders or {}), dict(rerankers or {}))
    if config.bm25 is not None and config.bm25.synonyms:
        resources.read_synonyms([config.bm25.synonyms])
    return Searcher(run.corpus, config, resources)


def config_of(run: Run, system: str) -> Config:
    """The config of one system of a run, by its full name. Raises ConfigError for a foreign
    retriever."""
    rows = run.table()
    row = rows[rows["system"] == system].iloc[0].to_dict()
    return Grid.from_row(row).systems()[0][0]
