"""Pooling a finished run: the pairs whose label could most change the choice among the systems that
are not told apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.arrays import NEVER, Ints
from lab.corpus.document import Corpus
from lab.errors import RunError
from lab.evaluation.incomplete import UNJUDGED
from lab.evaluation.metrics import WEIGHTED, Metric, parse_metric
from lab.evaluation.pooling import Pool, choose, weight, worth
from lab.relevance.query import Query
from lab.runs.tables import Tables
from lab.sets.pool.sheet import Pair

if TYPE_CHECKING:
    import pandas as pd

# A run folder keeps this many hits of every question, so no pair lies deeper.
KEPT = 10

# A document by its id, or a span of it.
Thing = tuple[str, int | None, int | None]


@dataclass(frozen=True, slots=True)
class Picked:
    """The pairs to label, by question; the systems they are to tell apart, by which metric; how
    many unjudged pairs there were to choose from, and how many of these the systems do not all have
    alike."""

    pairs: tuple[Pair, ...]
    systems: tuple[str, ...]
    metric: str
    unjudged: int
    telling: int


def candidates(tables: Tables) -> tuple[str, ...]:
    """The systems between which labels may choose: those that are not told from the best; where
    there are none, those whose distance to it the unjudged could turn."""
    undecided = tuple(map(str, tables.manifest["as_good_as_best"]))
    if len(undecided) > 1 or "unjudged_decides" not in tables.systems:
        return undecided
    turned = tables.systems["unjudged_decides"] | (
        tables.systems["system"] == tables.manifest["best"]
    )
    return tuple(map(str, tables.systems.loc[turned, "system"]))


@dataclass(frozen=True, eq=False)
class Source:
    """What pairs are picked from: the run's first hits, and what is known of its questions, each
    judged by `unit`. `labelled` are things that earlier labels judged, by question."""

    rankings: "pd.DataFrame"
    queries: Sequence[Query]
    corpus: Corpus
    unit: str
    labelled: Mapping[str, set[Thing]]


def pick(source: Source, systems: Sequence[str], select_by: str, budget: int) -> Picked:
    """Choose at most `budget` pairs among the first hits of `systems` (see
    `lab.evaluation.pooling`). Spans of several chunkings that overlap by half of the shorter are
    one pair, the shortest stands for it.

    Raises RunError when there are fewer than two systems to tell apart, or nothing to label.
    """
    if len(systems) < 2:
        raise RunError("the best system is told from every other; no label can change the choice")
    metric = Metric("ndcg", KEPT) if select_by == WEIGHTED else parse_metric(select_by)
    k = KEPT if metric.by_tokens else min(metric.k or KEPT, KEPT)
    asked = {query.query_id: query for query in source.queries}
    things: list[tuple[str, Thing]] = []
    ranks: list[Ints] = []
    grades: list[int] = []
    for query_id, hits in _hits(source.rankings, systems).items():
        known = source.labelled.get(query_id, set())
        by_document = source.unit == "document"
        placed = _documents(hits, asked[query_id]) if by_document else _spans(hits)
        for thing, places, judged in placed:
            within = np.full(len(systems), NEVER)
            within[list(places)] = list(places.values())
            within[within > k] = NEVER
            if (within < NEVER).any() and thing[0] in source.corpus:
                things.append((query_id, thing))
                ranks.append(within)
                grades.append(0 if judged == UNJUDGED and thing in known else judged)
    if not things:
        raise RunError("the run keeps no hit of these systems, so there is nothing to label")
    numbers = np.unique([query_id for query_id, _ in things], return_inverse=True)[1]
    pool = Pool(numbers, np.array(ranks).T, np.array(grades))
    worths = worth(pool, range(len(systems)), weight(metric))
    chosen = sorted(
        (things[pair] for pair in choose(worths, budget).tolist()),
        key=lambda candidate: (candidate[0], candidate[1][0], candidate[1][1] or 0),
    )
    pairs = tuple(_pair(asked[query_id], thing, source.corpus) for query_id, thing in chosen)
    unjudged, telling = int(pool.unjudged.sum()), int((worths > 0).sum())
    return Picked(pairs, tuple(systems), metric.label, unjudged, telling)


@dataclass(frozen=True, slots=True, order=True)
class Hit:
    """One hit of a system (by its number), whether it is known to be relevant."""

    system: int
    rank: int
    doc_id: str
    start: int
    end: int
    relevant: bool


# A thing, its rank under each system that has it, and its grade, UNJUDGED where it has none.
Placed = tuple[Thing, dict[int, int], int]


def _hits(rankings: "pd.DataFrame", systems: Sequence[str]) -> dict[str, list[Hit]]:
    """Question -> the first hits of every system."""
    shown = rankings[rankings["system"].isin(systems) & rankings["rank"].between(1, KEPT)]
    place = {name: number for number, name in enumerate(systems)}
    by_query: dict[str, list[Hit]] = {}
    for row in shown.itertuples():
        hit = Hit(
            system=place[str(row.system)],
            rank=int(row.rank),
            doc_id=str(row.doc_id),
            start=int(row.shown_start),
            end=int(row.shown_end),
            relevant=bool(row.relevant or row.evidence),
        )
        by_query.setdefault(str(row.query_id), []).append(hit)
    return dict(sorted(by_query.items()))


def _documents(hits: Sequence[Hit], query: Query) -> list[Placed]:
    """Documents at the rank of their best chunk, repeats removed."""
    grades = {item.doc_id: item.grade for item in query.evidence}
    ranks: dict[str, dict[int, int]] = {}
    listed: dict[int, list[str]] = {}
    for hit in sorted(hits):
        of_system = listed.setdefault(hit.system, [])
        if hit.doc_id not in of_system:
            of_system.append(hit.doc_id)
            ranks.setdefault(hit.doc_id, {})[hit.system] = len(of_system)
    return [
        (
            (doc_id, None, None),
            ranks[doc_id],
            max(grades[doc_id], 0) if doc_id in grades else UNJUDGED,
        )
        for doc_id in sorted(ranks)
    ]


def _spans(hits: Sequence[Hit]) -> list[Placed]:
    """Places of the documents at the best rank of the hits there; those with evidence in them are
    judged."""
    placed: list[Placed] = []
    for doc_id in sorted({hit.doc_id for hit in hits}):
        left = sorted(
            (hit for hit in hits if hit.doc_id == doc_id),
            key=lambda hit: (hit.end - hit.start, hit.start, hit.system, hit.rank),
        )
        while left:
            first = left[0]
            same = [hit for hit in left if _overlap(hit, first)]
            ranks: dict[int, int] = {}
            for hit in same:
                ranks[hit.system] = min(ranks.get(hit.system, hit.rank), hit.rank)
            judged = 1 if any(hit.relevant for hit in same) else UNJUDGED
            placed.append(((doc_id, first.start, first.end), ranks, judged))
            left = [hit for hit in left if hit not in same]
    return placed


def _overlap(hit: Hit, shortest: Hit) -> bool:
    shared = min(hit.end, shortest.end) - max(hit.start, shortest.start)
    return 2 * shared >= shortest.end - shortest.start


def _pair(query: Query, thing: Thing, corpus: Corpus) -> Pair:
    document = corpus[thing[0]]
    return Pair(
        query.query_id, query.text, document.doc_id, document.title, document.text, *thing[1:]
    )
