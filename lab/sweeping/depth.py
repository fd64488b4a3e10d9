"""Depth: which metrics `retrieve.depth` cuts, because it counts chunks and they look further."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import NEVER, Bools, Ints
from lab.evaluation.metrics import Metric
from lab.evaluation.scores import SystemRun, token_counts
from lab.retrieval.ranking import Ranking

# Metrics without a cut-off that a piece below all hits changes by more than a trace.
UNCUT = ("map", "mrr", "bpref")


@dataclass(frozen=True, eq=False)
class Reach:
    """How far one system's rankings go, per question: `listed` things that are judged (spans or
    documents) before `depth` chunks are used up, NEVER where the ranking ended by itself; the
    `tokens` of them; how many pieces of the question they `held` and how many are `missing`."""

    depth: int
    listed: Ints
    tokens: Ints
    held: Ints
    missing: Ints

    @staticmethod
    def of(ranking: Ranking, run: SystemRun, depth: int, chunks: int, owner: Ints) -> "Reach":
        """`ranking` is of chunks, of which the corpus has `chunks`; `owner` is the question of
        every piece."""
        full = (ranking.lengths >= depth) & (chunks > depth)
        complete = run.judged.complete < NEVER
        return Reach(
            depth,
            np.where(full, run.judged.ranking.lengths, NEVER),
            np.where(full, token_counts(run).sum(axis=1), NEVER),
            np.bincount(owner[complete], minlength=len(full)),
            np.bincount(owner[~complete], minlength=len(full)),
        )

    def cuts(self, metric: Metric) -> Bools:
        """Questions whose value of a metric more depth could change."""
        if metric.by_tokens:
            return self.tokens < metric.k
        if metric.k:
            return self.listed < metric.k
        if metric.name not in UNCUT:
            return np.zeros(len(self.listed), dtype=bool)
        unsettled = self.held == 0 if metric.name == "mrr" else self.missing > 0
        return (self.listed < NEVER) & unsettled


def cut_by_depth(reaches: Sequence[Reach], metrics: Sequence[Metric], unit: str) -> tuple[str, ...]:
    """Lines that name the metrics which look past what `retrieve.depth` lets them see. Depth counts
    chunks, of which several may lie in one document; it is left as it was set, for it decides what
    is fused and reranked as well."""
    things = "documents" if unit == "document" else "spans"
    cut: dict[str, list[str]] = {}
    for metric in metrics:
        questions = [(reach, reach.cuts(metric)) for reach in reaches]
        concerned = [(reach, of) for reach, of in questions if of.any()]
        if not concerned:
            continue
        most = max(int(of.sum()) for _, of in concerned)
        listed = np.concatenate([reach.listed[of] for reach, of in concerned]).mean()
        depths = " and ".join(map(str, sorted({reach.depth for reach, _ in concerned})))
        lack = f"fewer {things} than it reads" if metric.k else "not all evidence"
        reason = (
            f"depth {depths} counts chunks, which under {len(concerned)} of {len(reaches)} systems "
            f"hold {lack} for up to {most} of {len(concerned[0][1])} questions ({listed:.0f} "
            f"{things} on average); what lies below counts as missed, so raise it"
        )
        cut.setdefault(reason, []).append(metric.label)
    return tuple(
        f"retrieve.depth cuts {', '.join(labels)}: {reason}" for reason, labels in cut.items()
    )
