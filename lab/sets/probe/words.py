"""Words to ask with: the content words of a passage, how rare they are in the corpus, and the
rarest of them."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from lab.chunking.units import CJK
from lab.retrieval.analyzer import STOP_WORDS
from lab.sets.identifiers import find_identifiers
from lab.sets.probe.passages import Passage

# A word of letters, with an apostrophe or hyphen inside; a run of Chinese, Japanese or Korean.
WORD = re.compile(
    rf"(?P<cjk>[{CJK}]+)|(?:(?![{CJK}])[^\W\d_]){{3,}}(?:['’-](?:(?![{CJK}])[^\W\d_])+)*"
)
# The target of a Markdown link is no prose.
LINK = re.compile(r"\]\([^)\s]*\)")
# Frequent function characters of Chinese part a run into pieces that read like words.
FUNCTION = re.compile(
    "[的了在是和与及或为以于对由将把被从到向按就也都还但而若如则其该此这那有无不可能应须会要并且上下中内外后前时]+"
)
PIECE = re.compile(r"\S{2,4}")


@dataclass(frozen=True, slots=True)
class Word:
    """A content word, lower case, and where it stands in its text."""

    text: str
    start: int
    end: int


def content_words(text: str) -> list[Word]:
    """Words of `text` in order: no stop words, no identifiers, no numbers; Chinese runs in pieces
    of at most four characters."""
    named = [span for span, _ in find_identifiers(text)] + [
        match.span() for match in LINK.finditer(text)
    ]
    words: list[Word] = []
    for match in WORD.finditer(text):
        if any(start < match.end() and match.start() < end for start, end in named):
            continue
        if match["cjk"]:
            pieces = PIECE.finditer(FUNCTION.sub(lambda run: " " * len(run.group()), match.group()))
            words.extend(
                Word(p.group(), match.start() + p.start(), match.start() + p.end()) for p in pieces
            )
        elif (
            word := match.group().lower().removesuffix("'s").removesuffix("’s")
        ) not in STOP_WORDS:
            words.append(Word(word, *match.span()))
    return words


@dataclass(frozen=True, eq=False)
class Rarity:
    """In how many passages of the corpus a word stands, and which."""

    passages: Sequence[Passage]
    words: Sequence[Sequence[Word]]

    @staticmethod
    def of(passages: Iterable[Passage]) -> "Rarity":
        kept = tuple(passages)
        return Rarity(kept, tuple(content_words(passage.text) for passage in kept))

    @cached_property
    def frequency(self) -> Counter[str]:
        """Passages a word."""
        return Counter(word for words in self.words for word in {word.text for word in words})

    def idf(self, word: str) -> float:
        """ln(1 + (N - df + .5) / (df + .5)) over passages, as in BM25; 0 for nothing but repeats,
        never negative."""
        df = self.frequency[word]
        return math.log(1 + (len(self.passages) - df + 0.5) / (df + 0.5))

    def rarest(self, words: Sequence[str], count: int) -> tuple[str, ...]:
        """The `count` rarest distinct words (the earlier of equals), in the order of the text."""
        distinct = list(dict.fromkeys(words))
        chosen = sorted(distinct, key=lambda word: (-self.idf(word), distinct.index(word)))[:count]
        return tuple(sorted(chosen, key=distinct.index))

    def mean_idf(self, words: Sequence[str]) -> float:
        return sum(map(self.idf, words)) / len(words) if words else 0.0

    def holders(self, words: Sequence[str]) -> int:
        """Passages that hold all the words."""
        return (
            len(set.intersection(*(self._places[word] for word in words)))
            if words
            else len(self.passages)
        )

    @cached_property
    def _places(self) -> dict[str, set[int]]:
        places: dict[str, set[int]] = {}
        for number, words in enumerate(self.words):
            for word in words:
                places.setdefault(word.text, set()).add(number)
        return places
