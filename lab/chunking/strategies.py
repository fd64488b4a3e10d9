"""From documents to chunks: one function a strategy, and the dict that names them."""

from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise

from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.fixed import by_characters, by_spans
from lab.chunking.sentences import by_sentences
from lab.chunking.structure import by_structure
from lab.chunking.units import Span, Tokenize, tokens, words
from lab.corpus.document import Corpus
from lab.errors import ConfigError


def chunk(corpus: Corpus, config: ChunkConfig, tokenize: Tokenize | None = None) -> Chunking:
    """Cut every document. `tokenize` gives a model's token offsets and is needed for `unit = "tokens"` only.

    Every non-blank character of a document lies in at least one chunk, and no chunk is blank.
    """
    if config.unit == "tokens" and tokenize is None:
        raise ConfigError("chunk.unit = 'tokens' needs the token offsets of a model")
    cut = STRATEGIES[config.strategy]
    sizes = config.sizes if config.strategy != "document" else (0,)
    spans = [
        (position, start, end, level)
        for position, document in enumerate(corpus)
        for level, size in enumerate(sizes)
        for start, end in (cut(document.text, size, config, tokenize) or [(0, len(document.text))])
    ]
    return Chunking.of(corpus, spans)


def _document(text: str, size: int, config: ChunkConfig, tokenize: Tokenize | None) -> list[Span]:
    return [(0, len(text))]


def _fixed(text: str, size: int, config: ChunkConfig, tokenize: Tokenize | None) -> list[Span]:
    if config.unit == "characters":
        return by_characters(text, size, config.overlap)
    return by_spans(_unit_spans(text, config, tokenize), size, config.overlap)


def _sentences(text: str, size: int, config: ChunkConfig, tokenize: Tokenize | None) -> list[Span]:
    if config.unit == "characters":
        return by_sentences(
            text,
            size,
            config.overlap,
            measure=lambda span: span[1] - span[0],
            fixed=lambda span: [(span[0] + s, span[0] + e) for s, e in by_characters(text[slice(*span)], size, 0)],
        )
    units = _unit_spans(text, config, tokenize)
    starts = [start for start, _ in units]

    def within(span: Span) -> list[Span]:
        return units[bisect_left(starts, span[0]) : bisect_left(starts, span[1])]

    def fixed(span: Span) -> list[Span]:
        # A unit may reach over the border of two sentences ("end.Next"): the windows of a sentence tile it and no more.
        windows = by_spans(within(span), size, 0)
        borders = [span[0], *(start for start, _ in windows[1:]), span[1]]
        return list(pairwise(borders))

    return by_sentences(
        text,
        size,
        config.overlap,
        measure=lambda span: len(within(span)),
        fixed=fixed,
    )


def _structure(text: str, size: int, config: ChunkConfig, tokenize: Tokenize | None) -> list[Span]:
    if config.unit == "characters":
        return by_structure(text, size, config.overlap, None)
    return by_structure(text, size, config.overlap, lambda part: len(_unit_spans(part, config, tokenize)))


def _unit_spans(text: str, config: ChunkConfig, tokenize: Tokenize | None) -> list[Span]:
    return tokens(text, tokenize) if config.unit == "tokens" and tokenize else words(text)


STRATEGIES: dict[str, Callable[[str, int, ChunkConfig, Tokenize | None], list[Span]]] = {
    "document": _document,
    "fixed": _fixed,
    "sentences": _sentences,
    "structure": _structure,
}
