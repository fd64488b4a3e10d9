"""Documents in an Arrow file, mapped into memory: opened at once, each read when it is asked
for."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

from lab.corpus.document import Corpus, Document

COLUMNS = ("doc_id", "title", "text", "metadata", "digest")
AT_ONCE = 10_000


def digest_of(document: Document) -> bytes:
    """SHA-256 over everything of a document: another digest, another document."""
    return hashlib.sha256(document.encoded).digest()


def write_documents(file: Path, documents: Sequence[Document], digests: Sequence[bytes]) -> None:
    """Write documents, in their order, with the digest of each."""
    import pyarrow as pa

    kinds = (pa.string(), pa.string(), pa.string(), pa.string(), pa.binary(32))
    schema = pa.schema(zip(COLUMNS, kinds, strict=True))
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        # In parts: a column of one part holds two gigabytes at most.
        for first in range(0, len(documents), AT_ONCE):
            rows = range(first, min(first + AT_ONCE, len(documents)))
            columns = (
                [documents[row].doc_id for row in rows],
                [documents[row].title for row in rows],
                [documents[row].text for row in rows],
                [json.dumps(dict(documents[row].metadata), ensure_ascii=False) for row in rows],
                [digests[row] for row in rows],
            )
            arrays = [pa.array(part, kind) for part, kind in zip(columns, kinds, strict=True)]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


class StoredDocuments(Sequence[Document]):
    """The documents of a file that `write_documents` wrote."""

    def __init__(self, file: Path) -> None:
        import pyarrow as pa

        with pa.memory_map(str(file)) as source:
            self._table = pa.ipc.open_file(source).read_all()

    def __len__(self) -> int:
        return int(self._table.num_rows)

    @overload
    def __getitem__(self, place: int) -> Document: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Document]: ...
    def __getitem__(self, place: int | slice) -> Document | Sequence[Document]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        doc_id, title, text, metadata = (
            self._table.column(name)[int(place)].as_py() for name in COLUMNS[:4]
        )
        return Document(doc_id, text, title, json.loads(metadata))

    def column(self, name: str) -> list[Any]:
        """One of `COLUMNS` of all documents."""
        return self._table.column(name).to_pylist()  # type: ignore[no-any-return]


def open_documents(file: Path) -> Corpus:
    """The corpus whose documents lie in a file. Raises OSError or ValueError when it is none."""
    return Corpus.stored(StoredDocuments(file))
