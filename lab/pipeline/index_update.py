"""What an index folder takes over when it is brought up to date: rows of documents that are as they
were, made under the same settings, by the same models and rules."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lab.arrays import NONE
from lab.chunking.contexts import read_contexts
from lab.chunking.prefix import FILE
from lab.config.config import Config
from lab.corpus.document import Corpus
from lab.corpus.stored import StoredDocuments
from lab.pipeline.index_files import read_passages
from lab.pipeline.passages import Passages, has_text, joined, passages_of
from lab.pipeline.resources import Resources
from lab.retrieval.analyzer import ANALYZERS
from lab.storage.generations import has_generations, read_current

MANIFEST, DOCUMENTS = "manifest.json", "documents.arrow"
FORMAT = 1


def fault_of(place: Path, manifest: Mapping[str, Any]) -> str:
    """What keeps a state from being read; empty where nothing does."""
    if manifest["format"] != FORMAT:
        return f"index format {manifest['format']!r}, this version reads {FORMAT}"
    for name, size in manifest["sizes"].items():
        if (place / name).stat().st_size != size:
            return f"damaged index ({name} is not {size} bytes)"
    return ""


def dependencies(config: Config, resources: Resources) -> dict[str, str]:
    """What terms, vectors and cuts are made by, beside the settings."""
    identities = {}
    if config.chunk.prefix.startswith(FILE):
        identities["contexts"] = read_contexts(config.chunk.prefix.removeprefix(FILE)).identity
    if config.bm25 is not None:
        identities["terms"] = ANALYZERS[config.bm25.analyzer].identity
    models = {"tokens": config.chunk.tokenizer, "sentences": config.chunk.embedder}
    if config.dense is not None:
        models["vectors"] = config.dense.encoder
        identities["similarity"] = resources.similarity(config.dense)
    for role, name in models.items():
        if name:
            encoder = resources.encoder(name)
            identities[role] = f"{encoder.identity} {encoder.prompt('passage')!r}"
    return identities


def usable_state(folder: Path, depends: Mapping[str, str]) -> Path | None:
    """The state whose rows may be taken over; None where there is none."""
    if not has_generations(folder):
        return None

    def usable(place: Path) -> Path | None:
        manifest = json.loads((place / MANIFEST).read_text("utf-8"))
        whole = not fault_of(place, manifest) and manifest["depends"] == depends
        return place if whole else None

    try:
        return read_current(folder, usable)
    except (OSError, ValueError, KeyError, TypeError):
        return None  # damaged: everything is indexed again


def brought_up(
    corpus: Corpus, digests: list[bytes], config: Config, resources: Resources, old: Path | None
) -> tuple[Passages, dict[str, int]]:
    """The rows of all documents, and how many of these were made or taken over."""
    if old is None or not _same_rows(old, config):
        rows = passages_of(corpus, config, resources)
        return rows, {"added": len(corpus), "changed": 0, "removed": 0, "kept": 0}
    before = StoredDocuments(old / DOCUMENTS)
    known = {
        doc_id: (place, digest)
        for place, (doc_id, digest) in enumerate(
            zip(before.column("doc_id"), before.column("digest"), strict=True)
        )
    }
    kept_place = np.full(len(before), NONE)
    fresh: list[int] = []
    for place, (document, digest) in enumerate(zip(corpus, digests, strict=True)):
        was = known.get(document.doc_id)
        if was is not None and was[1] == digest:
            kept_place[was[0]] = place
        else:
            fresh.append(place)
    parts = [(read_passages(old, config), kept_place)]
    documents = [corpus.documents[place] for place in fresh]
    if has_text(documents):
        made = passages_of(Corpus(documents), config, resources)
        parts.append((made, np.array(fresh, dtype=np.int64)))
    rows = joined(parts)
    if not len(rows.chunks):
        passages_of(corpus, config, resources)  # says that there is no text
    changed = sum(document.doc_id in known for document in documents)
    kept = int((kept_place != NONE).sum())
    return rows, {
        "added": len(fresh) - changed,
        "changed": changed,
        "removed": len(before) - kept - changed,
        "kept": kept,
    }


def _same_rows(old: Path, config: Config) -> bool:
    """Whether a state's rows were made under the same settings; those that only weigh rows may
    differ."""
    manifest = json.loads((old / MANIFEST).read_text("utf-8"))
    was = Config.from_toml(manifest["config"])
    return _row_settings(was) == _row_settings(config)


def _row_settings(config: Config) -> tuple[Any, ...]:
    lexical, semantic = config.bm25, config.dense
    return (
        config.chunk,
        config.views,
        config.deliver,
        lexical and lexical.analyzer,
        semantic and (semantic.encoder, semantic.pooling),
    )
