"""Misses of a foreign system, of which only the hits are known."""

import numpy as np

from lab.arrays import NEVER, Ints
from lab.diagnosis.causes import HIT, NAMES, assign
from lab.diagnosis.cutoff import Cutoff
from lab.diagnosis.diagnose import known_rank
from lab.diagnosis.interventions.budget import LARGER_BUDGET, TEXT
from lab.diagnosis.interventions.order import proof
from lab.diagnosis.misses import Miss, Ranks
from lab.diagnosis.stage_ranks import StageRanks
from lab.evaluation.scores import SystemRun
from lab.relevance.judge import SpanJudge
from lab.relevance.pieces import Pieces
from lab.relevance.place import place


def foreign_misses(run: SystemRun, pieces: Pieces, cutoff: Cutoff) -> tuple[Miss, ...]:
    """Every missed piece: not in the corpus, split between the system's spans, not returned, ranked
    too low, or beyond the budget."""
    needed = _spans_needed(run, pieces)
    ranks = _stage_ranks(run, pieces, cutoff, needed)
    codes = assign(ranks)
    return tuple(
        _miss(pieces, ranks, unit, NAMES[codes[unit]], known_rank(needed, unit))
        for unit in np.flatnonzero(codes != HIT).tolist()
    )


def _spans_needed(run: SystemRun, pieces: Pieces) -> Ints:
    if isinstance(run.judge, SpanJudge):
        return run.judge.pieces_needed()
    return np.ones(len(pieces), dtype=np.int64)


def _stage_ranks(run: SystemRun, pieces: Pieces, cutoff: Cutoff, needed: Ints) -> StageRanks:
    """All stages before the last are taken to be the last: nothing else is known of them."""
    final, k = run.judged.complete, np.full(len(pieces), cutoff.k)
    budget = cutoff.fitting(run)
    limit = k if budget is None else budget[pieces.query]
    nowhere = np.zeros(len(pieces), dtype=bool)
    inside = [
        any(place(run.judge.spans.corpus, item)[0] for item in items) for items in pieces.items
    ]
    # Judged documents are ranked already, and arrive whole.
    part = run.judge.arrival(run.judged.ranking)[0] if isinstance(run.judge, SpanJudge) else final
    return StageRanks(
        limit=limit,
        k=np.maximum(k, limit),
        inside=np.array(inside),
        filtered=nowhere,
        # What has not arrived in part was not split, but not returned.
        needed=np.where(part == NEVER, 1, needed),
        unread=nowhere,
        bm25=None,
        dense=None,
        pool=final < NEVER,
        pool_part=part < NEVER,
        exact_pool=final < NEVER,
        first=final,
        part=part,
        reranked=final,
        final=final,
    )


def _miss(pieces: Pieces, ranks: StageRanks, unit: int, cause: str, needed: int | None) -> Miss:
    query = pieces.queries[pieces.query[unit]]
    final = known_rank(ranks.final, unit)
    beyond_budget = ranks.final[unit] <= ranks.k[unit]
    proved = proof(cause, {LARGER_BUDGET: TEXT} if beyond_budget else {})
    return Miss(
        query_id=query.query_id,
        piece=int(pieces.number[unit]),
        kind=query.kind,
        cause=cause,
        verified=proved.verified,
        remedy=proved.remedy,
        recovered_by=proved.recovered_by,
        k=int(ranks.k[unit]),
        needed=needed,
        ranks=Ranks(
            first_stage=final, reranked=final, final=final, part=known_rank(ranks.part, unit)
        ),
    )
