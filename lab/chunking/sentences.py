"""Whole sentences packed up to the size; a sentence that is too long falls back to fixed
windows."""

import re
from collections.abc import Callable

from sentencex import segment

from lab.arrays import Span
from lab.chunking.fixed import by_spans
from lab.chunking.units import CJK, graphemes_whole

HAN_OR_KANA = re.compile(f"[{CJK}]")


def sentence_spans(text: str) -> list[Span]:
    """Sentences with their trailing white space, tiling the text; the language is Chinese where CJK
    prevails."""
    language = "zh" if 4 * len(HAN_OR_KANA.findall(text)) > len(text) else "en"
    spans, position = [], 0
    for sentence in segment(language, text):
        # Searching from the last end, not summing lengths: nothing promises that the pieces tile
        # the text.
        start = text.index(sentence, position)
        spans.append((position, start + len(sentence)))
        position = start + len(sentence)
    if position < len(text):
        spans.append((position, len(text)))
    return graphemes_whole(text, spans)


def by_sentences(
    text: str,
    size: int,
    overlap: int,
    measure: Callable[[Span], int],
    fixed: Callable[[Span], list[Span]],
) -> list[Span]:
    """Pack sentences; `fixed` cuts the ones longer than `size`."""
    pieces = [
        piece
        for span in sentence_spans(text)
        for piece in ([span] if measure(span) <= size else fixed(span))
    ]
    return by_spans(pieces, size, overlap, measure)
