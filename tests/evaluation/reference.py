"""Section 4 of the design, word for word: sets of characters, one chunk after the other, no arrays.
Slow and literal."""

from dataclasses import dataclass
from math import log2

Span = tuple[str, int, int]  # document, start, end


@dataclass
class Piece:
    """A group of alternatives with its grade."""

    alternatives: list[Span]
    grade: int = 3
    core: bool = True


def visible(texts: dict[str, str], span: Span) -> set[tuple[str, int]]:
    """Non-blank characters of a span."""
    doc_id, start, end = span
    return {(doc_id, i) for i in range(start, end) if not texts[doc_id][i].isspace()}


def completed(
    texts: dict[str, str], ranked: list[Span], pieces: list[Piece], hold: float = 0.9
) -> dict[int, int]:
    """Piece -> rank of the chunk at which the union of the first chunks holds enough of one
    alternative."""
    seen: set[tuple[str, int]] = set()
    found: dict[int, int] = {}
    for rank, span in enumerate(ranked, start=1):
        seen |= visible(texts, span)
        for number, piece in enumerate(pieces):
            wanted = [visible(texts, alternative) for alternative in piece.alternatives]
            if any(len(seen & want) >= hold * len(want) - 1e-9 for want in wanted):
                found.setdefault(number, rank)
    return found


def contributed(ranks: dict[int, int], pieces: list[Piece], length: int) -> list[int]:
    """Grades of the items met walking down: the pieces that become complete at a rank, highest
    grade first, or one 0."""
    items: list[int] = []
    for rank in range(1, length + 1):
        items += sorted((pieces[p].grade for p, r in ranks.items() if r == rank), reverse=True) or [
            0
        ]
    return items


def dcg(grades: list[int], k: int, burges: bool = False) -> float:
    return sum(
        (2**g - 1 if burges else g) / log2(place + 1) for place, g in enumerate(grades[:k], start=1)
    )


def ndcg(items: list[int], grades: list[int], k: int, burges: bool = False) -> float:
    return dcg(items, k, burges) / dcg(sorted(grades, reverse=True), k, burges)


def mrr(items: list[int], k: int) -> float:
    return next((1 / place for place, grade in enumerate(items[:k], start=1) if grade), 0.0)


def average_precision(items: list[int], total: int, k: int) -> float:
    places = [place for place, grade in enumerate(items[:k], start=1) if grade]
    return sum(hits / place for hits, place in enumerate(places, start=1)) / total


def precision(texts: dict[str, str], ranked: list[Span], pieces: list[Piece], k: int) -> float:
    """A chunk is relevant if it holds at least half of some piece, or lies at least half inside
    one."""

    def relevant(span: Span) -> bool:
        own = visible(texts, span)
        wanted = [
            visible(texts, alternative) for piece in pieces for alternative in piece.alternatives
        ]
        return any(
            own & want and 2 * len(own & want) >= min(len(want), len(own)) for want in wanted
        )

    return sum(map(relevant, ranked[:k])) / k


def coverage(texts: dict[str, str], ranked: list[Span], pieces: list[Piece], k: int) -> float:
    """|E and R| / |E| over the best covered alternative of every piece, the first of equals."""
    seen: set[tuple[str, int]] = set().union(*(visible(texts, span) for span in ranked[:k]))
    best = []
    for piece in pieces:
        wanted = [visible(texts, alternative) for alternative in piece.alternatives]
        best.append(max(wanted, key=lambda want: len(seen & want) / len(want)))
    return sum(len(seen & want) for want in best) / sum(map(len, best))
