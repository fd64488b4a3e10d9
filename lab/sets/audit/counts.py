"""How many questions of each kind there are, what their mean can claim, and who wrote them."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.errors import counted
from lab.relevance.query import Query
from lab.sets.audit.finding import Finding

# Half the width of an interval beyond which a mean claims nothing, and the width worth having.
VAGUE, USEFUL = 0.2, 0.1
# 97.5% quantile of the normal distribution.
Z = 1.959964


@dataclass(frozen=True, slots=True)
class KindCount:
    """Questions of one kind. `shared` is the mean share of content words that the evidence holds,
    NaN without evidence."""

    kind: str
    questions: int
    several: int
    alternatives: int
    written: int
    mined: int
    shared: float

    @property
    def within(self) -> float:
        """Half the width of the 95% interval of a mean of 0-or-1 scores at its widest, z / (2 sqrt
        n)."""
        return Z / (2 * math.sqrt(self.questions))


def questions_for(half_width: float) -> int:
    """Questions that bring `within` down to `half_width`: z^2 / (4 h^2)."""
    return math.ceil(Z**2 / (4 * half_width**2))


def count_kinds(
    queries: Sequence[Query], shares: Mapping[str, float | None]
) -> tuple[KindCount, ...]:
    """One row a kind, by name."""
    rows = []
    for kind in sorted({query.kind for query in queries}):
        members = [query for query in queries if query.kind == kind]
        known = [share for query in members if (share := shares[query.query_id]) is not None]
        origin = Counter(query.tags.get("origin", "") for query in members)
        rows.append(
            KindCount(
                kind=kind,
                questions=len(members),
                several=sum(len(query.pieces) > 1 for query in members),
                alternatives=sum(
                    any(len(piece) > 1 for piece in query.pieces) for query in members
                ),
                written=origin["written"],
                mined=origin["mined"],
                shared=sum(known) / len(known) if known else math.nan,
            )
        )
    return tuple(rows)


def too_few(kinds: Sequence[KindCount]) -> Iterator[Finding]:
    """Kinds whose mean is too vague for any claim, with the number of questions that would do."""
    for row in kinds:
        if row.within > VAGUE:
            message = (
                f"kind '{row.kind}' has {counted(row.questions, 'question')}: its mean is known to "
                "within "
                f"±{row.within:.2f} at best; "
                f"{questions_for(VAGUE)} give ±{VAGUE:.2f}, {questions_for(USEFUL)} give "
                f"±{USEFUL:.2f}"
            )
            yield Finding(
                "warning",
                "too few questions",
                message,
                "read its questions one by one instead of its mean",
            )


def origin(kinds: Sequence[KindCount]) -> Iterator[Finding]:
    """A set that a program made for the most part flatters the lexical leg."""
    written, mined = sum(row.written for row in kinds), sum(row.mined for row in kinds)
    if mined > written:
        message = (
            f"{mined} of {sum(row.questions for row in kinds)} questions are mined "
            f"(written:mined {written}:{mined})"
        )
        yield Finding(
            "warning",
            "mined questions",
            message,
            "their words come from the text, which flatters BM25: edit them, add written ones",
        )
