"""Signals of a search that need no label: how well a system's legs say they did for a question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import NONE, Floats
from lab.pipeline.questions import Questions
from lab.pipeline.searcher import Searcher
from lab.pipeline.stages import Stages
from lab.relevance.query import Query
from lab.retrieval.ranking import Ranking

# Hits that signals look at.
DEPTH = 10


@dataclass(frozen=True, eq=False)
class Signals:
    """Questions x `names`. `top` is the best score of every leg (0 without a hit)."""

    names: tuple[str, ...]
    values: Floats
    top: dict[str, Floats]


def signals(searcher: Searcher, texts: Sequence[str]) -> Signals:
    """Ask every leg of a system. A leg's `top score` is that of its first hit; its `spread` the
    standard deviation of the scores of its first ten hits over their mean (NQC of Shtok et al.,
    TOIS 2012, with the mean in place of the corpus's score); `legs agree` is the share of the first
    ten hits that both legs have."""
    config = searcher.config
    questions = Questions.of([Query(str(place), text) for place, text in enumerate(texts)])
    stages = Stages(searcher.indexes, questions, searcher.resources)
    legs: dict[str, Ranking] = {}
    if config.bm25 is not None:
        legs["bm25"] = stages.own_bm25(config.bm25, config.depth).first(DEPTH)
    if config.dense is not None:
        legs["dense"] = stages.own_dense(config.dense, config.depth).first(DEPTH)
    columns: dict[str, Floats] = {}
    for name, leg in legs.items():
        columns[f"{name} top score"] = _top(leg)
        columns[f"{name} spread"] = _spread(leg)
    if len(legs) > 1:
        columns["legs agree"] = _agreement(*legs.values())
    top = {name: columns[f"{name} top score"] for name in legs}
    return Signals(tuple(columns), np.column_stack(list(columns.values())), top)


def _top(leg: Ranking) -> Floats:
    best = leg.scores.max(axis=1, initial=-np.inf)
    return np.asarray(np.where(np.isfinite(best), best, 0.0))


def _spread(leg: Ranking) -> Floats:
    scores = np.where(leg.chunks != NONE, leg.scores, 0.0)
    held = np.maximum(leg.lengths, 1)
    mean = scores.sum(axis=1) / held
    squares = np.where(leg.chunks != NONE, (scores - mean[:, None]) ** 2, 0.0).sum(axis=1)
    size = np.abs(mean)
    return np.asarray(np.sqrt(squares / held) / np.where(size > 1e-9, size, np.inf))


def _agreement(one: Ranking, other: Ranking) -> Floats:
    both = (one.chunks[:, :, None] == other.chunks[:, None, :]) & (one.chunks != NONE)[:, :, None]
    return np.asarray(both.sum(axis=(1, 2)) / DEPTH)
