"""Windows of a fixed size: by code points, or over any list of spans (words, tokens, sentences)."""

from collections.abc import Callable

from lab.arrays import Span
from lab.chunking.units import cut_after, cut_before, inside_clusters


def by_characters(text: str, size: int, overlap: int) -> list[Span]:
    """Windows of at most `size` code points. A cut inside a grapheme moves back to its start; a
    grapheme longer than `size` is a window of its own. Every step advances, so overlap < size
    always ends."""
    inside, chunks = inside_clusters(text), []
    start = 0
    while start < len(text):
        end = cut_before(min(start + size, len(text)), inside)
        if end <= start:
            end = cut_after(start + 1, inside)
        chunks.append((start, end))
        if end == len(text):
            break
        start = max(cut_after(end - overlap, inside), cut_after(start + 1, inside))
        # A long grapheme ahead may need the room of the overlap: a window that adds nothing new
        # would only repeat the last.
        while start < end and cut_before(min(start + size, len(text)), inside) <= end:
            start = cut_after(start + 1, inside)
    return chunks


def by_spans(
    spans: list[Span], size: int, overlap: int, measure: Callable[[Span], int] = lambda span: 1
) -> list[Span]:
    """Windows over consecutive spans whose measures sum to at most `size` (at least one span),
    repeating as many trailing spans as fit into `overlap` and leave room for the next span, so that
    every window adds something new."""
    lengths = [measure(span) for span in spans]
    chunks: list[Span] = []
    first = 0
    while first < len(spans):
        last, total = first, lengths[first]
        while last + 1 < len(spans) and total + lengths[last + 1] <= size:
            last += 1
            total += lengths[last]
        chunks.append((spans[first][0], spans[last][1]))
        if last + 1 == len(spans):
            break
        repeated, after = 0, last + 1
        room = min(overlap, size - lengths[after])
        while overlap and after - 1 > first and repeated + lengths[after - 1] <= room:
            after -= 1
            repeated += lengths[after]
        first = after
    return chunks
