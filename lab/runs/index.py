"""A system of a run over its documents as they are now, kept in a folder (`lab index`)."""

from collections.abc import Mapping
from pathlib import Path

from lab.config.hosted import HostedEncoderConfig
from lab.corpus.document import Corpus
from lab.corpus.read import read_corpus
from lab.pipeline.hosted.connected import connect
from lab.pipeline.index_folder import Update, write_index
from lab.retrieval.encoder import Encoder
from lab.runs.inputs import corpus_places
from lab.runs.load import RECOMMENDED, chosen, resources_of, rule_of
from lab.runs.run import Run
from lab.storage.progress import Progress


def index(
    run: Run | str | Path,
    to: str | Path,
    system: str = RECOMMENDED,
    corpus: Corpus | str | Path | None = None,
    *,
    cache: str | Path | None = None,
    progress: Progress | None = None,
    encoders: Mapping[str, Encoder | HostedEncoderConfig] | None = None,
) -> Update:
    """Keep a system's index in the folder `to`, or bring the one there up to date; `lab.load(to)`
    then searches it without reading the documents again. They are those at `corpus`, else where
    the run says, as they are now: they may have changed since the run was made, and what has not
    is not indexed again.

    Raises RunError when the run cannot be read or the folder is something else, CorpusError for
    documents that cannot be read, ConfigError for a foreign retriever.
    """
    run, config = chosen(run, system, corpus)
    given = run.inputs.corpus
    if not isinstance(given, Corpus):
        given = read_corpus(corpus_places(run.manifest, run.inputs)[0])
    resources = resources_of(cache, progress, encoders, None)
    connect(run.manifest.get("hosted", {}), resources)
    if config.bm25 is not None and config.bm25.synonyms:
        resources.read_synonyms([config.bm25.synonyms])
    return write_index(Path(to), given, config, resources, rule_of(run, config))
