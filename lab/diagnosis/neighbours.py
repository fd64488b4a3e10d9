"""What stands before the evidence: near-duplicates, siblings of one template, the same document, or
anything else."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lab.chunking.chunk import Chunking
from lab.retrieval.analyzer import ANALYZERS

# Share of the shorter text's three-term shingles that the longer one holds as well.
DUPLICATE = 0.8
SIBLING = 0.4
SHINGLE = 3


Shingles = frozenset[tuple[str, ...]]


def shingles(text: str) -> Shingles:
    """The different runs of three terms of a text; of a shorter one, all of it."""
    terms = ANALYZERS["auto"](text)
    width = min(SHINGLE, max(len(terms), 1))
    return frozenset(tuple(terms[i : i + width]) for i in range(max(len(terms) - width + 1, 1)))


def containment(one: Shingles, other: Shingles) -> float:
    """Share in [0, 1] of the shorter text's shingles that the longer one holds (Broder 1997)."""
    return len(one & other) / max(min(len(one), len(other)), 1)


@dataclass(eq=False)
class Neighbours:
    """Likeness of the spans of one delivery; what has been compared is remembered."""

    spans: Chunking
    _shingles: dict[int, Shingles] = field(default_factory=dict)
    _alike: dict[tuple[int, int], float] = field(default_factory=dict)

    def likeness(self, a: int, b: int) -> float:
        """Containment of the shorter span's shingles in the longer's."""
        key = (a, b) if a < b else (b, a)
        if key not in self._alike:
            self._alike[key] = containment(self._of(a), self._of(b))
        return self._alike[key]

    def relation(self, other: int, evidence: Iterable[int]) -> str:
        """What a span is to the spans that hold the evidence."""
        mine = list(evidence)
        alike = max((self.likeness(other, span) for span in mine), default=0.0)
        if alike >= DUPLICATE:
            return "near-duplicate"
        if alike >= SIBLING:
            return "sibling"
        same = any(self.spans.document[other] == self.spans.document[span] for span in mine)
        return "same document" if same else "other document"

    def distinct_rank(self, ahead: Iterable[int], evidence: Iterable[int], k: int) -> int:
        """Rank of the evidence once near-duplicates ahead of it count once and its own duplicates
        not at all; counting stops beyond k."""
        mine, kept = list(evidence), list[int]()
        for span in ahead:
            if span in mine or any(
                self.likeness(span, other) >= DUPLICATE for other in (*mine, *kept)
            ):
                continue
            kept.append(span)
            if len(kept) >= k:
                break
        return len(kept) + 1

    def _of(self, span: int) -> Shingles:
        if span not in self._shingles:
            self._shingles[span] = shingles(self.spans.text(span))
        return self._shingles[span]
