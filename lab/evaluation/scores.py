"""Scores per question: every metric of every system, with ranx where ranx has it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from lab.arrays import NEVER, NONE, Floats, Ints
from lab.errors import ConfigError
from lab.evaluation.incomplete import (
    Grades,
    bpref,
    condensed_ndcg,
    grades_over,
    judged_share,
    rbp,
    rbp_residual,
)
from lab.evaluation.items import chunk_lists, item_lists, judgements, kept_lists, positions
from lab.evaluation.metrics import Metric
from lab.evaluation.own import OwnMetric, own_scores
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


@dataclass(frozen=True, eq=False)
class Stack:
    """All systems as metrics read them, stacked, so that ranx is called once a metric: `complete`
    is systems x pieces; `functions` are the user's own metrics by name."""

    pieces: Pieces
    runs: Sequence[SystemRun]
    functions: Mapping[str, OwnMetric]

    @cached_property
    def complete(self) -> Ints:
        return np.array([run.judged.complete for run in self.runs])

    @cached_property
    def placed(self) -> Ints:
        """Places in the lists of contributed items."""
        return positions(self.pieces, self.complete)

    @cached_property
    def qrels(self) -> Floats:
        return np.tile(judgements(self.pieces), (len(self.runs), 1, 1))

    @cached_property
    def labels(self) -> list[tuple[Ints, Grades]]:
        """Per system the judgement of every document of its rankings, and all judgements."""
        of: dict[int, Grades] = {}
        labelled = []
        for run in self.runs:
            corpus = run.judge.spans.corpus
            if id(corpus) not in of:
                of[id(corpus)] = grades_over(self.pieces.queries, corpus)
            labelled.append((of[id(corpus)].of(run.judged), of[id(corpus)]))
        return labelled


Scorer = Callable[[Stack, Metric], Floats]


def score(
    pieces: Pieces,
    runs: Sequence[SystemRun],
    metrics: Sequence[Metric],
    functions: Mapping[str, OwnMetric] = MappingProxyType({}),
) -> Floats:
    """Systems x questions x metrics. Metrics whose family is `whole` need runs with every hit.

    Raises ConfigError for a metric that needs judgements per document where spans are judged.
    """
    values = np.empty((len(runs), len(pieces.queries), len(metrics)))
    stack = Stack(pieces, runs, functions)
    for column, metric in enumerate(metrics):
        values[:, :, column] = SCORERS[metric.name](stack, metric).reshape(len(runs), -1)
    return values


def check_unit(metrics: Sequence[Metric], unit: str) -> None:
    """Raises ConfigError for metrics that the judged unit has not got."""
    alien = [m.label for m in metrics if m.family.by_document and unit != "document"]
    if alien:
        raise ConfigError(
            f"measure.metrics names {label}, which counts judged documents; the set judges spans, "
            "where everything else is not evidence: leave it out, or set unit = 'document'"
            for label in alien
        )


def _ranx(qrels: Floats, run: Floats, name: str, k: int = 0) -> Floats:
    # Imported here: numba takes half a second, and checking a set needs none of it. `ranx.evaluate`
    # itself fails on one metric with a cut-off when per-question scores are asked for.
    from lab.evaluation.compiled import metric_function

    return metric_function(name)(qrels, run, k)


def _recall(stack: Stack, metric: Metric) -> Floats:
    limit: Ints | int = metric.k
    if metric.by_tokens:
        fits = np.array([fitting(run, metric.k) for run in stack.runs])
        limit = fits[:, stack.pieces.query]
    return _ranx(stack.qrels, kept_lists(stack.pieces, stack.complete <= limit), "recall")


def _precision(stack: Stack, metric: Metric) -> Floats:
    if metric.by_tokens:
        return _budget_precision(stack.runs, metric.k)
    lists = chunk_lists([run.judged for run in stack.runs], metric.k)
    return _ranx(*lists, "precision", metric.k)


def _over_items(stack: Stack, metric: Metric) -> Floats:
    """What ranx has, over the contributed items. Without a cut the list ends at the last piece,
    wherever it stands: hits behind it change nothing."""
    length = metric.k or int(stack.placed.max(where=stack.placed < NEVER, initial=1))
    lists = item_lists(stack.pieces, stack.placed, length)
    return _ranx(stack.qrels, lists, metric.name, metric.k)


