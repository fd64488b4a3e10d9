"""Phase: where the first cut falls. A splitter that fills chunks to a size cuts every document at
places that follow from where its text begins, which is luck; a phase moves them all."""

from collections.abc import Callable

from lab.arrays import Span

# How many phases may be measured, beside a single one: two say next to nothing of how far others
# lie, and equal systems would be told apart in up to 11% of sets (see `lab.evaluation.phases`).
FEWEST, MOST = 3, 32

# Cuts a text to chunks of a size.
Split = Callable[[str, int], list[Span]]


def phased(split: Split, text: str, size: int, overlap: int, phase: float) -> list[Span]:
    """The chunks of a text whose first cut falls early: the first chunk is filled to `overlap +
    phase * (size - overlap)` units only, by the splitter's own rules, and the rest is cut as ever,
    from where the second chunk of that size begins. Phase 0 is the splitter as it is, and 1 would
    be again: windows begin every `size - overlap` units."""
    first = overlap + round(phase * (size - overlap))
    if first <= overlap:
        return split(text, size)
    early = split(text, first)
    if len(early) < 2:
        return early
    start = early[1][0]
    rest = split(text[start:], size)
    return [early[0], *((start + left, start + right) for left, right in rest)]
