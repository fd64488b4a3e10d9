"""Finding a quote in a document: exactly, else with white space folded; or the nearest text, to
mend the quote."""

import difflib
import re

from lab.arrays import Span


def find_quote(text: str, quote: str) -> list[Span]:
    """Every place where `quote` stands: letter by letter, and only if there is none with any white
    space for any other."""
    exact = [
        (m.start(), m.start() + len(quote)) for m in re.finditer(f"(?={re.escape(quote)})", text)
    ]
    if exact or not quote.split():
        return exact
    folded = r"\s+".join(map(re.escape, quote.split()))
    return [m.span() for m in re.finditer(folded, text)]


def nearest_text(text: str, quote: str) -> str:
    """The stretch of `text` that looks most like `quote`, about as long; empty when nothing
    resembles it."""
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
