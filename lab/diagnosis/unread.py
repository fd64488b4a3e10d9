"""Evidence past what the encoder reads: which chunks are too long, and which pieces lie in their
unread tails."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import Ints
from lab.chunking.chunk import Chunking
from lab.chunking.prefix import Prefix, prefixes
from lab.relevance.pieces import Pieces
from lab.relevance.place import place
from lab.retrieval.encoder import Encoder


@dataclass(frozen=True, slots=True)
class Tail:
    """The unread stretch [start, end) at the end of a chunk that holds a piece of evidence. `begin`
    is where the encoder would have to start to read the evidence: at `start`, or at the evidence
    where the tail itself is too long."""

    chunk: int
    start: int
    end: int
    begin: int


def room_of(encoder: Encoder, chunking: Chunking, prefix: Prefix) -> Ints:
    """Per chunk how many of its own tokens an encoder reads, behind its prompt and the prefix."""
    room = encoder.max_tokens - len(encoder.offsets(encoder.prompt("passage")))
    before = prefixes(chunking.corpus, chunking.spans, prefix)
    tokens = {text: len(encoder.offsets(text)) if text else 0 for text in set(before)}
    return np.array([max(room - tokens[text], 0) for text in before], dtype=np.int64)


def read_ends(chunking: Chunking, token_starts: Sequence[Ints], room: Ints) -> Ints:
    """Per chunk the offset up to which an encoder reads that has room for so many of its tokens;
    its end where it is read whole."""
    ends = chunking.end.copy()
    for chunk, document in enumerate(chunking.document):
        starts = token_starts[document]
        last = int(np.searchsorted(starts, chunking.start[chunk]) + room[chunk])
        if last < len(starts) and starts[last] < ends[chunk]:
            ends[chunk] = starts[last]
    return ends


def unread(
    asked: Pieces, chunking: Chunking, token_starts: Sequence[Ints], room: Ints
) -> dict[int, Tail]:
    """Pieces of which an encoder reads less than half that has room for so many tokens of every
    chunk, with the tail that holds most of one."""
    ends, tail_of_piece = read_ends(chunking, token_starts, room), dict[int, Tail]()
    if (ends == chunking.end).all():
        return tail_of_piece
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
                read[
                    max(int(chunking.start[chunk]) - start, 0) : max(int(ends[chunk]) - start, 0)
                ] = True
            if 2 * read.sum() >= end - start or not len(chunks):
                break
            hidden = np.minimum(chunking.end[chunks], end) - np.maximum(ends[chunks], start)
            worst = int(chunks[hidden.argmax()])
            low, starts = int(ends[worst]), token_starts[document]
            fits = (
                np.searchsorted(starts, min(end, int(chunking.end[worst])))
                - np.searchsorted(starts, low)
                <= room[worst]
            )
            tails.append(
                Tail(worst, low, int(chunking.end[worst]), low if fits else max(low, start))
            )
        else:
            if tails:
                tail_of_piece[piece] = tails[0]
    return tail_of_piece
