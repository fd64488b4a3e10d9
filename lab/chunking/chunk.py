"""Chunk and Chunking: half-open slices of documents, held as arrays."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lab.arrays import Ints
from lab.corpus.document import Corpus


@dataclass(frozen=True, slots=True)
class Chunk:
    """One slice; its text is `document.text[start:end]`."""

    doc_id: str
    start: int
    end: int

    @property
    def chunk_id(self) -> str:
        return f"{self.doc_id}:{self.start}-{self.end}"


@dataclass(frozen=True, slots=True)
class Fault:
    """What another library's splitter did to one document beside cutting it to size: `strings` that
    are not in its text and so are no chunks, `sample` the first of them; the number of non-blank
    `characters` that lie in no chunk; and how many chunks are `oversized`, the largest of them
    `largest` units."""

    doc_id: str
    strings: int = 0
    sample: str = ""
    characters: int = 0
    oversized: int = 0
    largest: int = 0


@dataclass(frozen=True, eq=False)
class Chunking:
    """All spans of one corpus under one setting, ordered by (doc_id, start, end): a smaller index
    wins a tied score.

    `document`, `start`, `end` and `level` are parallel arrays: position of the document in the
    corpus, code point offsets, and which of several sizes the chunk belongs to; `shared` lists
    (chunk, level) of further sizes that cut the same span. `blank` counts the spans that held only
    white space and were left out. `faults` is empty but for other libraries' splitters.
    """

    corpus: Corpus
    document: Ints
    start: Ints
    end: Ints
    level: Ints
    blank: int = 0
    faults: tuple[Fault, ...] = ()
    shared: tuple[tuple[int, int], ...] = ()

    @staticmethod
    def of(
        corpus: Corpus, spans: list[tuple[int, int, int, int]], faults: tuple[Fault, ...] = ()
    ) -> "Chunking":
        """From (document, start, end, level) in any order; repeats and blank spans are dropped."""
        levels: dict[tuple[int, int, int], list[int]] = {}
        for d, s, e, level in sorted(set(spans)):
            levels.setdefault((d, s, e), []).append(level)
        texts = [document.text for document in corpus]
        kept = [
            (*span, *several)
            for span, several in sorted(levels.items())
            if texts[span[0]][span[1] : span[2]].strip()
        ]
        columns = np.array([row[:4] for row in kept], dtype=np.int64).reshape(-1, 4).T
        shared = tuple((place, level) for place, row in enumerate(kept) for level in row[4:])
        return Chunking(
            corpus=corpus,
            document=columns[0],
            start=columns[1],
            end=columns[2],
            level=columns[3],
            blank=len(levels) - len(kept),
            faults=faults,
            shared=shared,
        )

    def __len__(self) -> int:
        return len(self.start)

    def __iter__(self) -> Iterator[Chunk]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: int) -> Chunk:
        doc_id = self.corpus.documents[self.document[index]].doc_id
        return Chunk(doc_id, int(self.start[index]), int(self.end[index]))

    def text(self, index: int) -> str:
        document = self.corpus.documents[int(self.document[index])]
        return document.text[int(self.start[index]) : int(self.end[index])]

    @property
    def spans(self) -> list[tuple[int, int, int]]:
        """(document, start, end) of every chunk."""
        return list(
            zip(self.document.tolist(), self.start.tolist(), self.end.tolist(), strict=True)
        )

    @cached_property
    def texts(self) -> list[str]:
        return [self.text(i) for i in range(len(self))]
