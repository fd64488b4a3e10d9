"""Pieces: the evidence of all questions as arrays, in the order in which everything downstream
counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lab.arrays import Bools, Ints
from lab.errors import DiagnosticsError
from lab.relevance.query import Evidence, Query, has_spans


@dataclass(frozen=True, eq=False)
class Pieces:
    """What has to be found. A piece is one group of alternative evidence; `unit` is `evidence` or
    `document`.

    `queries` are the scored questions; `unscored` the others with the reason. `query`, `grade` and
    `core` are arrays over the pieces, ordered by question; `items[i]` are the alternatives of piece
    i.
    """

    unit: str
    queries: tuple[Query, ...]
    unscored: tuple[tuple[str, str], ...]
    items: tuple[tuple[Evidence, ...], ...]
    query: Ints

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def grade(self) -> Ints:
        return np.array([max(item.grade for item in piece) for piece in self.items], dtype=np.int64)

    @cached_property
    def core(self) -> Bools:
        return np.array(
            [any(item.role == "core" for item in piece) for piece in self.items], dtype=bool
        )

    @cached_property
    def number(self) -> Ints:
        """Every piece's number within its question, from 1."""
        return np.arange(len(self)) - np.searchsorted(self.query, self.query) + 1

    @cached_property
    def per_query(self) -> Ints:
        """Pieces of every question."""
        return np.bincount(self.query, minlength=len(self.queries))


def pieces(queries: Sequence[Query], unit: str = "auto") -> Pieces:
    """Lay the evidence out. `auto` judges spans where the set has any, else documents.

    Judgements of 0 or below are not relevant. A question without relevant evidence cannot be scored
    and is listed, so no mean is lowered or raised by it.
    """
    if unit == "auto":
        unit = "evidence" if has_spans(queries) else "document"
    scored: list[Query] = []
    unscored: list[tuple[str, str]] = []
    items: list[tuple[Evidence, ...]] = []
    owner: list[int] = []
    for query in queries:
        relevant = [
            piece
            for piece in (query.pieces if unit == "evidence" else _documents(query))
            if max(i.grade for i in piece) > 0
        ]
        if not relevant:
            unscored.append(
                (
                    query.query_id,
                    "only judgements of 0 or below" if query.evidence else "no evidence",
                )
            )
            continue
        owner.extend([len(scored)] * len(relevant))
        scored.append(query)
        items.extend(relevant)
    if not scored:
        raise DiagnosticsError(
            "no question has relevant evidence, so nothing can be scored; expected evidence with "
            "grade 1 or more"
        )
    return Pieces(
        unit, tuple(scored), tuple(unscored), tuple(items), np.array(owner, dtype=np.int64)
    )


def _documents(query: Query) -> list[tuple[Evidence, ...]]:
    """Every judged document once, with its highest grade; alternatives stay alternatives."""
    best: dict[str, int] = {}
    for item in query.evidence:
        best[item.doc_id] = max(best.get(item.doc_id, item.grade), item.grade)
    seen: set[str] = set()
    documents = []
    for piece in query.pieces:
        fresh = [
            doc_id for doc_id in dict.fromkeys(item.doc_id for item in piece) if doc_id not in seen
        ]
        seen.update(fresh)
        if fresh:
            documents.append(tuple(Evidence(doc_id, grade=best[doc_id]) for doc_id in fresh))
    return documents
