"""What is handed to the reader for a hit: the chunk, a window of neighbours, or its parent of a
larger size."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import Ints
from lab.chunking.chunk import Chunking
from lab.chunking.config import DELIVER, ChunkConfig
from lab.chunking.semantic import Embed
from lab.chunking.strategies import chunk
from lab.chunking.units import Tokenize


@dataclass(frozen=True, eq=False)
class Delivery:
    """`spans` are what readers see; `span_of[i]` is the span delivered for chunk i."""

    spans: Chunking
    span_of: Ints


def deliver(
    chunking: Chunking,
    config: ChunkConfig,
    how: str,
    tokenize: Tokenize | None = None,
    embed: Embed | None = None,
) -> Delivery:
    """Map every chunk to the span of its document that it stands for (`how` as in
    `chunking.config.Deliver`; `tokenize` and `embed` as for `chunk`)."""
    window, parent = DELIVER.fullmatch(how).groups()  # type: ignore[union-attr]  # validated with the config
    if window:
        return delivered(chunking, *_window(chunking, int(window)))
    if parent:
        parents = chunk(
            chunking.corpus,
            config.model_copy(update={"size": int(parent), "overlap": 0}),
            tokenize,
            embed,
        )
        return delivered(chunking, *_parents(chunking, parents))
    return Delivery(chunking, np.arange(len(chunking)))


def _window(chunking: Chunking, n: int) -> tuple[Ints, Ints]:
    """Start of the n-th chunk before and end of the n-th after, within the document and the size;
    a span that several sizes cut stands in the row of each, and has the window of its first."""
    inner, further = (
        np.arange(len(chunking)),
        np.array(chunking.shared, dtype=np.int64).reshape(-1, 2),
    )
    chunk_of = np.concatenate((inner, further[:, 0]))
    level = np.concatenate((chunking.level, further[:, 1]))
    order = np.lexsort((chunking.start[chunk_of], chunking.document[chunk_of], level))
    first, last = np.empty_like(chunk_of), np.empty_like(chunk_of)
    group = np.stack((level[order], chunking.document[chunk_of[order]]))
    edges = np.flatnonzero(np.any(group[:, 1:] != group[:, :-1], axis=0)) + 1
    for members in np.split(order, edges):
        places = np.arange(len(members))
        first[members] = chunk_of[members[np.maximum(places - n, 0)]]
        last[members] = chunk_of[members[np.minimum(places + n, len(members) - 1)]]
    return chunking.start[first[inner]], chunking.end[last[inner]]


def _parents(chunking: Chunking, parents: Chunking) -> tuple[Ints, Ints]:
    """The parent that shares most characters with the chunk; the earlier one of equals. A chunk
    that lies in a gap between parents stays itself."""
    start, end = chunking.start.copy(), chunking.end.copy()
    first = np.searchsorted(parents.document, np.arange(len(chunking.corpus) + 1))
    for i, document in enumerate(chunking.document):
        of_document = slice(first[document], first[document + 1])
        left, right = parents.start[of_document], parents.end[of_document]
        shared = np.minimum(right, chunking.end[i]) - np.maximum(left, chunking.start[i])
        if len(shared) and shared.max() > 0:
            best = int(shared.argmax())
            start[i], end[i] = left[best], right[best]
    return start, end


def delivered(chunking: Chunking, start: Ints, end: Ints) -> Delivery:
    """The delivery that shows [start[i], end[i]) of its document for chunk i."""
    keys = np.stack((chunking.document, start, end), axis=1)
    unique, span_of = np.unique(keys, axis=0, return_inverse=True)
    document, start, end = unique.T
    spans = Chunking(chunking.corpus, document, start, end, np.zeros_like(start))
    return Delivery(spans, span_of.reshape(-1))
