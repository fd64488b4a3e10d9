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


@dataclass(eq=False)
class Neighbours:
    """Likeness of the spans of one delivery; what has been compared is remembered."""

    spans: Chunking
    _shingles: dict[int, frozenset[tuple[str, ...]]] = field(default_factory=dict)
    _alike: dict[tuple[int, int], float] = field(default_factory=dict)

    def likeness(self, a: int, b: int) -> float:
        """Containment in [0, 1] of the shorter span's shingles in the longer's (Broder 1997)."""
        key = (a, b) if a < b else (b, a)
        if key not in self._alike:
            words, other = self._of(a), self._of(b)
            self._alike[key] = len(words & other) / max(min(len(words), len(other)), 1)
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

    def _of(self, span: int) -> frozenset[tuple[str, ...]]:
        if span not in self._shingles:
            terms = ANALYZERS["auto"](self.spans.text(span))
            width = min(SHINGLE, max(len(terms), 1))
            self._shingles[span] = frozenset(
                tuple(terms[i : i + width]) for i in range(max(len(terms) - width + 1, 1))
            )
        return self._shingles[span]
