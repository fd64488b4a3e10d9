"""The cut that parted a piece of evidence, and the chunk that would not have."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import Span

AROUND = 40


@dataclass(frozen=True, slots=True)
class Cut:
    """A border of chunks that parts a piece of evidence, and the text on either side of it."""

    offset: int
    before: str
    after: str


def blamed_cut(spans: Sequence[Span], start: int, end: int) -> int:
    """The border of spans that parts [start, end) most evenly; -1 when none lies inside it. A
    border that another span covers parts nothing."""
    borders = {e for _, e in spans} | {s for s, _ in spans}
    inside = [
        b for b in sorted(borders) if start < b < end and not any(s < b < e for s, e in spans)
    ]
    return min(inside, key=lambda b: abs(2 * b - start - end), default=-1)


def cut_at(text: str, offset: int) -> Cut:
    """The cut at an offset of a document's text."""
    before, after = text[max(offset - AROUND, 0) : offset], text[offset : offset + AROUND]
    return Cut(offset, " ".join(before.split()), " ".join(after.split()))


def chunk_around(
    text: str, start: int, end: int, lengths: Sequence[int], share: float = 1.0
) -> Span:
    """A chunk as long as a share of the longest of `lengths`, or as the evidence if that is longer,
    with [start, end) in its middle."""
    length = max(end - start, int(share * np.max(lengths, initial=0)))
    first = max(min(start - (length - (end - start)) // 2, len(text) - length), 0)
    return first, min(first + length, len(text))
