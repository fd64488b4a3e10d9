"""Other libraries' splitters as strategies: their strings become chunks where they can be anchored
in the document."""

import logging
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.util import find_spec

from lab.arrays import Span
from lab.chunking.anchor import Anchored, Piece, anchor
from lab.chunking.chunk import Chunking, Fault
from lab.chunking.config import ChunkConfig
from lab.chunking.phase import phased
from lab.chunking.units import Units
from lab.corpus.document import Corpus
from lab.errors import ConfigError

Split = Callable[[str], Sequence[Piece]]
EXTRA = "splitters"
# What a strategy's name begins with -> the module that it needs.
LIBRARIES = {
    "langchain": "langchain_text_splitters",
    "llama-index": "llama_index.core",
    "chonkie": "chonkie",
}


def chunk_foreign(
    corpus: Corpus, config: ChunkConfig, sizes: Sequence[Sequence[int]], units: Units
) -> Chunking:
    """Split every document to its sizes and anchor the strings; what else came of it is told in
    `Chunking.faults`.

    Raises ConfigError when the library is not installed, or refuses a document under this size.
    """
    absent = missing_library(config.strategy)
    if absent:
        raise ConfigError(absent)
    splits = cache(lambda size: SPLITTERS[config.strategy](size, config.overlap, units))
    spans, faults, problems = [], [], []
    for position, document in enumerate(corpus):
        text = document.text
        if not text.strip():
            spans.append((position, 0, len(text), 0))
            continue
        for level, size in enumerate(sizes[position]):
            try:
                anchored = _anchored(text, size, config, units, splits)
            except (ValueError, RuntimeError) as fault:
                problems.append(
                    f"chunk.strategy '{config.strategy}', size {size}, refuses document "
                    f"'{document.doc_id}': {fault}"
                )
                continue
            spans += [(position, start, end, level) for start, end in anchored.spans]
            lengths = [units.count(text[slice(*span)]) for span in anchored.spans]
            large = [length for length in lengths if length > size]
            if anchored.lost or anchored.uncovered or large:
                faults.append(
                    Fault(
                        document.doc_id,
                        len(anchored.lost),
                        anchored.lost[0] if anchored.lost else "",
                        anchored.uncovered,
                        len(large),
                        max(large, default=0),
                    )
                )
    if problems:
        raise ConfigError(problems)
    return Chunking.of(corpus, spans, tuple(faults))


def _anchored(
    text: str, size: int, config: ChunkConfig, units: Units, splits: Callable[[int], Split]
) -> Anchored:
    """A document's strings of one size, put back to their offsets."""
    lost: tuple[str, ...] = ()
    uncovered = 0

    def split(part: str, size: int) -> list[Span]:
        nonlocal lost, uncovered
        reach = partial(_reach, part, config.overlap, units)
        anchored = anchor(part, splits(size)(part), reach)
        # A phase cuts the beginning twice; what the second cut does to the text is told.
        lost, uncovered = anchored.lost, anchored.uncovered
        return list(anchored.spans)

    spans = phased(split, text, size, config.overlap, config.phase)
    return Anchored(tuple(spans), lost, uncovered)


def missing_library(strategy: str) -> str | None:
    """What to install for a strategy whose library is not there; None if nothing is missing."""
    library = strategy.partition(":")[0]
    if library not in LIBRARIES or find_spec(LIBRARIES[library].partition(".")[0]) is not None:
        return None
    return (
        f"chunk.strategy '{strategy}' needs {LIBRARIES[library]}; pip install "
        f"'retrieval-diagnostics-lab[{EXTRA}]'"
    )


def _reach(text: str, overlap: int, units: Units, before: Span) -> int:
    """The first offset at which the next chunk can begin."""
    start, end = before
    if not overlap:
        return end
    if units.unit == "characters":
        return max(end - overlap, start)
    inside = units.spans(text[start:end])
    return start + inside[-overlap][0] if overlap < len(inside) else start


def _langchain(name: str) -> Callable[[int, int, Units], Split]:
    def build(size: int, overlap: int, units: Units) -> Split:
        import langchain_text_splitters

        # It logs a line for every piece that it keeps longer than the size.
        logging.getLogger("langchain_text_splitters").setLevel(logging.ERROR)
        splitter = getattr(langchain_text_splitters, name)(
            chunk_size=size, chunk_overlap=overlap, length_function=units.count
        )
        # Its start indices are searched for as well, and count the overlap in characters whatever
        # the unit.
        return lambda text: [(string, None) for string in splitter.split_text(text)]

    return build


def _llama_index(name: str) -> Callable[[int, int, Units], Split]:
    def build(size: int, overlap: int, units: Units) -> Split:
        from llama_index.core import node_parser

        splitter = getattr(node_parser, name)(
            chunk_size=size, chunk_overlap=overlap, tokenizer=units.pieces
        )
        # Its start indices are those of the first text alike in the document.
        return lambda text: [(string, None) for string in splitter.split_text(text)]

    return build


def _chonkie(name: str) -> Callable[[int, int, Units], Split]:
    def build(size: int, overlap: int, units: Units) -> Split:
        import chonkie
        from chonkie.tokenizer import Tokenizer

        class UnitTokenizer(Tokenizer):  # type: ignore[misc]
            """Units as tokens that are their own text."""

            def __repr__(self) -> str:
                return f"UnitTokenizer({units.unit})"

            def tokenize(self, text: str) -> list[str]:
                return units.pieces(text)

            encode = tokenize

            def decode(self, tokens: Sequence[str]) -> str:
                return "".join(tokens)

            def count_tokens(self, text: str) -> int:
                return units.count(text)

        settings = {"chunk_overlap": overlap} if overlap else {}
        splitter = getattr(chonkie, name)(tokenizer=UnitTokenizer(), chunk_size=size, **settings)
        return lambda text: [(chunk.text, chunk.start_index) for chunk in splitter.chunk(text)]

    return build


SPLITTERS: dict[str, Callable[[int, int, Units], Split]] = {
    "langchain:recursive": _langchain("RecursiveCharacterTextSplitter"),
    "langchain:character": _langchain("CharacterTextSplitter"),
    "langchain:markdown": _langchain("MarkdownTextSplitter"),
    "llama-index:sentence": _llama_index("SentenceSplitter"),
    "llama-index:token": _llama_index("TokenTextSplitter"),
    "chonkie:recursive": _chonkie("RecursiveChunker"),
    "chonkie:sentence": _chonkie("SentenceChunker"),
    "chonkie:token": _chonkie("TokenChunker"),
}
