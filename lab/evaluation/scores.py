"""Scores per question: every metric of every system, with ranx where ranx has it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import NEVER, NONE, Floats, Ints
from lab.evaluation.items import chunk_lists, item_lists, judgements, kept_lists, positions
from lab.evaluation.metrics import Metric
from lab.relevance.judge import Judge, Judged, SpanJudge
from lab.relevance.pieces import Pieces
from lab.retrieval.ranking import Ranking


@dataclass(frozen=True, eq=False)
class Scores:
    """Questions x metrics, float64; within [0, 1] but for costs. `unscored` lists the questions
    that could not be scored, with the reason."""

    query_ids: tuple[str, ...]
    metrics: tuple[str, ...]
    values: Floats
    unscored: tuple[tuple[str, str], ...] = ()

    def column(self, metric: str) -> Floats:
        """One metric's score of every question."""
        return self.values[:, self.metrics.index(metric)]

    def means(self) -> dict[str, float]:
        return dict(zip(self.metrics, self.values.mean(axis=0).tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class SystemRun:
    """What one system hands to the metrics: its judge, what was found, and the context tokens of
    every judged span."""

    judge: Judge
    judged: Judged
    span_tokens: Ints


def score(pieces: Pieces, runs: Sequence[SystemRun], metrics: Sequence[Metric]) -> Floats:
    """Systems x questions x metrics. All systems are stacked, so that ranx is called once a
    metric."""
    found = np.empty((len(runs), len(pieces.queries), len(metrics)))
    complete = np.array([run.judged.complete for run in runs])
    qrels = np.tile(judgements(pieces), (len(runs), 1, 1))
    placed: Ints | None = None
    for column, metric in enumerate(metrics):
        if metric.name == "recall":
            limit = _fitting(runs, metric.k)[:, pieces.query] if metric.by_tokens else metric.k
            values = _ranx(qrels, kept_lists(pieces, complete <= limit), "recall")
        elif metric.name == "precision" and metric.by_tokens:
            values = _budget_precision(runs, metric.k)
        elif metric.name == "precision":
            values = _ranx(
                *chunk_lists([run.judged for run in runs], metric.k), "precision", metric.k
            )
        elif metric.name in OWN_METRICS:
            values = np.concatenate(
                [OWN_METRICS[metric.name](pieces, run, metric.k) for run in runs]
            )
        else:
            placed = positions(pieces, complete) if placed is None else placed
            # Without a cut the list ends at the last piece, wherever it stands: hits behind it
            # change nothing.
            length = metric.k or int(placed.max(where=placed < NEVER, initial=1))
            values = _ranx(qrels, item_lists(pieces, placed, length), metric.name, metric.k)
        found[:, :, column] = values.reshape(len(runs), -1)
    return found


def _ranx(qrels: Floats, run: Floats, name: str, k: int = 0) -> Floats:
    # Imported here: numba takes half a second, and checking a set needs none of it. `ranx.evaluate`
    # itself fails on one metric with a cut-off when per-question scores are asked for.
    from lab.evaluation.compiled import metric_function

    return metric_function(name)(qrels, run, k)


def _fitting(runs: Sequence[SystemRun], budget: int) -> Ints:
    """Systems x questions: how many of the first spans fit into the token budget, whole ones in
    order."""
    return np.array([fitting(run, budget) for run in runs])


def fitting(run: SystemRun, budget: int) -> Ints:
    """Per question how many of the first spans fit into the token budget, whole ones in order."""
    return np.asarray((np.cumsum(token_counts(run), axis=1) <= budget).sum(axis=1))


def _budget_precision(runs: Sequence[SystemRun], budget: int) -> Floats:
    """Share of relevant spans among those that fit into the token budget, 0 if none fits: precision
    at k divides by k, which says nothing across chunk sizes; here every system may show equally
    much."""
    found = np.zeros((len(runs), len(runs[0].judged.relevant)))
    for system, run in enumerate(runs):
        shown = (np.cumsum(token_counts(run), axis=1) <= budget) & (
            run.judged.ranking.chunks != NONE
        )
        found[system] = (shown & run.judged.relevant).sum(axis=1) / np.maximum(shown.sum(axis=1), 1)
    return found


def token_counts(run: SystemRun) -> Ints:
    """Context tokens at every rank (questions x depth), 0 where there is no hit."""
    ranking: Ranking = run.judged.ranking
    padded = np.append(run.span_tokens, 0)  # index NONE reads the 0
    return np.where(ranking.chunks == NONE, 0, padded[ranking.chunks])


def _front_hit(pieces: Pieces, run: SystemRun, k: int) -> Floats:
    """1 if a core piece is complete within the first k."""
    hit = np.zeros(len(pieces.queries))
    hit[pieces.query[pieces.core & (run.judged.complete <= k)]] = 1
    return hit


def _coverage(pieces: Pieces, run: SystemRun, k: int) -> Floats:
    """Share of evidence characters in the first k; of evidence documents where documents are
    judged."""
    if isinstance(run.judge, SpanJudge):
        return run.judge.coverage(run.judged.ranking, k)
    found = np.bincount(
        pieces.query, weights=run.judged.complete <= k, minlength=len(pieces.queries)
    )
    return np.asarray(found / pieces.per_query)


def _pieces_needed(pieces: Pieces, run: SystemRun, k: int) -> Floats:
    """Mean over a question's pieces of the least number of spans that hold one; pieces that no
    spans hold are left out."""
    needed = (
        run.judge.pieces_needed()
        if isinstance(run.judge, SpanJudge)
        else np.ones(len(pieces), dtype=np.int64)
    )
    held = needed < NEVER
    total = np.bincount(
        pieces.query, weights=np.where(held, needed, 0), minlength=len(pieces.queries)
    )
    count = np.bincount(pieces.query, weights=held, minlength=len(pieces.queries))
    return np.asarray(np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0))


def _context_tokens(pieces: Pieces, run: SystemRun, k: int) -> Floats:
    """Tokens of the first k spans together."""
    return np.asarray(token_counts(run)[:, :k].sum(axis=1), dtype=np.float64)


OWN_METRICS: dict[str, Callable[[Pieces, SystemRun, int], Floats]] = {
    "front_hit": _front_hit,
    "coverage": _coverage,
    "pieces_needed": _pieces_needed,
    "context_tokens": _context_tokens,
}
