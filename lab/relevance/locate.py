"""Finding a quote in a document: exactly, else with white space, dashes and quotation marks folded;
or the nearest text, to mend the quote. Time grows linearly with the document."""

import difflib
from functools import lru_cache

from lab.arrays import Span
from lab.relevance.folded import folded, folds

# Places of one quote that are told apart; a quote that stands more often names no evidence.
MOST = 1000
# Characters of a quote that are compared with the text around it.
COMPARED = 200


def find_quote(text: str, quote: str) -> list[Span]:
    """Every place where `quote` stands, up to a thousand: letter by letter, and only if there is
    none with any white space for any other, any dash or quotation mark for its like, and letters
    with marks in either normal form."""
    exact = _places(text, quote)
    if exact or not quote.split():
        return [(start, start + len(quote)) for start in exact]
    text_folded = _folded(text)
    for wanted in folds(quote):
        places = _places(text_folded.text, wanted)
        if places:
            return [text_folded.span(place, len(wanted)) for place in places]
    return []


def _places(text: str, quote: str) -> list[int]:
    places: list[int] = []
    place = text.find(quote) if quote else -1
    while place >= 0 and len(places) < MOST:
        places.append(place)
        place = text.find(quote, place + 1)
    return places


# Quotes are looked for a document at a time.
_folded = lru_cache(maxsize=4)(folded)


def nearest_text(text: str, quote: str) -> str:
    """The stretch of `text` that looks most like the beginning of `quote`, about as long, in whole
    words; empty when nothing resembles it."""
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
    end = min(start + size, len(region))
    while start and not (region[start - 1].isspace() or region[start].isspace()):
        start -= 1
    while end < len(region) and not (region[end - 1].isspace() or region[end].isspace()):
        end += 1
    return " ".join(region[start:end].split())


def _shared(words: set[str], window: str) -> int:
    lowered = window.lower()
    return sum(len(word) for word in words if word in lowered)
