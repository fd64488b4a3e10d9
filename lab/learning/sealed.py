"""What is sealed: questions that no training may see, and the documents that answer them."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.corpus.document import Corpus
from lab.errors import LearningError
from lab.evaluation.clusters import main_documents
from lab.relevance.pieces import pieces
from lab.relevance.query import Query
from lab.relevance.read import read_diagnostics
from lab.runs.run import Run
from lab.sets.audit.duplicates import same_text

# The folder beside a set's files that holds its sealed questions.
FOLDER = "sealed"
# Leaks that a message names.
SHOWN = 10


@dataclass(frozen=True, slots=True)
class Sealed:
    """Sealed questions by id, digests of their texts (case and white space aside), the documents
    that hold core evidence of them, and the sets that they were read from."""

    query_ids: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    paths: tuple[str, ...] = ()

    @property
    def plain(self) -> dict[str, list[str]]:
        """As it stands in a file."""
        return {
            "query_ids": sorted(self.query_ids),
            "texts": sorted(self.texts),
            "documents": sorted(self.documents),
            "paths": list(self.paths),
        }

    @staticmethod
    def of(plain: Mapping[str, Any]) -> "Sealed":
        """From what `plain` gave."""
        ids, texts, documents = (
            frozenset(map(str, plain[name])) for name in ("query_ids", "texts", "documents")
        )
        return Sealed(ids, texts, documents, tuple(map(str, plain["paths"])))

    @property
    def digest(self) -> str:
        """SHA-256 of what is sealed, wherever it lies."""
        content = {key: value for key, value in self.plain.items() if key != "paths"}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def asks(self, query_id: str, text: str) -> bool:
        """Whether a question is one of the sealed ones, by its id or its text."""
        return query_id in self.query_ids or digest_of(text) in self.texts


def sealed_of(run: Run, sets: Sequence[Path]) -> Sealed:
    """What is sealed for a run: the questions that its `[measure] sealed` set aside, those of the
    folder `sealed` beside its sets, and those of further `sets` about the same documents.

    Sealed documents are those under which the first count, those in which the first two have
    evidence and no open question of the run has any (sealing by documents puts every question
    about a sealed one aside), and all that answer questions of the further sets.
    """
    kept = run.manifest["conclusions"]["sealed"]
    ids = set(kept["query_ids"] if kept else ())
    own = [query for query in run.queries if query.query_id in ids]
    folders = _beside(run)
    beside, further = (
        read_diagnostics(paths, run.corpus) if paths else () for paths in (folders, sets)
    )
    opened = _documents(query for query in run.queries if query.query_id not in ids)
    documents = (_documents([*own, *beside]) - opened) | _counted_under(run, ids)
    queries = [*own, *beside, *further]
    return Sealed(
        frozenset(query.query_id for query in queries),
        frozenset(digest_of(query.text) for query in queries),
        frozenset(documents | _documents(further)),
        tuple(dict.fromkeys(str(path.absolute()) for path in (*folders, *sets))),
    )


def _counted_under(run: Run, ids: set[str]) -> set[str]:
    """The main documents of some questions: by these a run parts the sealed from the open ones."""
    asked = pieces(run.queries, run.manifest["unit"])
    labels = zip(asked.queries, main_documents(asked).tolist(), strict=True)
    return {str(label) for query, label in labels if query.query_id in ids}


def _documents(queries: Iterable[Query]) -> set[str]:
    return {doc_id for query in queries for doc_id in answering(query)}


def asked_again(run: Run, sealed: Sealed, corpus: Corpus) -> tuple[Query, ...]:
    """The sealed questions themselves, with their evidence, for a verdict."""
    own = [query for query in run.queries if query.query_id in sealed.query_ids]
    missing = [path for path in sealed.paths if not Path(path).exists()]
    if missing:
        raise LearningError(f"{path}: the sealed questions are not there" for path in missing)
    read = read_diagnostics(sealed.paths, corpus) if sealed.paths else ()
    names = {query.query_id for query in read}
    return (*read, *(query for query in own if query.query_id not in names))


def refuse_leaks(queries: Iterable[tuple[str, str]], sealed: Sealed, place: str) -> None:
    """Raises LearningError for questions (id, text) that are sealed themselves."""
    leaks = [query_id for query_id, text in queries if sealed.asks(query_id, text)]
    if leaks:
        shown = ", ".join(leaks[:SHOWN]) + (", ..." if len(leaks) > SHOWN else "")
        raise LearningError(
            f"{place}: a leak: {len(leaks)} of its questions are sealed ({shown}); expected a run "
            "of the open questions alone"
        )


def answering(query: Query) -> set[str]:
    """The documents that hold core evidence of a question."""
    return {item.doc_id for item in query.evidence if item.role == "core" and item.grade > 0}


def digest_of(text: str) -> str:
    """A question's text as a digest: what is sealed is not written down again."""
    return hashlib.sha256(same_text(text).encode()).hexdigest()[:32]


def _beside(run: Run) -> list[Path]:
    """The folders `sealed` of the run's sets; none for questions that were made in Python."""
    if not run.manifest["questions"]["paths"]:
        return []
    folders = [path if path.is_dir() else path.parent for path in run.sets]
    return [
        folder / FOLDER
        for folder in dict.fromkeys(folders)
        if folder.name != FOLDER and any((folder / FOLDER).glob("*.jsonl"))
    ]
