"""Places: how much evidence any ranking of k hits could hold at once, before any stage is blamed
for what no ranking has room for."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from lab.arrays import Ints
from lab.diagnosis.cutoff import Cutoff
from lab.evaluation.scores import SystemRun
from lab.relevance.coverage import CoveringSpans
from lab.relevance.judge import SpanJudge
from lab.relevance.pieces import Pieces


def reachable(asked: Pieces, run: SystemRun, cutoff: Cutoff) -> Ints:
    """Per question the most pieces that any ranking of what this system ranks could hold within the
    cut-off; exact.

    Documents take a place each: the smaller of pieces and k, or under a token budget as many of the
    shortest documents as fit. One span may hold several pieces and a piece may need several spans,
    so there the most is found by mixed integer programming over the spans that hold evidence. A
    piece that nothing holds (it is not in the corpus, or no set of spans holds it) counts as held
    by a span of its own, for what it lacks is not a place.
    """
    if isinstance(run.judge, SpanJudge):
        return _of_spans(asked, run, run.judge, cutoff)
    if cutoff.budget is None:
        return np.minimum(asked.per_query, cutoff.k)
    most = np.zeros(len(asked.queries), dtype=np.int64)
    costs = [
        _cheapest(run.judge.covering_spans(piece), run.span_tokens) for piece in range(len(asked))
    ]
    for query in range(len(most)):
        of_query = np.sort([costs[piece] for piece in np.flatnonzero(asked.query == query)])
        most[query] = (np.cumsum(of_query) <= cutoff.budget).sum()
    return most


def _cheapest(coverings: Sequence[CoveringSpans], tokens: Ints) -> int:
    """Tokens of the shortest document that holds a piece; 0 where none is in the corpus."""
    return min(
        (int(tokens[document]) for covering in coverings for document in covering.spans[0]),
        default=0,
    )


def _of_spans(asked: Pieces, run: SystemRun, judge: SpanJudge, cutoff: Cutoff) -> Ints:
    most = asked.per_query.copy()
    starts = np.searchsorted(asked.query, np.arange(len(most) + 1))
    for query, (first, last) in enumerate(pairwise(starts.tolist())):
        pieces = [judge.covering_spans(piece) for piece in range(first, last)]
        if not _surely_fit(pieces, run.span_tokens, cutoff):
            most[query] = _most(pieces, run.span_tokens, cutoff)
    return most


def _surely_fit(pieces: Sequence[Sequence[CoveringSpans]], tokens: Ints, cutoff: Cutoff) -> bool:
    """Whether even a span for every part of every piece is within the cut-off."""
    count, cost = 0, 0
    for coverings in pieces:
        able = [covering for covering in coverings if covering.weights.sum() >= covering.need]
        count += min((len(covering.spans) for covering in able), default=1)
        cost += min(
            (sum(int(tokens[spans].max()) for spans in covering.spans) for covering in able),
            default=0,
        )
    return count <= cutoff.k if cutoff.budget is None else cost <= cutoff.budget


def _most(pieces: Sequence[Sequence[CoveringSpans]], tokens: Ints, cutoff: Cutoff) -> int:
    """The most pieces that spans within the cut-off hold together."""
    by_tokens = cutoff.budget is not None
    program = _Program(limit=float(cutoff.k if cutoff.budget is None else cutoff.budget))
    spans: dict[int, int] = {}
    for coverings in pieces:
        for span in sorted(
            {int(s) for covering in coverings for part in covering.spans for s in part}
        ):
            if span not in spans:
                spans[span] = program.unknown(cost=float(tokens[span]) if by_tokens else 1.0)
        able = [covering for covering in coverings if covering.weights.sum() >= covering.need]
        ways = [program.complete(covering, spans) for covering in able]
        # What nothing holds is held by a span of its own.
        program.held(ways or [program.unknown(cost=0.0 if by_tokens else 1.0)])
    return program.most()


class _Program:
    """A mixed integer program, whose unknowns lie in [0, 1] and are whole but for the parts: a span
    is taken, a part is seen, an alternative is complete, a piece is held."""

    def __init__(self, limit: float) -> None:
        self._costs: list[float] = []
        self._whole: list[int] = []
        self._goal: list[int] = []
        # Unknown -> factor; every row must sum to its limit or less.
        self._rows: list[dict[int, float]] = []
        self._limit = limit

    def unknown(self, cost: float = 0.0, *, whole: bool = True) -> int:
        self._costs.append(cost)
        self._whole.append(int(whole))
        self._goal.append(0)
        return len(self._costs) - 1

    def complete(self, covering: CoveringSpans, spans: Mapping[int, int]) -> int:
        """An alternative is complete only if the weights of its seen parts reach its need, and a
        part is seen only if a span that covers it is taken."""
        complete = self.unknown()
        reached = {complete: float(covering.need)}
        for weight, shown_by in zip(covering.weights.tolist(), covering.spans, strict=True):
            seen = self.unknown(whole=False)
            self._rows.append({seen: 1.0} | {spans[int(span)]: -1.0 for span in shown_by})
            reached[seen] = -float(weight)
        self._rows.append(reached)
        return complete

    def held(self, ways: Iterable[int]) -> None:
        """A piece is held only if one of its ways is."""
        piece = self.unknown()
        self._goal[piece] = 1
        self._rows.append({piece: 1.0} | dict.fromkeys(ways, -1.0))

    def most(self) -> int:
        """How many pieces can be held while what is taken costs no more than the limit."""
        from scipy.optimize import Bounds, LinearConstraint, milp  # heavy, and seldom needed

        rows = [*self._rows, dict(enumerate(self._costs))]
        matrix = np.zeros((len(rows), len(self._costs)))
        for number, row in enumerate(rows):
            matrix[number, list(row)] = list(row.values())
        limits = np.append(np.zeros(len(self._rows)), self._limit)
        solved = milp(
            -np.array(self._goal, dtype=np.float64),
            integrality=np.array(self._whole),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(matrix, -np.inf, limits),
            # On the way back from a presolved problem HiGHS writes lines of its own to stdout.
            options={"presolve": False},
        )
        assert solved.fun is not None  # to take nothing is always possible
        return round(-solved.fun)
