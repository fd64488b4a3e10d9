"""Judging a ranking by evidence: at which rank is a piece complete, and which hits are relevant."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import NEVER, NONE, Bools, Floats, Ints
from lab.chunking.chunk import Chunking
from lab.relevance.coverage import CoveringSpans, alone
from lab.relevance.pieces import Pieces
from lab.relevance.span_index import run, span_index
from lab.retrieval.ranking import Ranking, project, ranks_of

HOLD = 0.9


@dataclass(frozen=True, eq=False)
class Judged:
    """What one system found. `complete[p]` is the rank from 1 at which piece p is complete, NEVER
    if it is not; `relevant[q, r]` says whether the hit at rank r + 1 is relevant by itself;
    `ranking` is of the judged things."""

    ranking: Ranking
    complete: Ints
    relevant: Bools

    def first(self, depth: int | None) -> "Judged":
        """Without the hits beyond `depth` (None keeps all); completion ranks stay those of the
        whole ranking."""
        if depth is None:
            return self
        return Judged(self.ranking.first(depth), self.complete, self.relevant[:, :depth])


class SpanJudge:
    """Judges rankings of spans (chunks or what is delivered for them) by evidence spans.

    A piece is complete at rank r when the first r spans together hold at least `hold` of the
    non-blank characters of one of its alternatives. A span is relevant by itself when it holds at
    least half of some alternative's non-blank characters, or when at least half of its own lie
    inside one. A part of the evidence is seen at the best rank of the spans that cover it, so
    completion is a running sum over parts and no union is ever drawn (see
    `lab.relevance.span_index`).
    """

    def __init__(self, pieces: Pieces, spans: Chunking, hold: float = HOLD) -> None:
        self.pieces = pieces
        self.spans = spans
        self.index = span_index(pieces, spans, hold)

    def judge(self, ranking: Ranking) -> Judged:
        """Completion ranks and relevant hits of a ranking over `spans`, one row a scored
        question."""
        complete = self._best_alternative(self._items_complete(self._part_ranks(ranking)))
        return Judged(ranking, complete, _relevant(ranking, self.index.relevant, len(self.spans)))

    @property
    def pairs(self) -> tuple[Ints, Ints]:
        """(question, span) of every span that holds some of the question's evidence."""
        keys = np.unique(self.index.pair_query * len(self.spans) + self.index.pair_span)
        query, span = np.divmod(keys, max(len(self.spans), 1))
        return query, span

    def arrival(self, ranking: Ranking) -> tuple[Ints, Ints]:
        """Per piece the rank of the first span that holds a part of it, and the rank at which it is
        complete."""
        part_ranks = self._part_ranks(ranking)
        touched = np.full(len(self.index.total), NEVER)
        np.minimum.at(touched, self.index.part_item, part_ranks)
        complete = self._items_complete(part_ranks)
        return self._best_alternative(touched), self._best_alternative(complete)

    def covering_spans(self, piece: int) -> tuple[CoveringSpans, ...]:
        """How spans cover a piece, one entry an alternative."""
        return tuple(self.index.covering(item) for item in run(self.index.item_piece, piece))

    def relevant_to(self, query: int) -> list[tuple[CoveringSpans, ...]]:
        """Every span that is relevant to a question by itself, each as a piece of its own."""
        return _relevant_to(query, self.index.relevant, len(self.spans))

    def coverage(self, ranking: Ranking, k: int) -> Floats:
        """Per question the share of evidence characters in the union of the first k spans, |E and
        R| / |E|; of alternatives the best covered one counts."""
        index = self.index
        seen = self._part_ranks(ranking) <= k
        held = np.bincount(
            index.part_item, weights=index.part_weight * seen, minlength=len(index.total)
        )
        share = held / index.total
        # Per piece the alternative with the largest share; the first of equals.
        order = np.lexsort((-share, index.item_piece))
        best = order[np.searchsorted(index.item_piece[order], np.arange(len(self.pieces)))]
        query, width = self.pieces.query, len(self.pieces.queries)
        return np.asarray(
            np.bincount(query, weights=held[best], minlength=width)
            / np.bincount(query, weights=index.total[best], minlength=width)
        )

    def pieces_needed(self) -> Ints:
        """Per piece the least number of spans that hold it together (the scatter test), NEVER if
        all spans do not."""
        items = range(len(self.index.total))
        fewest = [self.index.covering(item).fewest() for item in items]
        return self._best_alternative(np.array(fewest, dtype=np.int64))

    def _part_ranks(self, ranking: Ranking) -> Ints:
        """Best rank of the spans that cover each part, NEVER if none was retrieved."""
        index = self.index
        if not len(index.part_item):
            return np.zeros(0, dtype=np.int64)
        ranks = ranks_of(ranking, index.pair_query, index.pair_span)
        return np.minimum.reduceat(np.where(ranks > 0, ranks, NEVER), index.part_ends[:-1])

    def _items_complete(self, part_ranks: Ints) -> Ints:
        index = self.index
        order = np.lexsort((part_ranks, index.part_item))
        item, rank = index.part_item[order], part_ranks[order]
        running = np.cumsum(np.where(rank < NEVER, index.part_weight[order], 0))
        before = np.concatenate(([0], running))[np.searchsorted(item, item)]
        enough = (running - before >= index.need[item]) & (rank < NEVER)
        complete = np.full(len(index.total), NEVER)
        np.minimum.at(complete, item[enough], rank[enough])
        return complete

    def _best_alternative(self, items: Ints) -> Ints:
        best = np.full(len(self.pieces), NEVER)
        np.minimum.at(best, self.index.item_piece, items)
        return best


