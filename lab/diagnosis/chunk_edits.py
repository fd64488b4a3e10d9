"""Chunk edits: a chunk cut elsewhere, or read to its end, in place of the ones that are there."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import Ints, Span
from lab.diagnosis.cuts import chunk_around
from lab.diagnosis.unread import Tail
from lab.pipeline.memo import Memo
from lab.pipeline.stages import Stages
from lab.relevance.pieces import Pieces
from lab.relevance.place import place


@dataclass(frozen=True, slots=True)
class ChunkEdit:
    """What is put in for one piece: [start, end) of a document, instead of the chunks `removed`.
    `reads` is the span that the encoder is given; `kept` is the chunk whose lexical score and
    better vector stay, None for a new chunk."""

    document: int
    start: int
    end: int
    removed: tuple[int, ...]
    reads: Span
    kept: int | None = None


@dataclass(frozen=True, slots=True)
class _Parts:
    """Where a piece stands, and the chunks that hold some of it."""

    document: int
    start: int
    end: int
    chunks: Ints


class ChunkEdits:
    """The edits that may bring a piece back. Built once per chunking, and made once a piece."""

    def __init__(self, stages: Stages, pieces: Pieces) -> None:
        self.stages = stages
        self.pieces = pieces
        chunking = stages.chunking
        self._first = np.searchsorted(chunking.document, np.arange(len(chunking.corpus) + 1))
        self._around: Memo[tuple[int, float], ChunkEdit] = Memo()

    def around(self, piece: int, share: float = 1.0) -> ChunkEdit:
        """A chunk with the piece in its middle, a share of the old ones' length, in place of all
        that hold some of it."""
        return self._around.once((piece, share), lambda: self._cut_around(piece, share))

    def _cut_around(self, piece: int, share: float) -> ChunkEdit:
        chunking, parts = self.stages.chunking, self._parts(piece)
        text = chunking.corpus.documents[parts.document].text
        lengths = (chunking.end[parts.chunks] - chunking.start[parts.chunks]).tolist()
        span = chunk_around(text, parts.start, parts.end, lengths, share)
        removed = tuple(parts.chunks.tolist())
        return ChunkEdit(parts.document, *span, removed=removed, reads=span)

    def moved(self, piece: int, behind: bool) -> ChunkEdit:
        """The first chunk that holds some of a piece, ending behind it, or the last one, beginning
        before it; what overlaps it then stays as it is."""
        chunking, parts = self.stages.chunking, self._parts(piece)
        chunk = int(parts.chunks[0] if behind else parts.chunks[-1])
        start = min(int(chunking.start[chunk]), parts.start)
        end = max(int(chunking.end[chunk]), parts.end)
        return ChunkEdit(parts.document, start, end, removed=(chunk,), reads=(start, end))

    def read_to_end(self, tail: Tail) -> ChunkEdit:
        """A chunk of which the encoder reads its tail as well."""
        chunking, chunk = self.stages.chunking, tail.chunk
        return ChunkEdit(
            int(chunking.document[chunk]),
            int(chunking.start[chunk]),
            int(chunking.end[chunk]),
            removed=(chunk,),
            reads=(tail.begin, tail.end),
            kept=chunk,
        )

    def _parts(self, piece: int) -> _Parts:
        """Of a piece's first alternative that has a text and may answer the question."""
        chunking, query = self.stages.chunking, int(self.pieces.query[piece])
        for evidence in self.pieces.items[piece]:
            text, start, end = place(chunking.corpus, evidence)
            if text[start:end].strip() and self.stages.admits(query, evidence.doc_id):
                break
        document = chunking.corpus.position[evidence.doc_id]
        chunks = np.arange(self._first[document], self._first[document + 1])
        overlapping = (chunking.start[chunks] < end) & (chunking.end[chunks] > start)
        return _Parts(document, start, min(end, len(text)), chunks[overlapping])
