"""Span index: how the spans of a chunking cover the evidence, as arrays."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lab.arrays import Ints
from lab.chunking.chunk import Chunking
from lab.relevance.coverage import CoveringSpans
from lab.relevance.pieces import Pieces
from lab.relevance.place import place
from lab.relevance.query import Evidence


@dataclass(frozen=True, eq=False)
class SpanIndex:
    """Every evidence item (one alternative of a piece) is parted at the borders of the spans that
    overlap it; a part is shown by every span that covers it.

    `item_piece`, `total` and `need` are over the items, ordered by piece: the piece, its non-blank
    characters, and how many of them have to be seen. `part_item` and `part_weight` are over the
    parts, ordered by item: the item, and the part's non-blank characters. `pair_span` and
    `pair_query` are over the (part, span) pairs, ordered by part; part i's are at [part_ends[i],
    part_ends[i + 1]). `relevant` are the keys `question * spans + span` of what is relevant by
    itself, ascending.
    """

    item_piece: Ints
    total: Ints
    need: Ints
    part_item: Ints
    part_weight: Ints
    part_ends: Ints
    pair_span: Ints
    pair_query: Ints
    relevant: Ints

    def covering(self, item: int) -> CoveringSpans:
        """How spans cover one item."""
        parts = run(self.part_item, item)
        spans = tuple(
            self.pair_span[self.part_ends[part] : self.part_ends[part + 1]] for part in parts
        )
        weights = self.part_weight[parts.start : parts.stop]
        return CoveringSpans(int(self.need[item]), weights, spans)


@dataclass(frozen=True, slots=True)
class _Item:
    """One evidence item: its non-blank characters, its parts (non-blank characters, spans that
    cover it), and the spans that are relevant by themselves."""

    total: int
    parts: list[tuple[int, Ints]]
    relevant: list[int]


def span_index(pieces: Pieces, spans: Chunking, hold: float) -> SpanIndex:
    """Index the evidence of all questions over `spans`; an item is complete when `hold` of it is
    seen."""
    first = np.searchsorted(spans.document, np.arange(len(spans.corpus) + 1))
    items = [_item(evidence, spans, first) for piece in pieces.items for evidence in piece]
    item_piece = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces.items])
    part_item = np.repeat(np.arange(len(items)), [len(item.parts) for item in items])
    covering = [covering for item in items for _, covering in item.parts]
    sizes = np.array([len(spans_of_part) for spans_of_part in covering], dtype=np.int64)
    pair_query = np.repeat(pieces.query[item_piece[part_item]], sizes)
    query_of_item = pieces.query[item_piece].tolist()
    relevant = {
        query * len(spans) + span
        for query, item in zip(query_of_item, items, strict=True)
        for span in item.relevant
    }
    total = np.array([item.total for item in items], dtype=np.int64)
    return SpanIndex(
        item_piece=item_piece,
        total=total,
        # The smallest number of characters that is at least `hold`; the tiny slack keeps 0.9 * 10
        # at 9.
        need=np.ceil(hold * total - 1e-9).astype(np.int64),
        part_item=part_item,
        part_weight=np.array([weight for i in items for weight, _ in i.parts], dtype=np.int64),
        part_ends=np.concatenate(([0], np.cumsum(sizes))),
        pair_span=np.concatenate(covering or [np.zeros(0, dtype=np.int64)]),
        pair_query=pair_query,
        relevant=np.array(sorted(relevant), dtype=np.int64),
    )


def run(ascending: Ints, value: int) -> range:
    """Where a value stands in an ascending array."""
    first, last = np.searchsorted(ascending, [value, value + 1])
    return range(int(first), int(last))


def _item(evidence: Evidence, spans: Chunking, first: Ints) -> _Item:
    """`first` is where every document's spans begin."""
    text, start, end = place(spans.corpus, evidence)
    if not text[start:end].strip():
        # No span can hold what is not in the corpus; counted as one character that is never seen.
        return _Item(1, [], [])
    # What lies past the end of the text counts too: it is evidence that nothing holds.
    total = visible(text, start, end) + max(end - len(text), 0)
    document = spans.corpus.position[evidence.doc_id]
    chunks = np.arange(first[document], first[document + 1])
    chunks = chunks[(spans.start[chunks] < end) & (spans.end[chunks] > start)]
    lefts, rights = np.maximum(spans.start[chunks], start), np.minimum(spans.end[chunks], end)
    parts = list(_parts(text, chunks, lefts, rights))
    relevant = [
        chunk
        for chunk, left, right in zip(chunks.tolist(), lefts.tolist(), rights.tolist(), strict=True)
        if 2 * visible(text, left, right)
        >= min(total, visible(text, int(spans.start[chunk]), int(spans.end[chunk])))
    ]
    return _Item(total, parts, relevant)


def _parts(text: str, chunks: Ints, lefts: Ints, rights: Ints) -> Iterator[tuple[int, Ints]]:
    """Between neighbouring borders of the spans within an item: its non-blank characters, and the
    spans over it; blank and uncovered parts are left out."""
    borders = np.unique(np.concatenate((lefts, rights)))
    for low, high in pairwise(borders.tolist()):
        covering = chunks[(lefts <= low) & (rights >= high)]
        weight = visible(text, low, high)
        if len(covering) and weight:
            yield weight, covering


def visible(text: str, start: int, end: int) -> int:
    """Non-blank characters of text[start:end]."""
    return len("".join(text[start:end].split()))
