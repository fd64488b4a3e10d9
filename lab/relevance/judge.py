"""Judging a ranking by evidence: at which rank is a piece complete, and which hits are relevant."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lab.arrays import NEVER, NONE, Bools, Floats, Ints
from lab.chunking.chunk import Chunking
from lab.corpus.document import Corpus
from lab.relevance.pieces import Pieces
from lab.relevance.query import Evidence
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
        return (
            self
            if depth is None
            else Judged(self.ranking.first(depth), self.complete, self.relevant[:, :depth])
        )


@dataclass(frozen=True, eq=False)
class CoveringSpans:
    """One alternative of a piece: it is complete once the `weights` of its parts that are seen sum
    to `need`; `spans[i]` are the judged things (spans, or the document) that show part i."""

    need: int
    weights: Ints
    spans: tuple[Ints, ...]

    def complete(self, parts: Ints) -> Ints:
        """The rank at which enough parts are seen, one a column; `parts` (parts x any) are the
        ranks at which each is."""
        if not len(parts):
            return np.full(parts.shape[1], NEVER)
        order = np.argsort(parts, axis=0, kind="stable")
        ranks = np.take_along_axis(parts, order, axis=0)
        enough = np.cumsum(np.where(ranks < NEVER, self.weights[order], 0), axis=0) >= self.need
        reached = np.take_along_axis(ranks, enough.argmax(axis=0)[None], axis=0)[0]
        return np.asarray(np.where(enough.any(axis=0), reached, NEVER))


def _alone(thing: int) -> tuple[CoveringSpans, ...]:
    """A judged thing as if it were a piece of its own."""
    return (CoveringSpans(1, np.ones(1, dtype=np.int64), (np.array([thing]),)),)


class SpanJudge:
    """Judges rankings of spans (chunks or what is delivered for them) by evidence spans.

    A piece is complete at rank r when the first r spans together hold at least `hold` of the
    non-blank characters of one of its alternatives. A span is relevant by itself when it holds at
    least half of some alternative's non-blank characters, or when at least half of its own lie
    inside one.

    Every evidence item is parted at the borders of the spans that overlap it; a part is seen at the
    best rank of the spans that cover it, so completion is a running sum over parts and no union is
    ever drawn.
    """

    def __init__(self, pieces: Pieces, spans: Chunking, hold: float = HOLD) -> None:
        self.pieces, self.spans = pieces, spans
        item_piece: list[int] = []
        total: list[int] = []
        part_item: list[int] = []
        part_weight: list[int] = []
        pair_span: list[int] = []
        pair_query: list[int] = []
        part_pairs: list[int] = [0]
        relevant: set[tuple[int, int]] = set()
        first = np.searchsorted(spans.document, np.arange(len(spans.corpus) + 1))
        for piece, alternatives in enumerate(pieces.items):
            query = int(pieces.query[piece])
            for evidence in alternatives:
                text, start, end = place(spans.corpus, evidence)
                if not text[start:end].strip():
                    # No chunk can hold what is not in the corpus; counted as one character that is
                    # never seen.
                    item_piece.append(piece)
                    total.append(1)
                    continue
                position = spans.corpus.position[evidence.doc_id]
                of_document = slice(first[position], first[position + 1])
                left, right = spans.start[of_document], spans.end[of_document]
                overlapping = np.flatnonzero((left < end) & (right > start))
                lefts, rights = (
                    np.maximum(left[overlapping], start),
                    np.minimum(right[overlapping], end),
                )
                item = len(total)
                item_piece.append(piece)
                # What lies past the end of the text counts too: it is evidence that nothing holds.
                total.append(_visible(text, start, end) + max(end - len(text), 0))
                borders = np.unique(np.concatenate((lefts, rights)))
                for low, high in pairwise(borders):
                    covering = overlapping[(lefts <= low) & (rights >= high)]
                    weight = _visible(text, low, high)
                    if len(covering) and weight:
                        part_item.append(item)
                        part_weight.append(weight)
                        pair_span.extend((covering + first[position]).tolist())
                        pair_query.extend([query] * len(covering))
                        part_pairs.append(len(pair_span))
                for span, low, high in zip(
                    overlapping + first[position], lefts, rights, strict=True
                ):
                    held = _visible(text, low, high)
                    if 2 * held >= min(
                        total[-1], _visible(text, int(spans.start[span]), int(spans.end[span]))
                    ):
                        relevant.add((query, int(span)))
        # Non-blank characters of every evidence item.
        self.total = np.array(total, dtype=np.int64)
        # The smallest number of characters that is at least `hold`; the tiny slack keeps 0.9 * 10
        # at 9.
        self._need = np.ceil(hold * self.total - 1e-9).astype(np.int64)
        self._item_piece = np.array(item_piece, dtype=np.int64)
        self._part_item = np.array(part_item, dtype=np.int64)
        self._part_weight = np.array(part_weight, dtype=np.int64)
        self._pair_span = np.array(pair_span, dtype=np.int64)
        self._pair_query = np.array(pair_query, dtype=np.int64)
        self._part_ends = np.array(part_pairs, dtype=np.int64)
        self._part_first = self._part_ends[:-1]
        self._relevant = np.array(sorted(q * len(spans) + s for q, s in relevant), dtype=np.int64)

    def judge(self, ranking: Ranking) -> Judged:
        """Completion ranks and relevant hits of a ranking over `spans`, one row a scored
        question."""
        complete = self._best_alternative(self._items_complete(self._part_ranks(ranking)))
        keys = np.arange(len(ranking))[:, None] * len(self.spans) + ranking.chunks
        relevant = np.isin(keys, self._relevant) & (ranking.chunks != NONE)
        return Judged(ranking, complete, relevant)

    @property
    def pairs(self) -> tuple[Ints, Ints]:
        """(question, span) of every span that holds some of the question's evidence."""
        keys = np.unique(self._pair_query * len(self.spans) + self._pair_span)
        query, span = np.divmod(keys, max(len(self.spans), 1))
        return query, span

    def arrival(self, ranking: Ranking) -> tuple[Ints, Ints]:
        """Per piece the rank of the first span that holds a part of it, and the rank at which it is
        complete."""
        part_ranks = self._part_ranks(ranking)
        touched = np.full(len(self.total), NEVER)
        np.minimum.at(touched, self._part_item, part_ranks)
        return self._best_alternative(touched), self._best_alternative(
            self._items_complete(part_ranks)
        )

    def covering_spans(self, piece: int) -> tuple[CoveringSpans, ...]:
        """How spans hold a piece, one entry an alternative."""
        found = []
        for item in _run(self._item_piece, piece):
            parts = _run(self._part_item, item)
            spans = tuple(
                self._pair_span[self._part_ends[part] : self._part_ends[part + 1]] for part in parts
            )
            found.append(
                CoveringSpans(
                    int(self._need[item]), self._part_weight[parts.start : parts.stop], spans
                )
            )
        return tuple(found)

    def relevant_to(self, query: int) -> list[tuple[CoveringSpans, ...]]:
        """Every span that is relevant to a question by itself, each as a piece of its own."""
        first, last = np.searchsorted(
            self._relevant, np.array([query, query + 1]) * len(self.spans)
        )
        return [_alone(int(key) - query * len(self.spans)) for key in self._relevant[first:last]]

    def coverage(self, ranking: Ranking, k: int) -> Floats:
        """Per question the share of evidence characters in the union of the first k spans, |E and
        R| / |E|; of alternatives the best covered one counts."""
        seen = self._part_ranks(ranking) <= k
        held = np.bincount(
            self._part_item, weights=self._part_weight * seen, minlength=len(self.total)
        )
        share = held / self.total
        # Per piece the alternative with the largest share; the first of equals.
        order = np.lexsort((-share, self._item_piece))
        best = order[np.searchsorted(self._item_piece[order], np.arange(len(self.pieces)))]
        query, width = self.pieces.query, len(self.pieces.queries)
        return np.asarray(
            np.bincount(query, weights=held[best], minlength=width)
            / np.bincount(query, weights=self.total[best], minlength=width)
        )

    def pieces_needed(self) -> Ints:
        """Per piece the least number of spans that hold it together (the scatter test), NEVER if
        all spans do not."""
        needed = np.full(len(self.total), NEVER)
        for item in range(len(self.total)):
            needed[item] = self._cover(_run(self._part_item, item), int(self._need[item]))
        return self._best_alternative(needed)

    def _cover(self, parts: range, need: int) -> int:
        """Least number of spans that hold `need` characters, exactly. Spans over one item are runs
        of its parts; of nested runs only the outer one can help, so both ends of the others ascend
        and a chosen run overlaps only the one chosen before it: a table over (number of runs, last
        run) has the most that each choice can hold."""
        runs: dict[int, tuple[int, int]] = {}
        for place, part in enumerate(parts):
            for span in self._pair_span[self._part_ends[part] : self._part_ends[part + 1]].tolist():
                runs[span] = (runs[span][0] if span in runs else place, place + 1)
        outer: list[tuple[int, int]] = []
        for low, high in sorted(set(runs.values()), key=lambda run: (run[0], -run[1])):
            if not outer or high > outer[-1][1]:
                outer.append((low, high))
        held = np.concatenate(
            ([0], np.cumsum(self._part_weight[parts.start : parts.stop]))
        ).tolist()
        most = [held[high] - held[low] for low, high in outer]
        for count in range(1, len(outer) + 1):
            if max(most) >= need:
                return count
            most = [
                max(
                    (most[i] + held[high] - held[max(low, outer[i][1])] for i in range(place)),
                    default=0,
                )
                for place, (low, high) in enumerate(outer)
            ]
        return int(NEVER)

    def _part_ranks(self, ranking: Ranking) -> Ints:
        """Best rank of the spans that cover each part, NEVER if none was retrieved."""
        if not len(self._part_first):
            return np.zeros(0, dtype=np.int64)
        ranks = ranks_of(ranking, self._pair_query, self._pair_span)
        return np.minimum.reduceat(np.where(ranks > 0, ranks, NEVER), self._part_first)

    def _items_complete(self, part_ranks: Ints) -> Ints:
        order = np.lexsort((part_ranks, self._part_item))
        item, rank = self._part_item[order], part_ranks[order]
        running = np.cumsum(np.where(rank < NEVER, self._part_weight[order], 0))
        before = np.concatenate(([0], running))[np.searchsorted(item, item)]
        enough = (running - before >= self._need[item]) & (rank < NEVER)
        complete = np.full(len(self.total), NEVER)
        np.minimum.at(complete, item[enough], rank[enough])
        return complete

    def _best_alternative(self, items: Ints) -> Ints:
        best = np.full(len(self.pieces), NEVER)
        np.minimum.at(best, self._item_piece, items)
        return best


