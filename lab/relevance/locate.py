"""Finding a quote in a document: exactly, else with white space folded; or the nearest text, to
mend the quote. Time grows linearly with the document."""

import difflib
import re
from bisect import bisect_right
from functools import lru_cache

from lab.arrays import Span

# Places of one quote that are told apart; a quote that stands more often names no evidence.
MOST = 1000
# Characters of a quote that are compared with the text around it.
COMPARED = 200
WORD = re.compile(r"\S+")


def find_quote(text: str, quote: str) -> list[Span]:
    """Every place where `quote` stands, up to a thousand: letter by letter, and only if there is
    none with any white space for any other."""
    exact = _places(text, quote)
    if exact or not quote.split():
        return [(start, start + len(quote)) for start in exact]
    folded, at, starts = _folded(text)
    wanted = " ".join(quote.split())
    found = []
    for place in _places(folded, wanted):
        first, last = (bisect_right(at, end) - 1 for end in (place, place + len(wanted) - 1))
        end = starts[last] + place + len(wanted) - at[last]
        found.append((starts[first] + place - at[first], end))
    return found


def _places(text: str, quote: str) -> list[int]:
    found: list[int] = []
    place = text.find(quote) if quote else -1
    while place >= 0 and len(found) < MOST:
        found.append(place)
        place = text.find(quote, place + 1)
    return found


@lru_cache(maxsize=4)
def _folded(text: str) -> tuple[str, list[int], list[int]]:
    """The words of a text parted by one blank each, and where each word begins there and in the
    text."""
    starts = [match.start() for match in WORD.finditer(text)]
    words = text.split()
    at, place = [], 0
    for word in words:
        at.append(place)
        place += len(word) + 1
    return " ".join(words), at, starts


def nearest_text(text: str, quote: str) -> str:
    """The stretch of `text` that looks most like the beginning of `quote`, about as long; empty
    when nothing resembles it."""
    quote = quote[:COMPARED]
    size = max(len(quote), 1)
    windows = (
        text[start : start + size]
        for start in range(0, max(len(text) - size // 2, 1), max(size // 2, 1))
    )
    words = set(quote.lower().split()) or {quote}
    best = max(windows, key=lambda window: _shared(words, window), default="")
    if not _shared(words, best) and not set(quote) & set(best):
        return ""
    at = text.find(best)
    region = text[max(at - size, 0) : at + 2 * size]
    matcher = difflib.SequenceMatcher(None, region, quote, autojunk=False)
    block = matcher.find_longest_match()
    if block.size < min(4, len(quote)):
        return ""
    start = max(block.a - block.b, 0)
    return " ".join(region[start : start + size].split())


def _shared(words: set[str], window: str) -> int:
    lowered = window.lower()
    return sum(len(word) for word in words if word in lowered)
