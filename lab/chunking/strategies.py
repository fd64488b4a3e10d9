"""From documents to chunks: one function a strategy, and the dict that names them."""

from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise

from lab.arrays import Span
from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.fixed import by_characters, by_spans
from lab.chunking.phase import phased
from lab.chunking.semantic import Embed, breaks_of
from lab.chunking.sentences import by_sentences
from lab.chunking.size import SizeByType
from lab.chunking.splitters import SPLITTERS, chunk_foreign
from lab.chunking.structure import by_structure
from lab.chunking.units import Tokenize, Units
from lab.corpus.document import Corpus
from lab.errors import ConfigError


def chunk(
    corpus: Corpus,
    config: ChunkConfig,
    tokenize: Tokenize | None = None,
    embed: Embed | None = None,
) -> Chunking:
    """Cut every document. `tokenize` gives a model's token offsets and is needed for `unit =
    "tokens"` only, `embed` a vector for every text and is needed for `strategy = "semantic"` only.

    Every non-blank character of a document lies in at least one chunk, and no chunk is blank. What
    another library's splitter leaves out of that is told in `Chunking.faults`. Raises ConfigError
    when a document's type has no size, or the library is not there.
    """
    if config.unit == "tokens" and tokenize is None:
        raise ConfigError("chunk.unit = 'tokens' needs the token offsets of a model")
    if config.strategy == "semantic" and embed is None:
        raise ConfigError("chunk.strategy = 'semantic' needs the vectors of a model")
    units, sizes = Units(config.unit, tokenize), _sizes(corpus, config)
    if config.strategy in SPLITTERS:
        return chunk_foreign(corpus, config, sizes, units)
    breaks = (
        breaks_of(corpus, config.percentile, embed)
        if embed and config.strategy == "semantic"
        else None
    )
    phase = 0.0 if "phase" in config.unread else config.phase

    def split(text: str, size: int) -> list[Span]:
        return STRATEGIES[config.strategy](text, size, config.overlap, units)

    spans = []
    for position, document in enumerate(corpus):
        parts = list(pairwise([0, *(breaks[position] if breaks else ()), len(document.text)]))
        for level, size in enumerate(sizes[position]):
            for first, last in parts:
                text = document.text[first:last]
                cut = phased(split, text, size, config.overlap, phase)
                spans += [
                    (position, first + start, first + end, level)
                    for start, end in cut or [(0, last - first)]
                ]
    return Chunking.of(corpus, spans)


def _sizes(corpus: Corpus, config: ChunkConfig) -> list[tuple[int, ...]]:
    """The sizes that each document is cut to; whole documents have a single one that nobody
    reads."""
    if isinstance(config.size, SizeByType) and config.strategy != "document":
        return [(size,) for size in config.size.by_document(corpus)]
    return [config.sizes if config.strategy != "document" else (0,)] * len(corpus)


def _document(text: str, size: int, overlap: int, units: Units) -> list[Span]:
    return [(0, len(text))]


def _fixed(text: str, size: int, overlap: int, units: Units) -> list[Span]:
    if units.unit == "characters":
        return by_characters(text, size, overlap)
    return by_spans(units.spans(text), size, overlap)


def _sentences(text: str, size: int, overlap: int, units: Units) -> list[Span]:
    if units.unit == "characters":
        return by_sentences(
            text,
            size,
            overlap,
            measure=lambda span: span[1] - span[0],
            fixed=lambda span: [
                (span[0] + s, span[0] + e) for s, e in by_characters(text[slice(*span)], size, 0)
            ],
        )
    every = units.spans(text)
    starts = [start for start, _ in every]

    def within(span: Span) -> list[Span]:
        return every[bisect_left(starts, span[0]) : bisect_left(starts, span[1])]

    def fixed(span: Span) -> list[Span]:
        # A unit may reach over the border of two sentences ("end.Next"): the windows of a sentence
        # tile it and no more.
        windows = by_spans(within(span), size, 0)
        borders = [span[0], *(start for start, _ in windows[1:]), span[1]]
        return list(pairwise(borders))

    return by_sentences(
        text,
        size,
        overlap,
        measure=lambda span: len(within(span)),
        fixed=fixed,
    )


def _structure(text: str, size: int, overlap: int, units: Units) -> list[Span]:
    return by_structure(text, size, overlap, None if units.unit == "characters" else units.count)


STRATEGIES: dict[str, Callable[[str, int, int, Units], list[Span]]] = {
    "document": _document,
    "fixed": _fixed,
    "sentences": _sentences,
    "structure": _structure,
    "semantic": _sentences,  # within the parts of one meaning
}
