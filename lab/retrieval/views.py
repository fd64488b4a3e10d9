"""Views: a chunk is found through its own text and through what its document says of itself, such
as a title or a summary."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from lab.arrays import NONE, Floats, Ints
from lab.chunking.chunk import Chunking
from lab.retrieval.bm25 import BM25
from lab.retrieval.config import OWN_TEXT
from lab.retrieval.fusion import union
from lab.retrieval.ranking import Ranking, rank

# What an index is asked with: BM25 the questions' texts, dense their vectors.
Questions = Any


class Index(Protocol):
    """What a leg's index can do."""

    @property
    def size(self) -> int:
        """Bytes."""

    def search(self, queries: Questions, depth: int, /) -> Ranking:
        """The best `depth` entries of every question."""

    def only(self, chunks: Ints, /) -> Self:
        """The index of some entries (ascending), which are numbered anew."""

    def scores(self, queries: Questions, chunks: Ints, /) -> Floats:
        """Scores of given entries (questions x any, NONE for absent); NaN where there is none."""


Own = TypeVar("Own", bound=Index)


@dataclass(frozen=True, eq=False)
class Entries:
    """The texts of one view, one a document that has it, and whose they are: entry e stands for the
    chunks [first[e], first[e] + count[e]), and `of_chunk` is the entry of every chunk, NONE where
    its document lacks the view."""

    texts: list[str]
    first: Ints
    count: Ints
    of_chunk: Ints


@dataclass(frozen=True, eq=False)
class Views(Generic[Own]):
    """One leg over several views of the chunks. A chunk's score is the best that any of its views
    has (CombMAX, Fox & Shaw, TREC-2), so all chunks of a document tie where its title decides, and
    the ranking's rule for ties orders them.

    `own` is the index over the chunks' own texts; `others` has the entries of every other view with
    the index over them.
    """

    own: Own
    others: tuple[tuple[Entries, Own], ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all indexes."""
        return self.own.size + sum(index.size for _, index in self.others)

    def each(self, change: Callable[[Own], Own]) -> "Views[Own]":
        """The same views over changed indexes."""
        return Views(
            change(self.own), tuple((entries, change(index)) for entries, index in self.others)
        )

    def only(self, chunks: Ints) -> "Views[Own]":
        """All views of some documents, whose chunks (ascending) are numbered anew."""
        others = []
        for entries, index in self.others:
            held = np.unique(entries.of_chunk[chunks])
            held = held[held != NONE]
            number = np.full(len(entries.texts) + 1, NONE)  # the last place is NONE's
            number[held] = np.arange(len(held))
            first = np.searchsorted(chunks, entries.first[held])
            kept = Entries(
                [entries.texts[e] for e in held],
                first,
                entries.count[held],
                number[entries.of_chunk[chunks]],
            )
            others.append((kept, index.only(held)))
        return Views(self.own.only(chunks), tuple(others))

    def search(self, queries: Questions, depth: int) -> Ranking:
        """The best `depth` chunks of every question: each is among the first `depth` of the view
        that has its best score."""
        by_text = self.own.search(queries, depth)
        if not self.others:
            return by_text
        chunks = union(
            by_text,
            *(
                _chunks(index.search(queries, depth), entries, depth)
                for entries, index in self.others
            ),
        )
        scores = self.scores(queries, chunks)
        return rank(chunks, np.nan_to_num(scores, nan=-np.inf), depth)

    def scores(self, queries: Questions, chunks: Ints) -> Floats:
        """The best score of given chunks over all views (questions x any, NONE for absent); NaN
        where no view has one."""
        return np.asarray(
            np.fmax(self.own.scores(queries, chunks), self.scores_of_others(queries, chunks))
        )

    def scores_of_others(self, queries: Questions, chunks: Ints) -> Floats:
        """The best score over the views other than the chunk's own text."""
        best = np.full(chunks.shape, np.nan)
        for entries, index in self.others:
            held = np.where(chunks == NONE, NONE, entries.of_chunk[chunks])
            best = np.fmax(best, index.scores(queries, held))
        return best


def _chunks(ranking: Ranking, entries: Entries, depth: int) -> Ranking:
    """Entries as their chunks in order, the first `depth`: what follows has that many chunks of at
    least its score ahead."""
    chunks = np.full((len(ranking), depth), NONE, dtype=np.int64)
    for query in range(len(ranking)):
        hits = ranking.hits(query)
        of_entries = [
            np.arange(entries.first[e], entries.first[e] + min(int(entries.count[e]), depth))
            for e in hits
        ]
        row = np.concatenate(of_entries)[:depth] if of_entries else hits
        chunks[query, : len(row)] = row
    return Ranking(chunks, np.zeros(chunks.shape))


def entries_of(chunking: Chunking, views: Iterable[str]) -> list[Entries]:
    """The entries of every view but the chunks' own text. A document without chunks has none."""
    entries = []
    documents = np.arange(len(chunking.corpus))
    first, end = (
        np.searchsorted(chunking.document, documents, side=side) for side in ("left", "right")
    )
    for view in views:
        if view == OWN_TEXT:
            continue
        texts = [document.view(view) for document in chunking.corpus]
        has = np.array([bool(text) for text in texts]) & (end > first)
        number = np.where(has, np.cumsum(has) - 1, NONE)
        held = np.flatnonzero(has)
        entries.append(
            Entries(
                [texts[d] for d in held],
                first[held],
                end[held] - first[held],
                number[chunking.document],
            )
        )
    return entries


def parted(whole: BM25, chunks: int, entries: Sequence[Entries]) -> Views[BM25]:
    """One BM25 index over the chunks' own texts and then all entries, parted by view. The
    statistics (N, document frequencies, mean length) stay those of the whole, so that a term weighs
    the same in every view and scores may be compared."""
    borders = np.cumsum([0, chunks, *(len(view.texts) for view in entries)])
    if not entries:
        return Views(whole)
    parts = [
        replace(whole, postings=whole.postings[:, low:high])
        for low, high in pairwise(borders.tolist())
    ]
    return Views(parts[0], tuple(zip(entries, parts[1:], strict=True)))
