"""Where tokens begin, and how many a span has."""

from collections.abc import Sequence

import numpy as np

from lab.arrays import Ints, Span
from lab.chunking.chunk import Chunking


def starts_of(tokens: Sequence[Span]) -> Ints:
    """The offsets at which tokens that have a character begin, ascending."""
    return np.array(sorted(start for start, end in tokens if end > start), dtype=np.int64)


def count_tokens(starts: Sequence[Ints], spans: Chunking) -> Ints:
    """Tokens of every span: those of its document that begin in it, so that counts of neighbours
    add up."""
    counts = np.zeros(len(spans), dtype=np.int64)
    first = np.searchsorted(spans.document, np.arange(len(starts) + 1))
    for document, offsets in enumerate(starts):
        part = slice(first[document], first[document + 1])
        counts[part] = np.searchsorted(offsets, spans.end[part]) - np.searchsorted(
            offsets, spans.start[part]
        )
    return counts
