"""Identifiers: words that name one thing (error codes, part numbers, versions, flags) and the near
misses among them."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from lab.arrays import Span

# Full-width letters and marks, and Unicode's other hyphens, are read as ASCII, one for one, so that
# offsets stay.
ASCII = {0xFF01 + i: 0x21 + i for i in range(94)} | dict.fromkeys(
    (0x2010, 0x2011, 0x2012, 0x2212), ord("-")
)

# Letters, digits and marks between them; `#`, `+`, `~` and `::` are taken in although an analyzer
# may part them.
TOKEN = re.compile(
    r"(?<![A-Za-z0-9_.])(?:--)?[A-Za-z0-9_]+(?:(?:[-./:#+~]|::)[A-Za-z0-9_]+)*(?![A-Za-z0-9_])"
)
# An amount, an ordinal, a date or a time is no name: 10 mm, 4x, 3rd, 2024-05-01, 12:30, 50-60.
AMOUNT = re.compile(r"\d+(?:[.,:/-]\d+)*(?:[A-Za-z]{1,3}|st|nd|rd|th)?(?:/[A-Za-z]{1,3})?")
VERSION = re.compile(r"[vV]?\d+(?:\.\d+){2,}")
FLAG = re.compile(r"--[a-z][a-z0-9]+(?:-[a-z0-9]+)*")
CONSTANT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
# `C2048.cpp` is a file, `sub.domain` a name of words.
FILE = re.compile(r".*\.[a-z]{1,6}")
SHORTEST, LONGEST = 3, 40


def find_identifiers(text: str) -> Iterator[tuple[Span, str]]:
    """Place and ASCII spelling of every word of `text` that has the shape of an identifier, in
    order."""
    for match in TOKEN.finditer(text if text.isascii() else text.translate(ASCII)):
        if is_identifier(match.group()):
            yield match.span(), match.group()


def is_identifier(word: str) -> bool:
    """Letters together with digits (`E-4012`, `C2065`, `v2.3.1`), a dotted version, a flag or an
    UPPER_CASE constant; not an amount with its unit, a date or a time."""
    if word.isalpha():  # most words of a text
        return False
    if VERSION.fullmatch(word) or FLAG.fullmatch(word) or CONSTANT.fullmatch(word):
        return True
    if not SHORTEST <= len(word) <= LONGEST or AMOUNT.fullmatch(word) or FILE.fullmatch(word):
        return False
    # Capitals keep `utf8` and `x86` of running text out, two digits `H1` and `MP3`.
    return sum(map(str.isdigit, word)) >= 2 and any(map(str.isupper, word))


def folded(identifier: str) -> str:
    """The spelling under which an identifier is matched: compatibility forms and case aside."""
    return unicodedata.normalize("NFKC", identifier).casefold()


def shape(identifier: str) -> str:
    """The pattern of an identifier: `E-4012` and `E-4021` share `A-9999`."""
    return re.sub(r"[^\W\d_]", "A", re.sub(r"\d", "9", identifier))


def siblings(identifiers: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """For every identifier the near misses among the others, ascending: those of the same shape
    that differ in one character or hold the same characters in another order (`E-4012`: `E-4021`,
    `E-4102`, `E-4013`)."""
    known = sorted(set(identifiers))
    buckets: dict[tuple[str, str], list[str]] = defaultdict(list)
    for identifier in known:
        for key in _keys(identifier):
            buckets[key].append(identifier)
    near: dict[str, set[str]] = {identifier: set() for identifier in known}
    for members in buckets.values():
        for identifier in members:
            near[identifier].update(members)
    return {identifier: tuple(sorted(others - {identifier})) for identifier, others in near.items()}


def _keys(identifier: str) -> Iterator[tuple[str, str]]:
    """Two identifiers are near misses if they share one of these: all but one character, or the
    characters in any order."""
    form = shape(identifier)
    yield form, "".join(sorted(identifier))
    for place, character in enumerate(identifier):
        if character.isalnum():
            yield form, f"{identifier[:place]}\0{identifier[place + 1 :]}"
