"""Evidence past what the encoder reads: which chunks are too long, and which pieces lie in their unread tails."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.chunking.chunk import Chunking
from lab.truth.judge import place
from lab.truth.pieces import Pieces

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Tail:
    """An unread stretch of a document that holds a piece of evidence, and the chunk whose end it is."""

    chunk: int
    start: int
    end: int


def read_ends(chunking: Chunking, token_starts: Sequence[Ints], room: int) -> Ints:
    """Per chunk the offset up to which an encoder of `room` tokens reads; its end where it is read whole."""
    ends = chunking.end.copy()
    for chunk, document in enumerate(chunking.document):
        starts = token_starts[document]
        last = int(np.searchsorted(starts, chunking.start[chunk])) + room
        if last < len(starts) and starts[last] < ends[chunk]:
            ends[chunk] = starts[last]
    return ends


def unread(asked: Pieces, chunking: Chunking, ends: Ints) -> dict[int, Tail]:
    """Pieces of which the encoder reads less than half, with the tail that holds most of one; `ends` as by `read_ends`."""
    found: dict[int, Tail] = {}
    if (ends == chunking.end).all():
        return found
    first = np.searchsorted(chunking.document, np.arange(len(chunking.corpus) + 1))
    for piece, alternatives in enumerate(asked.items):
        tails = []
        for evidence in alternatives:
            text, start, end = place(chunking.corpus, evidence)
            end = min(end, len(text))
            if end <= start:
                continue
            document = chunking.corpus.position[evidence.doc_id]
            chunks = np.arange(first[document], first[document + 1])
            chunks = chunks[(chunking.start[chunks] < end) & (chunking.end[chunks] > start)]
            read = np.zeros(end - start, dtype=bool)
            for chunk in chunks:
                read[max(int(chunking.start[chunk]) - start, 0) : max(int(ends[chunk]) - start, 0)] = True
            if 2 * read.sum() >= end - start or not len(chunks):
                break
            hidden = np.minimum(chunking.end[chunks], end) - np.maximum(ends[chunks], start)
            worst = int(chunks[hidden.argmax()])
            # The model would cut a long tail off again, so of that the part with the evidence.
            tails.append(Tail(worst, max(int(ends[worst]), min(start, int(ends[worst]))), int(chunking.end[worst])))
        else:
            if tails:
                found[piece] = tails[0]
    return found
