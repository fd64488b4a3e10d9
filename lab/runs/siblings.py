"""Sibling confusion: how often a near-miss identifier outranks the right one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from lab.corpus.document import Corpus
from lab.errors import RunError
from lab.relevance.query import Query
from lab.runs.tables import Tables
from lab.sets.identifiers import find_identifiers, folded, siblings

KIND = "exact_id"
# Hits of a question that every run keeps.
SEEN = 10


@dataclass(frozen=True, slots=True)
class Confusion:
    """Among the `questions` that ask for an identifier which has near misses: the share in which,
    within the first ten hits, a chunk with a near miss and without the identifier stands above
    every chunk with it (`outranked`); the share in which the first hit holds the identifier
    (`first`), or no hit does (`absent`); and the ids of those outranked."""

    system: str
    questions: int
    outranked: float
    first: float
    absent: float
    query_ids: tuple[str, ...]


def sibling_confusion(tables: Tables, corpus: Corpus, queries: Sequence[Query]) -> list[Confusion]:
    """One row a system. Raises RunError when no `exact_id` question asks for an identifier with
    near misses."""
    near = siblings(
        {folded(name) for document in corpus for _, name in find_identifiers(document.text)}
    )
    asked = {q.query_id: names for q in queries if q.kind == KIND and (names := _asked(q, near))}
    if not asked:
        raise RunError(
            f"no question of kind '{KIND}' names an identifier that has near misses in the "
            "documents"
        )
    hits = tables.rankings[
        tables.rankings["query_id"].isin(list(asked)) & tables.rankings["rank"].between(1, SEEN)
    ]
    held = _identifiers_of(corpus)
    confusions = []
    for system in tables.systems["system"]:
        outcome: dict[str, tuple[int, int]] = dict.fromkeys(asked, (SEEN + 1, SEEN + 1))
        for row in hits[hits["system"] == system].sort_values("rank").itertuples():
            names = asked[row.query_id]
            there = held(row.doc_id, int(row.shown_start), int(row.shown_end))
            right, wrong = outcome[row.query_id]
            if there & names:
                outcome[row.query_id] = min(right, row.rank), wrong
            elif any(there & set(near[name]) for name in names):
                outcome[row.query_id] = right, min(wrong, row.rank)
        outranked = tuple(query_id for query_id, (right, wrong) in outcome.items() if wrong < right)
        total = len(outcome)
        confusions.append(
            Confusion(
                str(system),
                total,
                len(outranked) / total,
                sum(right == 1 for right, _ in outcome.values()) / total,
                sum(right > SEEN for right, _ in outcome.values()) / total,
                outranked,
            )
        )
    return confusions


def _asked(query: Query, near: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Identifiers of the question that have near misses in the corpus."""
    return frozenset(
        name
        for _, identifier in find_identifiers(query.text)
        if near.get(name := folded(identifier))
    )


def _identifiers_of(corpus: Corpus) -> Callable[[str, int, int], frozenset[str]]:
    """Identifiers in a span of a document, remembered: systems show the same spans again and
    again."""

    @cache
    def look(doc_id: str, start: int, end: int) -> frozenset[str]:
        return frozenset(
            folded(name) for _, name in find_identifiers(corpus[doc_id].text[start:end])
        )

    return look
