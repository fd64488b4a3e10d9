"""Calls: what each of several searches for one question added to its evidence."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import NEVER, Floats, Ints
from lab.pipeline.foreign.anchoring import Anchored
from lab.pipeline.foreign.reply import Call
from lab.relevance.judge import Judge, SpanJudge
from lab.relevance.pieces import Pieces
from lab.retrieval.ranking import Ranking

# A share of evidence that is larger by less is none.
LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class CallStep:
    """One search for a question: `asked` in these words (the question's own where nobody says
    others), which of its `hits` no earlier one had returned, how many pieces of evidence it was the
    first to complete, and the share of the evidence that all searches so far have returned."""

    query_id: str
    call: int
    asked: str
    hits: int
    new_hits: int
    completed: int
    coverage: float
    added: bool


def call_steps(
    hits: Anchored, calls: Sequence[Sequence[Call]], judge: Judge, pieces: Pieces
) -> tuple[CallStep, ...]:
    """Every search of a system that searches several times for a question; none of others."""
    steps: list[CallStep] = []
    count, before = len(pieces.queries), np.zeros(len(pieces.queries))
    had, held = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for number, ranking in enumerate(hits.visible.upto, start=1):
        share, complete = _coverage(judge, ranking, pieces), _complete(judge, ranking, pieces)
        for query in np.flatnonzero(hits.visible.calls >= number).tolist():
            call, own = calls[query][number - 1], pieces.queries[query]
            steps.append(
                CallStep(
                    query_id=own.query_id,
                    call=number,
                    asked=call.query or own.text,
                    hits=len(call.final),
                    new_hits=int(ranking.lengths[query] - had[query]),
                    completed=int(complete[query] - held[query]),
                    coverage=float(share[query]),
                    added=bool(share[query] > before[query] + LEAST),
                )
            )
        before, had, held = share, ranking.lengths, complete
    place = {query.query_id: at for at, query in enumerate(pieces.queries)}
    return tuple(sorted(steps, key=lambda step: (place[step.query_id], step.call)))


def _complete(judge: Judge, ranking: Ranking, pieces: Pieces) -> Ints:
    complete = judge.arrival(ranking)[1] < NEVER
    return np.bincount(pieces.query[complete], minlength=len(pieces.queries))


def _coverage(judge: Judge, ranking: Ranking, pieces: Pieces) -> Floats:
    """Share of a question's evidence: characters of spans, else documents."""
    if isinstance(judge, SpanJudge):
        return judge.coverage(ranking, ranking.chunks.shape[1])
    return np.asarray(_complete(judge, ranking, pieces) / pieces.per_query)


def calls_told(name: str, steps: Sequence[CallStep]) -> tuple[str, ...]:
    """How many searches added nothing, for the reader of the run."""
    idle = sum(not step.added for step in steps)
    if not steps:
        return ()
    asked = len({step.query_id for step in steps})
    return (
        f"{name}: {idle} of {len(steps)} searches for {asked} question(s) added no evidence to "
        "what earlier ones had returned",
    )
