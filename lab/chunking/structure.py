"""Structure-aware chunks: headings, paragraphs, lists, tables and code fences stay whole where they
fit."""

from collections.abc import Callable

from semantic_text_splitter import MarkdownSplitter

from lab.arrays import Span
from lab.chunking.units import cut_after, inside_clusters


def by_structure(
    text: str, size: int, overlap: int, measure: Callable[[str], int] | None
) -> list[Span]:
    """The largest Markdown units that fit into `size` (plain text is Markdown too); `measure`
    counts anything but characters. The splitter's levels: docs of the crate `text-splitter`."""
    if measure is None:
        splitter = MarkdownSplitter(size, overlap, trim=False)
    else:
        splitter = MarkdownSplitter.from_callback(measure, size, overlap, trim=False)
    # The splitter parts a grapheme that is longer than `size`; such a one is a chunk of its own
    # here.
    inside = inside_clusters(text)
    spans = (
        (cut_after(start, inside), cut_after(start + len(chunk), inside))
        for start, chunk in splitter.chunk_indices(text)
    )
    return [(start, end) for start, end in spans if start < end]
