"""Searcher: one system of a sweep, ready to be asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lab.arrays import Ints
from lab.chunking.chunk import Chunking
from lab.config.config import Config
from lab.corpus.document import Corpus
from lab.corpus.filter import Filter, parse_filter
from lab.errors import ConfigError, counted
from lab.pipeline.foreign.reply import Reply
from lab.pipeline.foreign.shown import replies
from lab.pipeline.indexes import Indexes
from lab.pipeline.pairs import prepare_pairs
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.rows import SCORED_STAGES, stage_columns
from lab.pipeline.stages import Stages
from lab.relevance.query import Query
from lab.retrieval.ranking import Ranking, project


@dataclass(frozen=True, slots=True)
class StageScore:
    """Where a stage has a chunk: its rank from 1, 0 for a stage that re-scores and keeps no ranking
    of its own, and its score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `text` is what is handed to the reader, `[start, end)` of its document, for the
    chunk `[chunk_start, chunk_end)` that was searched; `stages` holds the stages that have the
    chunk: `bm25`, `dense`, `fused`, `rerank`. `score` is the last stage's."""

    rank: int
    doc_id: str
    start: int
    end: int
    text: str
    score: float
    chunk_start: int
    chunk_end: int
    stages: Mapping[str, StageScore]


class Searcher:
    """A system over a corpus: every stage that it has, as in a sweep, so that rankings are the
    same to the last bit. What it indexes is kept; what it is asked is not."""

    def __init__(
        self,
        corpus: Corpus,
        config: Config,
        resources: Resources,
        indexes: Indexes | None = None,
    ) -> None:
        if config.retriever is not None:
            raise ConfigError(
                f"'{config.retriever}' is a retriever of your own: the lab cannot search with it"
            )
        self.corpus = corpus
        self.config = config
        self.resources = resources
        self.indexes = indexes or Indexes(corpus, config.chunk, resources)

    def __repr__(self) -> str:
        return f"Searcher({self.config.name!r}, {counted(len(self.corpus), 'document')})"

    def at_alpha(self, alpha: float) -> "Searcher":
        """The same hybrid system with another weight of the dense leg, over the same indexes.
        Raises ConfigError for a system of one leg, or an alpha outside [0, 1]."""
        fusion = self.config.fusion
        if fusion is None:
            raise ConfigError(f"'{self.config.name}' has one leg: there is no alpha to change")
        if not 0 <= alpha <= 1:
            raise ConfigError(f"alpha is {alpha!r}; expected a number from 0 to 1")
        changed = fusion.model_copy(update={"alpha": alpha})
        config = self.config.model_copy(update={"fusion": changed})
        return Searcher(self.corpus, config, self.resources, self.indexes)

    def search(
        self,
        text: str,
        k: int = 10,
        filter: Mapping[str, Any] | Filter | None = None,
        variants: Sequence[str] = (),
    ) -> tuple[Hit, ...]:
        """The first `k` hits for a question, best first. `filter` are conditions on the documents'
        metadata, like `{"year": {"gte": 2020}}`; `variants` other wordings of the question, which a
        system with variants searches as well. Raises ConfigError for a filter that is none."""
        query = Query("question", text, variants=tuple(variants), filter=self._parsed(filter))
        (hits,) = self._answers([query], k, filtered=True)
        return hits

    def search_many(self, queries: Sequence[str | Query], k: int = 10) -> list[tuple[Hit, ...]]:
        """The first `k` hits of every question, all asked at once. A Query's filter and variants
        are used by a system that uses them, as in a sweep."""
        asked = [
            query if isinstance(query, Query) else Query(str(number), query)
            for number, query in enumerate(queries)
        ]
        return self._answers(asked, k, filtered=self.config.filter)

    def replies(self, queries: Sequence[Query]) -> dict[str, Reply]:
        """What every stage of the system has for each question, as a foreign retriever would show
        it: read back, it is diagnosed alike. Raises ConfigError where hits of stages cannot say
        all (see `lab.pipeline.foreign.shown`)."""
        return replies(self._asking(queries, self.config.filter), self.config)

    def _asking(self, queries: Sequence[Query], filtered: bool) -> Stages:
        asked = [replace(query, evidence=()) for query in queries]
        questions = Questions.of(asked, filtered=filtered, variants=self.config.variants)
        stages = Stages(self.indexes, questions, self.resources)
        prepare_pairs([(stages, [self.config])])
        return stages

    def _parsed(self, plain: Mapping[str, Any] | Filter | None) -> Filter | None:
        if isinstance(plain, Filter):
            return plain
        problems: list[str] = []
        parsed = parse_filter(plain, "filter", problems)
        if problems:
            raise ConfigError(problems)
        return parsed

    def _answers(self, queries: Sequence[Query], k: int, filtered: bool) -> list[tuple[Hit, ...]]:
        if k < 1:
            raise ConfigError(f"k is {k}; expected a whole number from 1")
        stages = self._asking(queries, filtered)
        ranking = stages.ranking(self.config)
        delivery = self.indexes.delivery(self.config.deliver)
        delivered = project(ranking, delivery.span_of).first(k)
        shown = [delivered.hits(query) for query in range(len(queries))]
        query = np.repeat(np.arange(len(queries)), [len(spans) for spans in shown])
        span = np.concatenate([*shown, np.zeros(0, dtype=np.int64)])
        chunk = _best_chunks(ranking, delivery.span_of, query, span)
        columns = stage_columns(stages, self.config, query, chunk)
        rank = np.concatenate([np.arange(len(spans)) for spans in shown] or [span])
        scores = delivered.scores[query, rank]
        hits: list[list[Hit]] = [[] for _ in queries]
        chunking = self.indexes.chunking
        for row in range(len(span)):
            hit = int(chunk[row])
            hits[query[row]].append(
                Hit(
                    rank=int(rank[row]) + 1,
                    **_place(delivery.spans, int(span[row])),
                    score=float(scores[row]),
                    chunk_start=int(chunking.start[hit]),
                    chunk_end=int(chunking.end[hit]),
                    stages=_stages_of(columns, row),
                )
            )
        return [tuple(of_question) for of_question in hits]


def _place(spans: Chunking, number: int) -> dict[str, Any]:
    """Document, offsets and text of a span; its document is read once."""
    document = spans.corpus.documents[int(spans.document[number])]
    start, end = int(spans.start[number]), int(spans.end[number])
    text = document.text[start:end]
    return {"doc_id": document.doc_id, "start": start, "end": end, "text": text}


def _best_chunks(ranking: Ranking, span_of: Ints, query: Ints, span: Ints) -> Ints:
    """For every delivered span of a question the chunk that brought it: the first that it is
    delivered for."""
    best = np.empty(len(span), dtype=np.int64)
    for row, (asked, wanted) in enumerate(zip(query.tolist(), span.tolist(), strict=True)):
        chunks = ranking.hits(asked)
        best[row] = chunks[np.argmax(span_of[chunks] == wanted)]
    return best


def _stages_of(columns: Mapping[str, Any], row: int) -> dict[str, StageScore]:
    """The stages that have a chunk, by name."""
    stages = {}
    for stage in SCORED_STAGES:
        rank, score = columns.get(f"{stage}_rank"), columns[f"{stage}_score"][row]
        if not np.isnan(score):
            stages[stage] = StageScore(0 if rank is None else int(rank[row]), float(score))
    return stages
