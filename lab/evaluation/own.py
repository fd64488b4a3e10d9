"""Own metrics: a function of the user's, given what one system found for one question."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lab.arrays import NEVER, NONE, Floats
from lab.errors import ConfigError
from lab.relevance.judge import Judge, Judged, SpanJudge
from lab.relevance.pieces import Pieces
from lab.relevance.query import Query


@dataclass(frozen=True, slots=True)
class RankedHit:
    """One hit: `rank` from 1, the judged span [start, end) of its document with its text, and
    whether it is relevant by itself."""

    rank: int
    doc_id: str
    start: int
    end: int
    text: str
    relevant: bool


@dataclass(frozen=True, slots=True)
class RankedPiece:
    """One piece of evidence: its grade, whether it is core, and the rank at which it is complete,
    None if it is not."""

    grade: int
    core: bool
    rank: int | None


@dataclass(frozen=True, slots=True)
class RankedQuestion:
    """A question, its hits under one system, best first, and where its evidence stands."""

    query: Query
    hits: tuple[RankedHit, ...]
    pieces: tuple[RankedPiece, ...]


# Gives a score from 0 to 1, higher is better.
OwnMetric = Callable[[RankedQuestion], float]


def own_scores(
    name: str, function: OwnMetric, pieces: Pieces, judge: Judge, judged: Judged
) -> Floats:
    """A function's score of every question of one system. Raises ConfigError with the question
    where it fails or gives anything but a number from 0 to 1."""
    scores = np.zeros(len(pieces.queries))
    for place, query in enumerate(pieces.queries):
        asked = f"metric 'python:{name}', question '{query.query_id}'"
        try:
            value = float(function(_ranked(pieces, judge, judged, place)))
        except Exception as fault:
            raise ConfigError(f"{asked}: {type(fault).__name__}: {fault}") from fault
        if not (math.isfinite(value) and 0 <= value <= 1):
            raise ConfigError(f"{asked}: gave {value!r}; expected a number from 0 to 1")
        scores[place] = value
    return scores


def _ranked(pieces: Pieces, judge: Judge, judged: Judged, place: int) -> RankedQuestion:
    row = judged.ranking.chunks[place]
    first, last = np.searchsorted(pieces.query, [place, place + 1])
    return RankedQuestion(
        pieces.queries[place],
        tuple(
            _hit(judge, rank, thing, relevant=bool(judged.relevant[place, rank - 1]))
            for rank, thing in enumerate(row[row != NONE].tolist(), start=1)
        ),
        tuple(
            RankedPiece(grade, core, None if rank == NEVER else rank)
            for grade, core, rank in zip(
                pieces.grade[first:last].tolist(),
                pieces.core[first:last].tolist(),
                judged.complete[first:last].tolist(),
                strict=True,
            )
        ),
    )


def _hit(judge: Judge, rank: int, thing: int, *, relevant: bool) -> RankedHit:
    spans, documents = judge.spans, judge.spans.corpus.documents
    if isinstance(judge, SpanJudge):
        document = documents[spans.document[thing]]
        start, end = int(spans.start[thing]), int(spans.end[thing])
    else:
        document = documents[thing]
        start, end = 0, len(document.text)
    return RankedHit(rank, document.doc_id, start, end, document.text[start:end], relevant)