class DocumentJudge:
    """Judges rankings of chunks by documents: each document stands at its best chunk's rank
    (MaxP)."""

    def __init__(self, pieces: Pieces, spans: Chunking) -> None:
        self.pieces = pieces
        self.spans = spans
        corpus = spans.corpus
        self._item_piece = np.array(
            [p for p, items in enumerate(pieces.items) for _ in items], dtype=np.int64
        )
        # A document that is not in the corpus gets the number after the last, which no ranking
        # holds.
        self._document = np.array(
            [corpus.position.get(i.doc_id, len(corpus)) for items in pieces.items for i in items],
            dtype=np.int64,
        )
        self._query = pieces.query[self._item_piece]
        known = self._document < len(corpus)
        self._relevant = np.unique(self._query[known] * len(corpus) + self._document[known])

    def arrival(self, ranking: Ranking) -> tuple[Ints, Ints]:
        """Per piece the rank of its first document, twice: a document arrives whole."""
        complete = self._complete(project(ranking, self.spans.document))
        return complete, complete

    def covering_spans(self, piece: int) -> tuple[CoveringSpans, ...]:
        """How documents cover a piece, one entry an alternative; a document not in the corpus shows
        nothing."""
        items = run(self._item_piece, piece)
        documents = self._document[items.start : items.stop]
        whole = np.ones(1, dtype=np.int64)
        return tuple(
            CoveringSpans(1, whole, (document[document < len(self.spans.corpus)],))
            for document in documents[:, None]
        )

    def relevant_to(self, query: int) -> list[tuple[CoveringSpans, ...]]:
        """Every document that is relevant to a question by itself, each as a piece of its own."""
        return _relevant_to(query, self._relevant, len(self.spans.corpus))

    def judge(self, ranking: Ranking) -> Judged:
        """Ranks of the relevant documents, and which documents are relevant."""
        return self.judge_documents(project(ranking, self.spans.document))

    def judge_documents(self, documents: Ranking) -> Judged:
        """The same of a ranking that is of documents already."""
        relevant = _relevant(documents, self._relevant, len(self.spans.corpus))
        return Judged(documents, self._complete(documents), relevant)

    def _complete(self, documents: Ranking) -> Ints:
        ranks = ranks_of(documents, self._query, self._document)
        complete = np.full(len(self.pieces), NEVER)
        np.minimum.at(complete, self._item_piece, np.where(ranks > 0, ranks, NEVER))
        return complete


Judge = SpanJudge | DocumentJudge


def judge_for(pieces: Pieces, spans: Chunking, hold: float = HOLD) -> Judge:
    """The judge of the pieces' unit."""
    return (
        SpanJudge(pieces, spans, hold)
        if pieces.unit == "evidence"
        else DocumentJudge(pieces, spans)
    )


def _relevant(ranking: Ranking, keys: Ints, things: int) -> Bools:
    """Which hits are relevant by themselves, given the keys `question * things + thing`."""
    wanted = np.arange(len(ranking))[:, None] * things + ranking.chunks
    return np.asarray(np.isin(wanted, keys) & (ranking.chunks != NONE))


def _relevant_to(query: int, keys: Ints, things: int) -> list[tuple[CoveringSpans, ...]]:
    first, last = np.searchsorted(keys, np.array([query, query + 1]) * things)
    return [alone(int(key) - query * things) for key in keys[first:last]]
