"""Searching the questions that have no evidence, to see whether scores tell them from the
answerable ones."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lab.arrays import NONE, Floats
from lab.config.config import Config
from lab.diagnosis.separation import Separation, ThresholdEffect, separation
from lab.evaluation.metrics import Metric
from lab.evaluation.scores import SystemRun, score
from lab.pipeline.stages import Stages
from lab.relevance.judge import Judge
from lab.relevance.pieces import Pieces
from lab.relevance.query import Query
from lab.retrieval.ranking import Ranking, project
from lab.retrieval.rerank import rerank

NO_EVIDENCE = "no evidence"
# Shares of the answerable questions whose best hit the tried thresholds keep.
KEEP = (0.99, 0.95, 0.9, 0.8)


@dataclass(frozen=True, eq=False)
class Unanswered:
    """One system's separation at every stage that has a score of its own, and what thresholds on
    the reranker do."""

    system: str
    separations: tuple[Separation, ...]
    effects: tuple[ThresholdEffect, ...]


def unanswerable(queries: Iterable[Query], asked: Pieces) -> list[Query]:
    """The questions without any evidence."""
    wanted = {query_id for query_id, reason in asked.unscored if reason == NO_EVIDENCE}
    return [query for query in queries if query.query_id in wanted and query.text.strip()]


def unanswered(
    stage: Stages, other: Stages, config: Config, judge: Judge, asked: Pieces
) -> Unanswered:
    """Ask a system the unanswerable questions as well: `other` is `stage` asking those. Legs are
    compared by their scores for the questions' own words, since fused variants have ranks only."""
    rows = []
    if config.bm25 is not None:
        legs = [s.own_bm25(config.bm25, config.depth) for s in (stage, other)]
        rows.append(separation("bm25", *map(_best, legs)))
    if config.dense is not None:
        legs = [s.own_dense(config.dense, config.depth) for s in (stage, other)]
        rows.append(separation("dense", *map(_best, legs)))
    effects: tuple[ThresholdEffect, ...] = ()
    if config.rerank is not None:
        best = [np.nanmax(_pairs(s, config), axis=1, initial=-np.inf) for s in (stage, other)]
        rows.append(separation("reranker", *best))
        effects = tuple(_effects(stage, other, config, judge, asked, best[0]))
    return Unanswered(config.name, tuple(rows), effects)


def _best(leg: Ranking) -> Floats:
    return np.asarray(leg.scores.max(axis=1, initial=-np.inf))


def _pairs(stage: Stages, config: Config) -> Floats:
    assert config.rerank is not None  # only systems that rerank have pairs
    scores = stage.pairs.of_head(config.rerank, stage.first_stage(config))
    return np.where(np.isnan(scores), -np.inf, scores)


def _effects(
    stage: Stages, other: Stages, config: Config, judge: Judge, asked: Pieces, best: Floats
) -> Iterable[ThresholdEffect]:
    assert config.rerank is not None  # only systems that rerank have a threshold
    ordered, metrics = np.sort(best), [Metric("precision", 3), Metric("recall", 5)]
    tried = [
        None,
        *(float(ordered[int(np.floor((1 - keep) * len(ordered) + 1e-9))]) for keep in KEEP),
    ]
    whole = np.zeros(0)
    for threshold in dict.fromkeys(tried):
        setting = config.rerank.model_copy(update={"threshold": threshold})
        rankings = []
        for s in (stage, other):
            first = s.first_stage(config)
            rankings.append(
                rerank(first, s.pairs.of_head(setting, first), setting, s.questions.texts)
            )
        delivered = (
            rankings[0]
            if config.deliver == "chunk"
            else project(rankings[0], stage.delivery(config.deliver).span_of)
        )
        run = SystemRun(judge, judge.judge(delivered), np.zeros(0, dtype=np.int64))
        values, (kept, heard) = (
            score(asked, [run], metrics)[0],
            ((r.chunks != NONE).any(axis=1) for r in rankings),
        )
        whole = values[:, 1] if threshold is None else whole
        shares = (float(share.mean()) for share in (kept, *values.T, whole * kept, ~heard))
        yield ThresholdEffect(np.nan if threshold is None else threshold, *shares)
