"""Document and Corpus: the texts as read, never altered."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lab.corpus.names import Names
from lab.errors import CorpusError, counted, encodable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Document:
    """One text. Every offset in the lab counts code points of `text`, which stays exactly as
    read."""

    doc_id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}), hash=False)

    @property
    def doctype(self) -> str:
        """Its type: metadata `type`, else the folder, else the file's extension."""
        named, path = self.metadata.get("type"), PurePosixPath(self.doc_id)
        folder = path.parent.as_posix()
        return str(named) if named else folder if folder != "." else path.suffix or "document"

    @property
    def record(self) -> dict[str, Any]:
        """Its line of `documents.jsonl`; metadata that is called like one of the document's own
        fields is renamed."""
        fields = {"doc_id": self.doc_id, "title": self.title, "text": self.text}
        return fields | {
            (f"{key} (source)" if key in fields else key): value
            for key, value in self.metadata.items()
        }

    @property
    def encoded(self) -> bytes:
        """Everything of it as bytes, the same for the same document."""
        row = [self.doc_id, self.title, self.text, dict(self.metadata)]
        return json.dumps(row, ensure_ascii=True, sort_keys=True).encode()

    def view(self, name: str) -> str:
        """What the document says of itself under a name: `title`, or a metadata field that is a
        text or a list of texts; empty where it says nothing."""
        value = self.title if name == "title" else self.metadata.get(name)
        several = value if isinstance(value, list | tuple) else (value,)
        return "; ".join(text for text in several if isinstance(text, str) and text.strip())


def faults(document: object, position: int) -> list[str]:
    """What keeps an object from being a document, a line each: wrong types, no id, text or metadata
    that cannot be written as UTF-8."""
    if not isinstance(document, Document):
        return [f"document {position} is a {type(document).__name__}; expected a Document"]
    place = f"document {position}"
    if not isinstance(document.doc_id, str) or not document.doc_id.strip():
        return [f"{place}: doc_id is {document.doc_id!r}; expected a non-empty text"]
    place = f"document '{document.doc_id}'"
    problems = [
        f"{place}: {name} is a {type(value).__name__}; expected text"
        for name, value in (("text", document.text), ("title", document.title))
        if not isinstance(value, str)
    ]
    if not isinstance(document.metadata, Mapping):
        problems.append(
            f"{place}: metadata is a {type(document.metadata).__name__}; expected a dict"
        )
    elif not problems:
        problems += _unwritable(document, place)
    return problems


def _unwritable(document: Document, place: str) -> list[str]:
    if not all(map(encodable, (document.doc_id, document.text, document.title))):
        return [f"{place}: holds half of a surrogate pair, which is no character; remove it"]
    try:
        written = json.dumps(dict(document.metadata), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as fault:
        return [f"{place}: its metadata cannot be written as JSON ({fault})"]
    return [] if encodable(written) else [f"{place}: its metadata holds half of a surrogate pair"]


@dataclass(frozen=True)
class Corpus:
    """Documents ordered by `doc_id`, so that nothing downstream depends on the order they were read
    in. `unread` has a line for every kind of file that lay among them and was not read, `source` is
    the path they were read from, as it was given, None if made in Python.

    Raises CorpusError when two documents share an id, when one is none, or when there is none.
    """

    documents: Sequence[Document]
    unread: tuple[str, ...] = field(default=(), compare=False)
    source: str | None = field(default=None, compare=False)

    def __init__(
        self,
        documents: Iterable[Document],
        unread: tuple[str, ...] = (),
        source: str | None = None,
    ) -> None:
        given = tuple(documents)
        problems = [line for position, d in enumerate(given) for line in faults(d, position)]
        if problems:
            raise CorpusError(problems)
        ordered = tuple(sorted(given, key=lambda document: document.doc_id))
        if not ordered:
            raise CorpusError("the corpus holds no document")
        twice = sorted({a.doc_id for a, b in pairwise(ordered) if a.doc_id == b.doc_id})
        if twice:
            raise CorpusError(
                [
                    f"document id '{doc_id}' is used more than once; ids must be unique"
                    for doc_id in twice
                ]
            )
        object.__setattr__(self, "documents", ordered)
        object.__setattr__(self, "unread", unread)
        object.__setattr__(self, "source", source)

    @staticmethod
    def stored(documents: Sequence[Document], source: str | None = None) -> "Corpus":
        """Documents as `lab.corpus.stored` kept them of a corpus: checked and ordered before, and
        read one by one when they are asked for."""
        corpus = Corpus.__new__(Corpus)
        object.__setattr__(corpus, "documents", documents)
        object.__setattr__(corpus, "unread", ())
        object.__setattr__(corpus, "source", source)
        return corpus

    @staticmethod
    def from_frame(frame: "pd.DataFrame") -> "Corpus":
        """Documents from a DataFrame: columns `doc_id`, `text` and, if there is one, `title`; any
        other column is metadata, left out where it is missing. Raises CorpusError with every bad
        row."""
        from lab.corpus.frame import document_rows

        return Corpus(Document(*row) for row in document_rows(frame))

    def __len__(self) -> int:
        return len(self.documents)

    def __repr__(self) -> str:
        """Short: a corpus may hold a library."""
        return f"Corpus({counted(len(self), 'document')}, {self.characters} characters)"

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    def __getitem__(self, doc_id: str) -> Document:
        return self.documents[self.position[doc_id]]

    def __contains__(self, doc_id: object) -> bool:
        return doc_id in self.position

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Index of every document id in `documents`."""
        return {document.doc_id: i for i, document in enumerate(self.documents)}

    @cached_property
    def names(self) -> Names:
        """The document ids, found whatever the normal form they are asked in."""
        return Names(self.position)

    @property
    def characters(self) -> int:
        return sum(len(document.text) for document in self.documents)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over ids, titles, texts and metadata; the same for the same documents in any
        order."""
        digest = hashlib.sha256()
        for document in self.documents:
            encoded = document.encoded
            digest.update(len(encoded).to_bytes(8, "big") + encoded)
        return digest.hexdigest()
