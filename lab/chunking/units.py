"""What sizes count: characters (grapheme-safe), words, or a model's tokens, each as spans that tile
the text."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

import regex

from lab.arrays import Span

Tokenize = Callable[[str], list[Span]]
Unit = Literal["characters", "words", "tokens"]

# Without the marks U+30A0 and U+30FB among the Katakana, which are punctuation.
CJK = (
    "\u3005\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003134f"
)
WORD = re.compile(rf"[{CJK}]|[^\s{CJK}]+")
CLUSTER = regex.compile(r"\X")
# Where graphemes of several code points can lie: between ASCII characters there is none but \r\n.
JOINABLE = re.compile(r"[^\x00-\x7f]+(?:[\x00-\x7f][^\x00-\x7f]+)*[\x00-\x0c\x0e-\x7f]?")


@lru_cache(maxsize=4096)
def inside_clusters(text: str) -> frozenset[int]:
    """Positions at which a cut would part a grapheme: an accent from its letter, an emoji from its
    joiner."""
    newlines = {match.end() - 1 for match in re.finditer("\r\n", text)} if "\r" in text else set()
    if text.isascii():
        return frozenset(newlines)
    return frozenset(newlines).union(
        position
        for stretch in JOINABLE.finditer(text)
        # The letter before an accent may be ASCII.
        for match in CLUSTER.finditer(text, max(0, stretch.start() - 1), stretch.end())
        if match.end() - match.start() > 1
        for position in range(match.start() + 1, match.end())
    )


def cut_before(position: int, inside: frozenset[int]) -> int:
    """The nearest cut at or before a position that parts no grapheme; `inside` as of
    `inside_clusters`."""
    while position in inside:
        position -= 1
    return position


def cut_after(position: int, inside: frozenset[int]) -> int:
    """The nearest cut at or after a position that parts no grapheme."""
    while position in inside:
        position += 1
    return position


def words(text: str) -> list[Span]:
    """Runs without white space; a Chinese, Japanese or Korean character is a word of its own."""
    return graphemes_whole(text, [match.span() for match in WORD.finditer(text)])


def tokens(text: str, tokenize: Tokenize) -> list[Span]:
    """The model's tokens, stretched so that no character which the tokenizer passes over is
    lost."""
    starts = sorted({start for start, end in tokenize(text) if end > start})
    if not starts:
        return [(0, len(text))] if text else []
    starts[0] = 0
    return graphemes_whole(text, list(zip(starts, [*starts[1:], len(text)], strict=True)))


def graphemes_whole(text: str, spans: list[Span]) -> list[Span]:
    """Join spans whose border lies inside a grapheme."""
    inside = inside_clusters(text)
    if not inside:
        return spans
    whole: list[Span] = []
    for start, end in spans:
        if whole and start in inside:
            whole[-1] = (whole[-1][0], end)
        else:
            whole.append((start, end))
    return whole


@dataclass(frozen=True, slots=True)
class Units:
    """What sizes count under one config; `tokenize` gives a model's token offsets and is there for
    `tokens`."""

    unit: Unit = "characters"
    tokenize: Tokenize | None = None

    def spans(self, text: str) -> list[Span]:
        """The units of a text; code points are not listed, they are their own offsets."""
        return (
            tokens(text, self.tokenize) if self.unit == "tokens" and self.tokenize else words(text)
        )

    def count(self, text: str) -> int:
        return len(text) if self.unit == "characters" else len(self.spans(text))

    def pieces(self, text: str) -> list[str]:
        """The text parted into its units; what lies between two goes with the first."""
        if self.unit == "characters":
            return list(text)
        starts = [start for start, _ in self.spans(text)]
        return [text[a:b] for a, b in pairwise([0, *starts[1:], len(text)])] if text else []