def _ndcg_jk(stack: Stack, metric: Metric) -> Floats:
    """nDCG over the contributed items after Järvelin and Kekäläinen (2002): the gain at rank r is
    divided by the logarithm of r to the base b from rank b on and not at all before, so that by
    b = 2 ranks 1 and 2 count alike."""
    pieces = stack.pieces
    ideal = judgements(pieces)[:, :, 1][:, : metric.k]
    best = ideal @ _discount_from(np.arange(1, ideal.shape[1] + 1), metric.base)
    discount = _discount_from(stack.placed, metric.base)
    gain = np.where(stack.placed <= metric.k, pieces.grade, 0) * discount
    rows = np.arange(len(stack.runs))[:, None] * len(pieces.queries) + pieces.query
    width = len(stack.runs) * len(pieces.queries)
    total = np.bincount(rows.reshape(-1), weights=gain.reshape(-1), minlength=width)
    return np.asarray(total / np.tile(best, len(stack.runs)))


def _discount_from(ranks: Ints, base: float) -> Floats:
    return np.asarray(1 / np.maximum(1.0, np.log2(ranks) / np.log2(base)))


def _per_run(of_run: Callable[[Pieces, SystemRun, int], Floats]) -> Scorer:
    return lambda stack, metric: np.concatenate(
        [of_run(stack.pieces, run, metric.k) for run in stack.runs]
    )


def _over_labels(of_labels: Callable[[Ints, Grades, Metric], Floats]) -> Scorer:
    return lambda stack, metric: np.concatenate(
        [of_labels(labels, grades, metric) for labels, grades in stack.labels]
    )


def _own(stack: Stack, metric: Metric) -> Floats:
    function = stack.functions[metric.function]
    return np.concatenate(
        [
            own_scores(metric.function, function, stack.pieces, run.judge, run.judged)
            for run in stack.runs
        ]
    )


def fitting(run: SystemRun, budget: int) -> Ints:
    """Per question how many of the first spans fit into the token budget, whole ones in order."""
    return np.asarray((np.cumsum(token_counts(run), axis=1) <= budget).sum(axis=1))


def _budget_precision(runs: Sequence[SystemRun], budget: int) -> Floats:
    """Share of relevant spans among those that fit into the token budget, 0 if none fits: precision
    at k divides by k, which says nothing across chunk sizes; here every system may show equally
    much."""
    precision = np.zeros((len(runs), len(runs[0].judged.relevant)))
    for system, run in enumerate(runs):
        shown = (np.cumsum(token_counts(run), axis=1) <= budget) & (
            run.judged.ranking.chunks != NONE
        )
        precision[system] = (shown & run.judged.relevant).sum(axis=1) / np.maximum(
            shown.sum(axis=1), 1
        )
    return precision


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
    complete = np.bincount(
        pieces.query, weights=run.judged.complete <= k, minlength=len(pieces.queries)
    )
    return np.asarray(complete / pieces.per_query)


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


SCORERS: dict[str, Scorer] = {
    "recall": _recall,
    "precision": _precision,
    "ndcg": _over_items,
    "ndcg_burges": _over_items,
    "ndcg_jk": _ndcg_jk,
    "mrr": _over_items,
    "map": _over_items,
    "hit_rate": _over_items,
    "front_hit": _per_run(_front_hit),
    "coverage": _per_run(_coverage),
    "pieces_needed": _per_run(_pieces_needed),
    "context_tokens": _per_run(_context_tokens),
    "judged": _over_labels(lambda labels, _, m: judged_share(labels, m.k)),
    "bpref": _over_labels(lambda labels, g, _: bpref(labels, g.relevant, g.irrelevant)),
    "ndcg_condensed": _over_labels(lambda labels, g, m: condensed_ndcg(labels, g.ideal, m.k)),
    "rbp": _over_labels(lambda labels, _, m: rbp(labels, m.persistence, m.k)),
    "rbp_residual": _over_labels(lambda labels, _, m: rbp_residual(labels, m.persistence, m.k)),
    "python": _own,
}
