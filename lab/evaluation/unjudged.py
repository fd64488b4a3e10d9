"""What the unjudged could turn: whether a difference between two systems would survive if the
documents that nobody judged were what they must be for the other to win."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lab.arrays import Bools, Floats, Ints
from lab.evaluation.incomplete import NO_HIT, UNJUDGED, grades_over, judged_share
from lab.evaluation.metrics import Metric
from lab.evaluation.scores import SystemRun, fitting, score
from lab.relevance.judge import DocumentJudge
from lab.relevance.pieces import Pieces
from lab.relevance.query import Evidence

# Differences of means below this are float noise.
NOISE = 1e-12


@dataclass(frozen=True, eq=False)
class Unjudged:
    """By one metric, per system: `judged`, the mean share of the documents within the cut-off that
    are judged; `difference` of the `leader` to it as judged and `least`, as small as the unjudged
    could make it; `decides`, whether that is below 0."""

    metric: str
    leader: int
    judged: Floats
    difference: Floats
    least: Floats

    @property
    def decides(self) -> Bools:
        return np.asarray((self.least < -NOISE) & (np.arange(len(self.least)) != self.leader))


def can_turn(metric: Metric) -> bool:
    """Whether a metric takes what is unjudged for irrelevant, so that a judgement could turn it;
    bpref and condensed metrics pass over it."""
    return metric.family.by_ranks or metric.name in ("coverage", "rbp")


def unjudged(asked: Pieces, runs: Sequence[SystemRun], metric: Metric) -> Unjudged:
    """Every system of a set judged per document against the one with the highest mean.

    Judgements are supposed that are kindest to the other: an unjudged document within its cut-off
    is relevant, with the highest grade of its question, if the leader has it not within the
    cut-off, or lower; every other unjudged one is irrelevant. Both systems are then scored anew, so
    that the denominators of recall and nDCG count what is relevant now.
    """
    values = score(asked, runs, [metric])[:, :, 0]
    means = values.mean(axis=1)
    leader = int(np.argmax(means))
    heads = [_head(asked, run, metric) for run in runs]
    least = np.zeros(len(runs))
    for other in range(len(runs)):
        if other != leader:
            supposed = _supposed(asked, heads[other].ranks, heads[leader].ranks)
            pair = [_judged_anew(supposed, runs[system]) for system in (leader, other)]
            both = score(supposed, pair, [metric])[:, :, 0]
            least[other] = float((both[0] - both[1]).mean())
    shares = np.array([head.share for head in heads])
    return Unjudged(metric.label, leader, shares, means[leader] - means, least)


@dataclass(frozen=True, slots=True)
class _Head:
    """Within the cut-off of one system: the mean share that is judged, and per question the rank of
    every unjudged document."""

    share: float
    ranks: tuple[dict[str, int], ...]


def _head(asked: Pieces, run: SystemRun, metric: Metric) -> _Head:
    spans = run.judge.spans
    labels = grades_over(asked.queries, spans.corpus).of(run.judged)
    limit: Ints | int = metric.k or labels.shape[1]
    if metric.by_tokens:
        limit = fitting(run, metric.k)[:, None]
    labels = np.where(np.arange(labels.shape[1]) < limit, labels, NO_HIT)
    ranks: list[dict[str, int]] = [{} for _ in asked.queries]
    for query, place in np.argwhere(labels == UNJUDGED).tolist():
        document = run.judged.ranking.chunks[query, place]
        ranks[query][spans.corpus.documents[document].doc_id] = place
    return _Head(float(judged_share(labels, labels.shape[1]).mean()), tuple(ranks))


def _supposed(
    asked: Pieces, other: Sequence[dict[str, int]], leader: Sequence[dict[str, int]]
) -> Pieces:
    """The pieces with those documents as further ones."""
    queries = list(asked.queries)
    items, owner = list(asked.items), asked.query.tolist()
    for number, (shown, against) in enumerate(zip(other, leader, strict=True)):
        better = [d for d, rank in shown.items() if d not in against or against[d] > rank]
        if better:
            query = queries[number]
            grade = max(item.grade for item in query.evidence)
            added = tuple(Evidence(doc_id, grade=grade) for doc_id in better)
            queries[number] = replace(query, evidence=(*query.evidence, *added))
            items += [(document,) for document in added]
            owner += [number] * len(added)
    order = np.argsort(owner, kind="stable")
    return Pieces(
        unit=asked.unit,
        queries=tuple(queries),
        unscored=(),
        items=tuple(items[place] for place in order.tolist()),
        query=np.array(owner)[order],
    )


def _judged_anew(asked: Pieces, run: SystemRun) -> SystemRun:
    judge = DocumentJudge(asked, run.judge.spans)
    return SystemRun(judge, judge.judge_documents(run.judged.ranking), run.span_tokens)


def decided_by_unjudged(decision: Unjudged, systems: Sequence[str]) -> str:
    """A line that names the systems whose distance to the leader the unjudged decide; nothing where
    there are none."""
    names = [systems[number] for number in np.flatnonzero(decision.decides).tolist()]
    if not names:
        return ""
    shown = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return (
        f"unjudged decides: {systems[decision.leader]} leads {len(names)} of "
        f"{len(systems) - 1} other systems in {decision.metric} by less than what documents that "
        "nobody judged could turn "
        f"({shown}); {decision.judged[decision.leader]:.0%} of what the leader shows is judged"
    )