class DocumentJudge:
    """Judges rankings of chunks by documents: each document stands at its best chunk's rank
    (MaxP)."""

    def __init__(self, pieces: Pieces, spans: Chunking) -> None:
        self.pieces, self.spans = pieces, spans
        corpus: Corpus = spans.corpus
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
        """How documents hold a piece, one entry an alternative; a document not in the corpus shows
        nothing."""
        own = _run(self._item_piece, piece)
        found = self._document[own.start : own.stop]
        ones = np.ones(1, dtype=np.int64)
        return tuple(
            CoveringSpans(1, ones, (document[None][document[None] < len(self.spans.corpus)],))
            for document in found
        )

    def relevant_to(self, query: int) -> list[tuple[CoveringSpans, ...]]:
        """Every document that is relevant to a question by itself, each as a piece of its own."""
        first, last = np.searchsorted(
            self._relevant, np.array([query, query + 1]) * len(self.spans.corpus)
        )
        return [
            _alone(int(key) - query * len(self.spans.corpus)) for key in self._relevant[first:last]
        ]

    def judge(self, ranking: Ranking) -> Judged:
        """Ranks of the relevant documents, and which documents are relevant."""
        return self.judge_documents(project(ranking, self.spans.document))

    def judge_documents(self, documents: Ranking) -> Judged:
        """The same of a ranking that is of documents already."""
        keys = np.arange(len(documents))[:, None] * len(self.spans.corpus) + documents.chunks
        relevant = np.isin(keys, self._relevant) & (documents.chunks != NONE)
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


def place(corpus: Corpus, evidence: Evidence) -> tuple[str, int, int]:
    """The evidence's document and its span there; an empty text where the corpus lacks the
    document."""
    text = corpus[evidence.doc_id].text if evidence.doc_id in corpus else ""
    return text, *evidence.span(text)


def _run(ascending: Ints, value: int) -> range:
    """Where a value stands in an ascending array."""
    return range(
        int(np.searchsorted(ascending, value)), int(np.searchsorted(ascending, value, side="right"))
    )


def _visible(text: str, start: int, end: int) -> int:
    """Non-blank characters of text[start:end]."""
    return len("".join(text[start:end].split()))
