"""Rows of `rankings.parquet` for a foreign system: its hits, and what the stages that it shows say
of them."""

from typing import Any

import numpy as np

from lab.arrays import NONE, Floats, Ints
from lab.evaluation.scores import SystemRun
from lab.pipeline.foreign.anchoring import Anchored
from lab.pipeline.foreign.visible import Visible
from lab.pipeline.rows import EXACT, SHOWN, StageRows
from lab.relevance.judge import SpanJudge
from lab.retrieval.fusion import contributions
from lab.retrieval.ranking import DECIMALS, Ranking, ranks_of

# The kinds of stages that are seen -> how columns call them.
COLUMNS = {"lexical": "bm25", "dense": "dense", "fused": "fused", "rerank": "rerank"}


def foreign_rows(hits: Anchored, run: SystemRun, documents: int) -> StageRows:
    """The first hits, and every span with evidence that a stage has; all of them that are searched
    where the retriever names these."""
    spans, ranking, visible = hits.spans, hits.ranking, hits.visible
    width = len(spans)
    first = _keys(ranking.first(SHOWN), width)
    evidence = np.zeros(0, dtype=np.int64)
    if isinstance(run.judge, SpanJudge):
        pairs = run.judge.pairs
        evidence = pairs[0] * width + pairs[1]
        if not hits.whole:
            rankings = [ranking, *visible.legs.values(), *(s.ranking for s in visible.chain)]
            evidence = np.intersect1d(evidence, np.concatenate([_keys(r, width) for r in rankings]))
    keys = np.union1d(first, evidence)
    query, span = np.divmod(keys, max(width, 1))
    real = spans.document[span] < documents
    keys, query, span = keys[real], query[real], span[real]
    rank = ranks_of(ranking, query, span)
    judged = span if isinstance(run.judge, SpanJudge) else spans.document[span]
    place = ranks_of(run.judged.ranking, query, judged)
    relevant = place > 0
    relevant[relevant] = run.judged.relevant[query[relevant], place[relevant] - 1]
    return StageRows(
        query=query,
        document=spans.document[span],
        start=spans.start[span],
        end=spans.end[span],
        shown_start=spans.start[span],
        shown_end=spans.end[span],
        rank=rank,
        evidence=np.isin(keys, evidence),
        relevant=relevant & (rank > 0),
        **_stage_columns(visible, query, span),
    )


def _keys(ranking: Ranking, width: int) -> Ints:
    query, place = np.nonzero(ranking.chunks != NONE)
    return query * width + ranking.chunks[query, place]


def _stage_columns(visible: Visible, query: Ints, span: Ints) -> dict[str, Any]:
    """Rank and score of (question, span) pairs in every stage that is seen."""
    unseen, unknown = np.zeros(len(query), dtype=np.int64), np.full(len(query), np.nan)
    columns: dict[str, Any] = {f"{name}_rank": unseen for name in ("bm25", "dense", "fused")}
    columns |= {f"{name}_score": unknown for name in COLUMNS.values()}
    columns |= {"bm25_part": unknown, "dense_part": unknown}
    for kind, leg in visible.legs.items():
        columns[f"{COLUMNS[kind]}_rank"] = ranks_of(leg, query, span)
        columns[f"{COLUMNS[kind]}_score"] = _at(visible.scores[kind], query, span, DECIMALS)
    for stage in visible.chain:
        if stage.kind == "fused":
            columns["fused_rank"] = ranks_of(stage.ranking, query, span)
        if stage.kind in ("fused", "rerank"):
            columns[f"{stage.kind}_score"] = _at(stage.ranking, query, span, DECIMALS)
    if visible.fusion is not None:
        pool = visible.candidates
        parts = contributions(pool, visible.fusion.normalization, None)
        for name, values in zip(("bm25_part", "dense_part"), parts, strict=True):
            columns[name] = _at(Ranking(pool.chunks, values), query, span, EXACT)
    return columns


def _at(ranking: Ranking, query: Ints, span: Ints, decimals: int) -> Floats:
    """Scores of pairs, NaN where a ranking has none."""
    ranks = ranks_of(ranking, query, span)
    scores = np.full(len(query), np.nan)
    held = ranks > 0
    scores[held] = np.round(ranking.scores[query[held], ranks[held] - 1], decimals)
    return scores
