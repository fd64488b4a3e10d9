"""Stage ranks: how far every piece of evidence came under one system, stage by stage."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import NEVER, Bools, Ints
from lab.config.config import Config
from lab.diagnosis.filtered import FilteredOut
from lab.diagnosis.unread import Tail, room_of, unread
from lab.evaluation.scores import SystemRun
from lab.pipeline.memo import Memo
from lab.pipeline.stages import Stages
from lab.relevance.judge import Judge, SpanJudge
from lab.relevance.pieces import Pieces
from lab.retrieval.config import BM25Config, DenseConfig
from lab.retrieval.ranking import Ranking, project
from lab.retrieval.rerank import rerank

# Per piece the rank of the first span that holds a part of it, and the rank that completes it.
Arrival = tuple[Ints, Ints]


@dataclass(frozen=True, eq=False)
class StageRanks:
    """One system's way from the text to the hits. All arrays are over the pieces; ranks count
    delivered spans from 1 and are NEVER where a stage does not have the whole piece.

    `limit` is how many spans are read (k, or what fits the token budget), `k` the cut-off that
    causes are relative to. `inside` says whether some alternative is in the corpus, `filtered` that
    the question's filter leaves all of them out, `needed` how few spans hold the piece, `unread`
    that the encoder does not read as far as the piece. `bm25` and `dense` are the ranks in each leg
    alone (None without the leg), `pool` says whether the candidates hold the piece, `pool_part` a
    part of it, and `exact_pool` whether exact search would. `first` is the rank before the
    reranker, `part` that of the first span with a part of the piece; `reranked` is the rank with no
    threshold, `final` as delivered. Of a foreign system `unseen` says that a stage which cannot be
    seen lost the piece between two that can, `unsearched` that one which cannot be seen searched:
    both None for a system of the lab's own.
    """

    limit: Ints
    k: Ints
    inside: Bools
    filtered: Bools
    needed: Ints
    unread: Bools
    bm25: Ints | None
    dense: Ints | None
    pool: Bools
    pool_part: Bools
    exact_pool: Bools
    first: Ints
    part: Ints
    reranked: Ints
    final: Ints
    unseen: Bools | None = None
    unsearched: Bools | None = None

    @property
    def missed(self) -> Bools:
        """Pieces that are not complete within what is read."""
        return self.final > self.limit


class StageRanker:
    """Finds the stage ranks of the systems of one chunking. Built once per chunking, for what
    depends on less than the system (a leg's ranks, the candidates, the unread tails) is computed
    once. `k` is the cut-off."""

    def __init__(self, stages: Stages, pieces: Pieces, k: int) -> None:
        self.stages = stages
        self.pieces = pieces
        self.k = k
        self.filtered_out = FilteredOut(stages, pieces)
        self._needed: Memo[Judge, Ints] = Memo()
        self._legs: Memo[tuple[BM25Config | DenseConfig, int, Judge], Arrival] = Memo()
        self._pools: Memo[tuple[BM25Config | None, DenseConfig | None, int, Judge], Arrival] = (
            Memo()
        )
        self._tails: Memo[tuple[str, str], dict[int, Tail]] = Memo()

    def stage_ranks(self, config: Config, run: SystemRun, budget: Ints | None) -> StageRanks:
        """How far every piece came. `budget` is how many spans of each question fit the token
        budget, None to read k."""
        judge = run.judge
        final = run.judged.complete
        k = np.full(len(self.pieces), self.k)
        limit = k if budget is None else budget[self.pieces.query]
        needed = self._needed.once(judge, lambda: self._spans_needed(judge))
        bm25, dense = legs(config)
        unread_pieces = [] if dense is None else list(self.tails(dense))
        first, reranked = self._around_the_reranker(config, judge, final)
        pool_part, pool = self._pool(config, judge)
        _, exact_pool = self._pool(exactly(config), judge)
        return StageRanks(
            limit=limit,
            k=np.maximum(k, limit),
            inside=needed < NEVER,
            filtered=self.filtered_out.pieces,
            needed=needed,
            unread=np.isin(np.arange(len(self.pieces)), unread_pieces),
            bm25=None if bm25 is None else self._leg(config, bm25, judge)[1],
            dense=None if dense is None else self._leg(config, dense, judge)[1],
            pool=pool < NEVER,
            pool_part=pool_part < NEVER,
            exact_pool=exact_pool < NEVER,
            first=first,
            part=self._arrival(config, self.stages.ranking(config), judge)[0],
            reranked=reranked,
            final=final,
        )

    def _around_the_reranker(self, config: Config, judge: Judge, final: Ints) -> tuple[Ints, Ints]:
        """Ranks before the reranker, and after it without its threshold."""
        if config.rerank is None:
            return final, final
        before = self.stages.first_stage(config)
        _, first = self._arrival(config, before, judge)
        if config.rerank.threshold is None:
            return first, final
        free = config.rerank.model_copy(update={"threshold": None})
        scores = self.stages.pairs.of_head(free, before)
        uncut = rerank(before, scores, free, self.stages.questions.texts)
        _, reranked = self._arrival(config, uncut, judge)
        return first, reranked

    def tails(self, dense: DenseConfig) -> dict[int, Tail]:
        """Pieces that the encoder does not read, with the tail they are in; late pooling reads
        documents to their end."""

        def compute() -> dict[int, Tail]:
            if dense.pooling == "late":
                return {}
            resources, chunking = self.stages.resources, self.stages.chunking
            encoder = resources.encoder(dense.model)
            room = room_of(encoder, chunking, self.stages.indexes.config.prefix)
            starts = resources.token_starts(dense.model, chunking.corpus)
            return unread(self.pieces, chunking, starts, room)

        return self._tails.once((dense.model, dense.pooling), compute)

    def _pool(self, config: Config, judge: Judge) -> Arrival:
        """NEVER where the candidates hold no part of a piece, and where they do not hold it
        whole."""
        bm25, dense = legs(config)
        if self.stages.variants is None and (bm25 is None or dense is None):
            leg = bm25 or dense
            assert leg is not None  # a system has a leg
            return self._leg(config, leg, judge)

        def compute() -> Arrival:
            return self._arrival(config, self.stages.reach(bm25, dense, config.depth), judge)

        return self._pools.once((bm25, dense, config.depth, judge), compute)

    def _leg(self, config: Config, leg: BM25Config | DenseConfig, judge: Judge) -> Arrival:
        def compute() -> Arrival:
            if isinstance(leg, BM25Config):
                return self._arrival(config, self.stages.bm25_leg(leg, config.depth), judge)
            return self._arrival(config, self.stages.dense_leg(leg, config.depth), judge)

        return self._legs.once((leg, config.depth, judge), compute)

    def _arrival(self, config: Config, ranking: Ranking, judge: Judge) -> Arrival:
        """Under a ranking of chunks."""
        if config.deliver == "chunk":
            return judge.arrival(ranking)
        return judge.arrival(project(ranking, self.stages.delivery(config.deliver).span_of))

    def _spans_needed(self, judge: Judge) -> Ints:
        """Least number of judged things that hold a piece, NEVER where the corpus does not."""
        if isinstance(judge, SpanJudge):
            return judge.pieces_needed()
        covered = [
            any(spans.size for covering in judge.covering_spans(piece) for spans in covering.spans)
            for piece in range(len(self.pieces))
        ]
        return np.where(covered, 1, NEVER)


def legs(config: Config) -> tuple[BM25Config | None, DenseConfig | None]:
    """The legs that bring candidates: one of weight 0 brings none."""
    alpha = None if config.fusion is None else config.fusion.alpha
    return None if alpha == 1 else config.bm25, None if alpha == 0 else config.dense


def exactly(config: Config) -> Config:
    """The system with exact dense search."""
    if config.dense is None or config.dense.index == "exact":
        return config
    return config.model_copy(update={"dense": config.dense.model_copy(update={"index": "exact"})})
