"""Rows of `rankings.parquet`: for the first hits and for the evidence, every stage's rank and
score."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lab.arrays import NONE, Bools, Floats, Ints
from lab.chunking.context import Delivery
from lab.config.config import Config
from lab.evaluation.scores import SystemRun
from lab.pipeline.stages import Stages
from lab.relevance.judge import Judge, SpanJudge
from lab.retrieval.fusion import contributions
from lab.retrieval.ranking import DECIMALS, Ranking, ranks_of

Pairs = tuple[Ints, Ints]

# Stages that score chunks; the reranker keeps no ranking of its own.
SCORED_STAGES = ("bm25", "dense", "fused", "rerank")

# First hits of every question that are kept; the evidence is kept at any rank.
SHOWN = 10
# What is added up again is kept to more decimals than order compares.
EXACT = 12


@dataclass(frozen=True, eq=False)
class StageRows:
    """Parallel arrays, one entry a (question, chunk) of one system. Ranks count from 1 and are 0
    where a stage does not hold the chunk; scores are NaN there. Where variants of a question are
    fused, a leg's and the fused ranks and scores are those of all its wordings by reciprocal rank.
    `bm25_part` and `dense_part` are what fusion weighs, the legs' normalised scores with the
    features mixed in: at any alpha between 0 and 1 the fused score is `(1 - alpha) * bm25_part +
    alpha * dense_part`. `start`, `end` are the chunk's, `shown_start`, `shown_end` of what is
    delivered for it. `evidence` says whether the chunk holds any of the question's evidence,
    `relevant` whether precision counts the hit."""

    query: Ints
    document: Ints
    start: Ints
    end: Ints
    shown_start: Ints
    shown_end: Ints
    rank: Ints
    evidence: Bools
    relevant: Bools
    bm25_rank: Ints
    bm25_score: Floats
    dense_rank: Ints
    dense_score: Floats
    fused_rank: Ints
    fused_score: Floats
    bm25_part: Floats
    dense_part: Floats
    rerank_score: Floats

    @staticmethod
    def columns() -> tuple[str, ...]:
        return tuple(field.name for field in fields(StageRows))


def evidence_pairs(judge: Judge) -> Pairs:
    """(question, chunk) of all chunks that hold evidence, from the judge of chunks; of judged
    documents only the hits are rows, for a long document has too many chunks to list."""
    return (
        judge.pairs
        if isinstance(judge, SpanJudge)
        else (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    )


def stage_rows(
    stage: Stages,
    config: Config,
    run: SystemRun,
    *,
    ranking: Ranking,
    delivered: Ranking,
    delivery: Delivery,
    evidence: Pairs,
) -> StageRows:
    """Look the first hits and the evidence up in every stage of one system. `ranking` is of chunks,
    `delivered` of what is delivered for them."""
    width = len(stage.chunking)
    first = ranking.first(SHOWN).chunks
    query, place = np.nonzero(first != NONE)
    evidence_keys = evidence[0] * width + evidence[1]
    keys = np.union1d(query * width + first[query, place], evidence_keys)
    query, chunk = np.divmod(keys, max(width, 1))
    span, spans = delivery.span_of[chunk], delivery.spans
    stages = stage_columns(stage, config, query, chunk)
    document, rank = stage.chunking.document[chunk], ranks_of(delivered, query, span)
    return StageRows(
        query=query,
        document=document,
        start=stage.chunking.start[chunk],
        end=stage.chunking.end[chunk],
        shown_start=spans.start[span],
        shown_end=spans.end[span],
        rank=rank,
        evidence=np.isin(keys, evidence_keys),
        relevant=(rank > 0) & _relevant(run, query, span, document),
        **stages,
    )


def stage_columns(stage: Stages, config: Config, query: Ints, chunk: Ints) -> dict[str, Any]:
    """Rank and score of (question, chunk) pairs in every stage of one system, as columns of
    StageRows."""
    stages: dict[str, Any] = {
        f"{leg}_rank": np.zeros(len(query), dtype=np.int64) for leg in ("bm25", "dense", "fused")
    }
    unknown = (*(f"{leg}_score" for leg in SCORED_STAGES), "bm25_part", "dense_part")
    stages |= {name: np.full(len(query), np.nan) for name in unknown}
    if config.bm25 is not None:
        stages["bm25_rank"], stages["bm25_score"] = _look_up(
            stage.bm25_leg(config.bm25, config.depth), query, chunk
        )
    if config.dense is not None:
        stages["dense_rank"], stages["dense_score"] = _look_up(
            stage.dense_leg(config.dense, config.depth), query, chunk
        )
    first_stage = stage.first_stage(config)
    if config.bm25 is not None and config.dense is not None:
        both = stage.candidates(config.bm25, config.dense, config.depth)
        values = {"bm25_score": (both.bm25, DECIMALS), "dense_score": (both.dense, DECIMALS)}
        if config.fusion is not None:
            boost = stage.indexes.boost(config.features)
            parts = contributions(both, config.fusion.normalization, boost)
            values |= {"bm25_part": (parts[0], EXACT), "dense_part": (parts[1], EXACT)}
        # Fused variants have no exact score of a leg.
        exact = ~np.isin(query, stage.questions.owner)
        places = ranks_of(Ranking(both.chunks, both.bm25), query[exact], chunk[exact])
        for name, (scores, decimals) in values.items():
            stages[name][exact] = _at(scores, places, query[exact], decimals)
    if config.mode == "hybrid" or config.features.root:
        stages["fused_rank"], stages["fused_score"] = _look_up(first_stage, query, chunk)
    if config.rerank is not None:
        head = Ranking(
            first_stage.first(config.rerank.depth).chunks,
            stage.pairs.of_head(config.rerank, first_stage),
        )
        stages["rerank_score"] = _look_up(head, query, chunk)[1]
    return stages


def _relevant(run: SystemRun, query: Ints, span: Ints, document: Ints) -> Bools:
    """Whether each hit is relevant by itself: the judge ranks delivered spans, or documents."""
    ranks = ranks_of(
        run.judged.ranking, query, span if isinstance(run.judge, SpanJudge) else document
    )
    held = ranks > 0  # where no question has a hit there is no rank to look at
    held[held] = run.judged.relevant[query[held], ranks[held] - 1]
    return held


def _look_up(ranking: Ranking, query: Ints, chunk: Ints) -> tuple[Ints, Floats]:
    """Rank and score of every pair, scores rounded to the decimals that decide order (equal bytes
    whatever the batch)."""
    ranks = ranks_of(ranking, query, chunk)
    return ranks, _at(ranking.scores, ranks, query, DECIMALS)


def _at(values: Floats, places: Ints, query: Ints, decimals: int) -> Floats:
    """Values of questions x candidates at places from 1, NaN at place 0, rounded."""
    scores = np.full(len(places), np.nan)
    held = places > 0
    scores[held] = np.round(values[query[held], places[held] - 1], decimals)
    return scores
