"""A text with its white space, dashes and quotation marks folded, and the way back."""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

from lab.arrays import Span

WORD = re.compile(r"\S+")
# Signs that people and programs write for each other, a character for a character.
VARIANTS = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"')
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u2032\u0060\u00b4", "'")
)


@dataclass(frozen=True, slots=True)
class Folded:
    """The words of a text parted by one blank each, signs as VARIANTS has them; `places` are where
    each word begins there, `starts` where it begins in the text as it was."""

    text: str
    places: list[int]
    starts: list[int]

    def span(self, start: int, length: int) -> Span:
        """Where a stretch of the folded text stands in the text."""
        return self._start(start), self._start(start + length - 1) + 1

    def _start(self, place: int) -> int:
        """Where a character stands; the blank after a word where the white space after it
        begins."""
        word = bisect_right(self.places, place) - 1
        return self.starts[word] + place - self.places[word]


def folded(text: str) -> Folded:
    """The text with white space folded, none at its ends, and signs as VARIANTS has them."""
    words, places, starts, place = list[str](), list[int](), list[int](), 0
    for match in WORD.finditer(text):
        words.append(match.group().translate(VARIANTS))
        places.append(place)
        starts.append(match.start())
        place += len(words[-1]) + 1
    return Folded(" ".join(words), places, starts)


def folds(quote: str) -> tuple[str, ...]:
    """A quote as it would stand in a folded text, as it is written and in either normal form."""
    words = " ".join(quote.split()).translate(VARIANTS)
    forms = (unicodedata.normalize("NFC", words), unicodedata.normalize("NFD", words))
    return tuple(dict.fromkeys((words, *forms)))
