"""Trails of the systems of one chunking: the rank of every piece of evidence after each stage."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

from lab.arrays import NEVER, Ints
from lab.config.config import Config
from lab.diagnosis.filtered import LeftOut
from lab.diagnosis.ranks import Trail
from lab.diagnosis.unread import Tail, unread
from lab.evaluation.scores import SystemRun
from lab.pipeline.stages import Stages
from lab.relevance.judge import Judge, SpanJudge
from lab.relevance.pieces import Pieces
from lab.retrieval.config import BM25Config, DenseConfig
from lab.retrieval.ranking import Ranking, project
from lab.retrieval.rerank import rerank

Arrival = tuple[Ints, Ints]
T = TypeVar("T")


class Trails:
    """Built once per chunking and asked for every system that shares it: what depends on less than
    the system (a leg's ranks, the candidates, the unread tails) is found once."""

    def __init__(self, stage: Stages, asked: Pieces, k: int) -> None:
        self.stage, self.asked, self.k, self.left_out = stage, asked, k, LeftOut(stage, asked)
        self._memo: dict[Hashable, Any] = {}

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Compute a value at its first use."""
        if key not in self._memo:
            self._memo[key] = compute()
        return self._memo[key]  # type: ignore[no-any-return]  # each key is one value's

    def trail(self, config: Config, run: SystemRun, budget: Ints | None) -> Trail:
        """How far every piece came. `budget` is how many spans of each question fit the token
        budget, None to read k."""
        judge, final, k = run.judge, run.judged.complete, np.full(len(self.asked), self.k)
        limit = k if budget is None else budget[self.asked.query]
        needed = self.once((judge, "needed"), lambda: self._needed(judge))
        bm25, dense = legs(config)
        part, first, reranked = (
            self.arrival(config, self.stage.ranking(config), judge)[0],
            final,
            final,
        )
        if config.rerank is not None:
            before = self.stage.first_stage(config)
            first = self.arrival(config, before, judge)[1]
            if config.rerank.threshold is not None:
                free = config.rerank.model_copy(update={"threshold": None})
                uncut = rerank(
                    before, self.stage.pair_scores(free, before), free, self.stage.questions
                )
                reranked = self.arrival(config, uncut, judge)[1]
        pool_part, pool = self.pool(config, judge)
        return Trail(
            limit=limit,
            k=np.maximum(k, limit),
            inside=needed < NEVER,
            filtered=self.left_out.pieces,
            needed=needed,
            unread=np.isin(np.arange(len(self.asked)), list(self.tails(dense)) if dense else []),
            bm25=None if bm25 is None else self._leg(config, bm25, judge)[1],
            dense=None if dense is None else self._leg(config, dense, judge)[1],
            pool=pool < NEVER,
            pool_part=pool_part < NEVER,
            exact_pool=self.pool(exactly(config), judge)[1] < NEVER,
            first=first,
            part=part,
            reranked=reranked,
            final=final,
            crowded=np.zeros(len(final), dtype=bool),
        )

    def arrival(self, config: Config, ranking: Ranking, judge: Judge) -> Arrival:
        """Ranks of the first part and of completion under a ranking of chunks."""
        delivered = (
            ranking
            if config.deliver == "chunk"
            else project(ranking, self.stage.delivery(config.deliver).span_of)
        )
        return judge.arrival(delivered)

    def pool(self, config: Config, judge: Judge) -> Arrival:
        """NEVER where the candidates hold no part of a piece, and where they do not hold it
        whole."""
        bm25, dense = legs(config)
        if self.stage.variants is None and (bm25 is None or dense is None):
            return self._leg(config, bm25 or dense, judge)
        key = bm25, dense, config.depth
        return self.once((*key, judge), lambda: self.arrival(config, self.stage.reach(*key), judge))

    def tails(self, dense: DenseConfig) -> dict[int, Tail]:
        """Pieces that the encoder does not read, with the tail they are in; late pooling reads
        documents to their end."""

        def compute() -> dict[int, Tail]:
            if dense.pooling == "late":
                return {}
            encoder, chunking = self.stage.resources.encoder(dense.model), self.stage.chunking
            room = encoder.max_tokens - len(encoder.offsets(encoder.prompt("passage")))
            starts = self.stage.resources.token_starts(dense.model, chunking.corpus)
            return unread(self.asked, chunking, starts, room)

        return self.once((dense.model, dense.pooling, "tails"), compute)

    def _leg(self, config: Config, leg: BM25Config | DenseConfig | None, judge: Judge) -> Arrival:
        def compute() -> Arrival:
            if isinstance(leg, BM25Config):
                return self.arrival(config, self.stage.bm25_leg(leg, config.depth), judge)
            assert leg is not None  # a system has a leg
            return self.arrival(config, self.stage.dense_leg(leg, config.depth), judge)

        return self.once((leg, config.depth, judge), compute)

    def _needed(self, judge: Judge) -> Ints:
        """Least number of judged things that hold a piece, NEVER where the corpus does not."""
        if isinstance(judge, SpanJudge):
            return judge.pieces_needed()
        held = [
            any(spans.size for h in judge.holders(piece) for spans in h.spans)
            for piece in range(len(self.asked))
        ]
        return np.where(held, 1, NEVER)


def legs(config: Config) -> tuple[BM25Config | None, DenseConfig | None]:
    """The legs that bring candidates: one of weight 0 brings none."""
    alpha = None if config.fusion is None else config.fusion.alpha
    return None if alpha == 1 else config.bm25, None if alpha == 0 else config.dense


def exactly(config: Config) -> Config:
    """The system with exact dense search."""
    if config.dense is None or config.dense.index == "exact":
        return config
    return config.model_copy(update={"dense": config.dense.model_copy(update={"index": "exact"})})
