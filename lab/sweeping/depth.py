"""Depth: which metrics `retrieve.depth` cuts, because it counts chunks and they look further."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import NEVER, Bools, Ints
from lab.evaluation.metrics import Metric
from lab.evaluation.scores import SystemRun, token_counts
from lab.retrieval.ranking import Ranking


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
        unsettled = self.held == 0 if metric.name == "mrr" else self.missing > 0
        return (self.listed < NEVER) & unsettled


def cut_by_depth(reaches: Sequence[Reach], metrics: Sequence[Metric], unit: str) -> tuple[str, ...]:
    """A line for every metric that looks past what `retrieve.depth` lets it see. Depth counts
    chunks, of which several may lie in one document; it is left as it was set, for it decides what
    is fused and reranked as well."""
    things = "documents" if unit == "document" else "spans"
    lines = []
    for metric in metrics:
        cut = [(reach, reach.cuts(metric)) for reach in reaches if metric.name != "pieces_needed"]
        cut = [(reach, questions) for reach, questions in cut if questions.any()]
        if not cut:
            continue
        most = max(int(questions.sum()) for _, questions in cut)
        listed = np.concatenate([reach.listed[questions] for reach, questions in cut])
        depths = sorted({reach.depth for reach, _ in cut})
        lines.append(
            f"retrieve.depth {' and '.join(map(str, depths))} cuts {metric.label}: depth counts "
            f"chunks, which under {len(cut)} of {len(reaches)} systems hold "
            + (f"fewer {things} than it reads" if metric.k else "not all evidence")
            + f" for up to {most} of {len(cut[0][1])} questions ({listed.mean():.0f} {things} on "
            "average); what lies below counts as missed, so raise retrieve.depth"
        )
    return tuple(lines)
