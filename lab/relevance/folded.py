"""A text with its white space folded, and the way back."""

import re
from bisect import bisect_right
from dataclasses import dataclass

from lab.arrays import Span

WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Folded:
    """The words of a text parted by one blank each; `places` are where each word begins there,
    `starts` where it begins in the text as it was."""

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
    """The text with white space folded, none at its ends."""
    words, places, starts, place = list[str](), list[int](), list[int](), 0
    for match in WORD.finditer(text):
        words.append(match.group())
        places.append(place)
        starts.append(match.start())
        place += len(words[-1]) + 1
    return Folded(" ".join(words), places, starts)
