"""Many quotes found in a text at once: every text is passed over a few times, however many quotes
there are (a search a quote takes minutes on a long document with thousands of them)."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Starts = NDArray[np.int64]
# Odd numbers, one a level: a hash of 2k characters is the first half's times it plus the second's.
ODD = np.random.default_rng(20).integers(2**63, size=40, dtype=np.uint64) * np.uint64(
    2
) + np.uint64(1)
SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Quotes:
    """Quotes to look for. Each is known by the hashes of its first and its last 2^n characters, n
    as large as fits, which together cover it."""

    def __init__(self, quotes: Iterable[str]) -> None:
        self._quotes = [quote for quote in dict.fromkeys(quotes) if quote]
        offsets = np.cumsum([0, *(len(quote) for quote in self._quotes)])
        self._levels: dict[int, dict[int, list[tuple[str, np.uint64]]]] = {}
        joined = "".join(self._quotes)
        by_level: dict[int, list[int]] = {}
        for number, quote in enumerate(self._quotes):
            by_level.setdefault(len(quote).bit_length() - 1, []).append(number)
        for level, hashes in _levels(joined, max(by_level, default=-1)):
            size = 1 << level
            for number in by_level.get(level, []):
                quote = self._quotes[number]
                first, last = offsets[number], offsets[number] + len(quote) - size
                self._levels.setdefault(level, {}).setdefault(int(hashes[first]), []).append(
                    (quote, hashes[last])
                )

    def places(self, text: str) -> Iterator[tuple[str, Starts]]:
        """Every quote that stands in `text`, letter by letter, with all its starts in rising order
        (overlapping ones too).

        Time grows with the text times the levels (the logarithm of the longest quote), and with the
        places found; memory with the text.
        """
        for level, hashes in _levels(text, max(self._levels, default=-1)):
            wanted = self._levels.get(level)
            if not wanted or not len(hashes):
                continue
            keys = np.array(sorted(wanted), dtype=np.uint64)
            nearest = np.minimum(np.searchsorted(keys, hashes), len(keys) - 1)
            hits = np.flatnonzero(keys[nearest] == hashes)
            order = np.argsort(nearest[hits], kind="stable")
            hits, which = hits[order], nearest[hits][order]
            for begin, end in _runs(which):
                for quote, last in wanted[int(keys[which[begin]])]:
                    starts = _whole(hits[begin:end], hashes, len(quote) - (1 << level), last)
                    if len(starts) and text.startswith(quote, int(starts[0])):
                        yield quote, starts


def _levels(text: str, highest: int) -> Iterator[tuple[int, Hashes]]:
    """Hashes of all stretches of 1, 2, 4 ... characters, by the logarithm of their length."""
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    hashes = (letters.astype(np.uint64) + np.uint64(1)) * SPREAD
    hashes ^= hashes >> np.uint64(29)
    for level in range(highest + 1):
        yield level, hashes
        size = 1 << level
        hashes = hashes[:-size] * ODD[level] + hashes[size:] if len(hashes) > size else hashes[:0]


def _whole(starts: Starts, hashes: Hashes, shift: int, last: np.uint64) -> Starts:
    """Those starts of a quote's beginning behind which its end stands too."""
    starts = starts[starts + shift < len(hashes)]
    whole: Starts = starts[hashes[starts + shift] == last]
    return whole


def _runs(values: Starts) -> Iterator[tuple[int, int]]:
    """Begin and end of every stretch of equal values."""
    if len(values):
        cuts = np.flatnonzero(np.diff(values)) + 1
        yield from zip([0, *cuts], [*cuts, len(values)], strict=True)
