"""The sealed split: questions that no choice has seen, scored once for the system that was
recommended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np

from lab.config.config import Config
from lab.config.grid import Grid
from lab.corpus.document import Corpus
from lab.corpus.values import moment
from lab.errors import DiagnosticsError, counted
from lab.evaluation.clusters import FEWEST_GROUPS, clustered, main_documents
from lab.relevance.pieces import Pieces, pieces
from lab.relevance.query import Query
from lab.sets.audit.dates import DATE


@dataclass(frozen=True, slots=True)
class Sealed:
    """What the sealed questions say about one system: metric -> mean, lower and upper end of its
    95% interval."""

    system: str
    query_ids: tuple[str, ...]
    scores: dict[str, tuple[float, ...]]


def seal(
    queries: Sequence[Query],
    unit: str,
    share: float,
    seed: int,
    by: Literal["documents", "date"] = "documents",
    corpus: Corpus | None = None,
) -> tuple[tuple[Query, ...], tuple[Query, ...]]:
    """Part the questions into open ones and about `share` sealed ones: whole documents at a time,
    drawn by `seed`, or the latest by date, whole dates at a time.

    The split depends on ids, evidence, dates and seed alone, so that a later run of the same set
    seals the same questions. Questions without evidence stay open; they are not scored anyway. By
    date a month or a day stands for its beginning, and a question without a date has the latest of
    the documents of `corpus` that hold its evidence. Raises DiagnosticsError when scored questions
    have no date, or one date holds too many of them.
    """
    if not share:
        return tuple(queries), ()
    asked = pieces(queries, unit)
    sealed = _latest(asked, share, corpus) if by == "date" else _drawn(asked, share, seed)
    return (
        tuple(query for query in queries if query.query_id not in sealed),
        tuple(query for query in queries if query.query_id in sealed),
    )


def _drawn(asked: Pieces, share: float, seed: int) -> set[str]:
    groups = clustered(main_documents(asked), FEWEST_GROUPS)
    sizes, goal = np.bincount(groups.of), share * len(asked.queries)
    taken, chosen = 0, set()
    for group in np.random.default_rng(seed).permutation(len(groups)).tolist():
        if abs(taken + sizes[group] - goal) < abs(taken - goal):
            chosen.add(group)
            taken += int(sizes[group])
    return {
        query.query_id
        for query, group in zip(asked.queries, groups.of.tolist(), strict=True)
        if group in chosen
    }


def _date(query: Query, corpus: Corpus | None) -> datetime | None:
    """When a question was asked, else when the latest document was written that answers it."""
    asked = moment(query.date)
    if asked is not None or corpus is None:
        return None if asked is None else asked.time
    answers = [corpus[item.doc_id] for item in query.evidence if item.doc_id in corpus]
    dates = [moment(document.metadata.get(DATE)) for document in answers]
    return max((date.time for date in dates if date is not None), default=None)


def _latest(asked: Pieces, share: float, corpus: Corpus | None) -> set[str]:
    of_date: dict[datetime, list[str]] = {}
    undated = []
    for query in asked.queries:
        asked_at = _date(query, corpus)
        if asked_at is None:
            undated.append(query.query_id)
        else:
            of_date.setdefault(asked_at, []).append(query.query_id)
    if undated:
        raise DiagnosticsError(
            "measure.sealed_by is 'date', but "
            f"{counted(len(undated), 'scored question')} without one: "
            f"{', '.join(undated[:5])}{', ...' if len(undated) > 5 else ''}; give each a 'date', "
            "or the documents that answer it"
        )
    goal, sealed = share * len(asked.queries), list[str]()
    for when in sorted(of_date, reverse=True):
        more = of_date[when]
        if abs(len(sealed) + len(more) - goal) >= abs(len(sealed) - goal):
            break
        sealed += more
    if not 0 < len(sealed) < len(asked.queries):
        raise DiagnosticsError(
            f"measure.sealed_by is 'date', but {len(of_date[max(of_date)])} of "
            f"{len(asked.queries)} scored questions have the latest one: {share:.0%} cannot be "
            "told from the others by date; give times, or seal by documents"
        )
    return set(sealed)


def one_cell(config: Config) -> Grid:
    """The grid whose only system is this one; for a foreign system, which no grid makes, the
    cheapest there is."""
    if config.retriever is not None:
        return Grid(mode="bm25", chunk_strategy="document")
    return Grid.from_row(config.settings())
