"""Cuts: where a chunking parts its documents, and how far a span lies from the nearest of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lab.arrays import Ints
from lab.chunking.chunk import Chunking


@dataclass(frozen=True, eq=False)
class Cuts:
    """The borders of a chunking's chunks; the two ends of a document are no cuts."""

    chunking: Chunking

    def margin(self, document: int, start: int, end: int) -> int:
        """Characters between [start, end) of a document (its position in the corpus) and the
        nearest cut, in the chunk that holds the span with most room.

        Where no chunk holds it whole, minus the characters that the best chunk lacks. A span in a
        document without any cut has the document's length as margin.
        """
        length = len(self.chunking.corpus.documents[document].text)
        left, right = self._borders(document)
        room = np.minimum(
            np.where(left == 0, length, start - left),
            np.where(right == length, length, right - end),
        )
        held = (left <= start) & (right >= end)
        if held.any():
            return int(room[held].max())
        lacking = (end - start) - np.clip(np.minimum(right, end) - np.maximum(left, start), 0, None)
        return -int(lacking.min(initial=end - start))

    def inside(self, document: int, start: int, end: int) -> tuple[int, ...]:
        """Offsets at which chunks begin or end strictly inside [start, end), ascending."""
        left, right = self._borders(document)
        borders = np.unique(np.concatenate((left, right)))
        return tuple(borders[(borders > start) & (borders < end)].tolist())

    def _borders(self, document: int) -> tuple[Ints, Ints]:
        part = slice(self._first[document], self._first[document + 1])
        return self.chunking.start[part], self.chunking.end[part]

    @cached_property
    def _first(self) -> Ints:
        return np.searchsorted(self.chunking.document, np.arange(len(self.chunking.corpus) + 1))
