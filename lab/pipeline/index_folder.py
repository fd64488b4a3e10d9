"""The index folder: one system over its documents, as files that are mapped into memory; it stands
alone, for the documents lie in it.

manifest.json       the system, what its terms and vectors depend on, sizes of the files
documents.arrow     the documents
weights.json        how a question gets its alpha, where that is not the same for all
chunks, shown, ...  arrays of `lab.pipeline.passages`, and what is made of them over all documents
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lab.chunking.chunk import Chunking
from lab.chunking.context import Delivery, delivered
from lab.config.config import Config
from lab.corpus.document import Corpus
from lab.corpus.stored import digest_of, open_documents, write_documents
from lab.errors import RunError
from lab.evaluation.alpha_rules import AlphaRule
from lab.pipeline.alphas import by_rule
from lab.pipeline.hosted.connected import connect, record_of
from lab.pipeline.index_files import (
    mapped,
    read_bm25,
    read_chunking,
    read_dense,
    read_views,
    save,
    write_bm25,
    write_dense,
    write_views,
)
from lab.pipeline.index_update import (
    DOCUMENTS,
    FORMAT,
    MANIFEST,
    brought_up,
    dependencies,
    fault_of,
    usable_state,
)
from lab.pipeline.indexes import Indexes
from lab.pipeline.passages import Passages
from lab.pipeline.resources import Resources
from lab.pipeline.searcher import Searcher
from lab.retrieval.bm25 import BM25
from lab.retrieval.config import BM25Config, DenseConfig
from lab.retrieval.dense import Dense, stored_by
from lab.retrieval.features import feature
from lab.retrieval.synonyms import read_synonyms
from lab.retrieval.views import Entries, Views, entries_of
from lab.storage.generations import has_generations, next_generation, read_current

SYNONYMS, WEIGHTS = "synonyms.txt", "weights.json"
AGAIN = "write it again with lab index"


@dataclass(frozen=True, slots=True)
class Update:
    """What an index folder holds after it was written, and how many documents were indexed for it
    because they are `added` or `changed`, taken over as they were (`kept`), or `removed`."""

    system: str
    documents: int
    chunks: int
    added: int
    changed: int
    removed: int
    kept: int


def write_index(
    folder: Path,
    corpus: Corpus,
    config: Config,
    resources: Resources,
    rule: AlphaRule | None = None,
) -> Update:
    """Write the index of a system over documents, or bring one up to date: documents that are as
    they were, by their digest, are not analysed or embedded again, and what comes out is what a new
    folder would hold. Readers see the old state or the new. `rule` is what a system has learned
    whose alpha goes by question.

    Raises RunError when the folder is something else or cannot be written, CorpusError when there
    is no text.
    """
    if not has_generations(folder) and folder.exists() and not _is_ours(folder):
        raise RunError(f"{folder}: exists and is not an index; name another folder with --to")
    digests = [digest_of(document) for document in corpus]
    try:
        with next_generation(folder) as fresh:
            depends = dependencies(config, resources)
            old = usable_state(folder, depends)
            passages, counts = brought_up(corpus, digests, config, resources, old)
            _write(fresh, corpus, digests, config, passages, resources)
            if rule is not None:
                (fresh / WEIGHTS).write_text(f"{json.dumps(rule.to_json())}\n", "utf-8")
            sizes = {file.name: file.stat().st_size for file in sorted(fresh.iterdir())}
            manifest = {
                "format": FORMAT,
                "system": config.name,
                "config": config.to_toml(),
                "depends": depends,
                "documents": len(corpus),
                "chunks": len(passages.chunks),
                "sizes": sizes,
                "hosted": record_of(resources),
            }
            text = json.dumps(manifest, indent=1, ensure_ascii=False)
            (fresh / MANIFEST).write_text(f"{text}\n", "utf-8")
    except OSError as fault:
        raise RunError(f"{folder}: cannot be written ({fault.strerror or fault})") from None
    return Update(config.name, len(corpus), len(passages.chunks), **counts)


def open_index(folder: Path, resources: Resources) -> Searcher:
    """The searcher of an index folder. Raises RunError when it is damaged, or was written with
    another model or by other rules for terms."""
    try:
        return read_current(folder, lambda place: _open(folder, place, resources))
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise RunError(f"{folder}: damaged index ({fault}); {AGAIN}") from None


def _is_ours(folder: Path) -> bool:
    """Whether a folder is empty but for what a killed writer left."""
    return folder.is_dir() and all(
        place.name.startswith(("generation-", ".current")) for place in folder.iterdir()
    )


def _write(
    place: Path,
    corpus: Corpus,
    digests: list[bytes],
    config: Config,
    rows: Passages,
    resources: Resources,
) -> None:
    """All files but the manifest."""
    write_documents(place / DOCUMENTS, corpus.documents, digests)
    save(
        place,
        {
            "chunks": rows.chunks.T,
            "shown": rows.shown.T,
            "shared": rows.shared,
            "document": rows.document,
            "view": rows.view,
        },
    )
    chunking = read_chunking(place, corpus)
    delivery = delivered(chunking, rows.shown[:, 0], rows.shown[:, 1])
    spans = delivery.spans
    save(
        place,
        {
            "spans": np.stack((spans.document, spans.start, spans.end)),
            "span_of": delivery.span_of,
            "features": np.array([feature(corpus, name) for name, _ in config.features.root]),
        },
    )
    write_views(place, entries_of(chunking, config.views))
    if config.bm25 is not None:
        assert rows.terms is not None
        assert rows.counts is not None  # made with the lexical leg
        write_bm25(place, rows.terms, rows.counts, config.bm25)
        if config.bm25.synonyms:
            shutil.copyfile(config.bm25.synonyms, place / SYNONYMS)
    if config.dense is not None:
        assert rows.vectors is not None  # made with the dense leg
        borders = np.cumsum(np.bincount(rows.view, minlength=len(config.views)))[:-1]
        parts = np.split(rows.vectors, borders)
        write_dense(place, parts, config.dense.index, resources.similarity(config.dense))


def _open(folder: Path, place: Path, resources: Resources) -> Searcher:
    manifest = json.loads((place / MANIFEST).read_text("utf-8"))
    fault = fault_of(place, manifest)
    if fault:
        raise RunError(f"{folder}: {fault}; {AGAIN}")
    config = Config.from_toml(manifest["config"])
    connect(manifest.get("hosted", {}), resources)
    was, now = manifest["depends"], dependencies(config, resources)
    for what in was:
        if was[what] != now[what]:
            raise RunError(
                f"{folder}: its {what} were made by {was[what]}, now there is {now[what]}; {AGAIN}"
            )
    corpus = open_documents(place / DOCUMENTS)
    chunking = read_chunking(place, corpus)
    indexes = Indexes(corpus, config.chunk, resources, chunking)
    views = read_views(place, chunking)
    document, start, end = mapped(place, "spans")
    spans = Chunking(corpus, document, start, end, np.zeros_like(start))
    names = [name for name, _ in config.features.root]
    indexes.know(
        {config.views: views},
        {config.deliver: Delivery(spans, mapped(place, "span_of"))},
        dict(zip(names, mapped(place, "features"), strict=True)),
        {} if config.bm25 is None else _lexical(place, config.bm25, indexes, views),
        {} if config.dense is None else _semantic(place, config.dense, was["similarity"], views),
    )
    if config.fusion is not None and config.fusion.rule is not None:
        rule = AlphaRule.from_json(json.loads((place / WEIGHTS).read_text("utf-8")))
        config = by_rule(config, rule)
    return Searcher(corpus, config, resources, indexes)


def _lexical(
    place: Path, config: BM25Config, indexes: Indexes, views: Sequence[Entries]
) -> dict[BM25Config, Views[BM25]]:
    if config.synonyms:
        indexes.resources.know_synonyms(config.synonyms, read_synonyms(place / SYNONYMS))
    plain = config.model_copy(update={"synonyms": ""})
    return {plain: read_bm25(place, plain, len(indexes.chunking), views)}


def _semantic(
    place: Path, config: DenseConfig, similarity: str, views: Sequence[Entries]
) -> dict[DenseConfig, Views[Dense]]:
    read = read_dense(place, config.index, similarity, views)
    return {config: read.each(lambda index: stored_by(index, config.storage))}
