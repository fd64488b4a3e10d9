"""Cutoff: what is read, and so what a miss is."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.arrays import Ints
from lab.evaluation.metrics import Metric
from lab.evaluation.scores import SystemRun, fitting

DEFAULT_K = 5
CURVES_TO = 100


@dataclass(frozen=True, slots=True)
class Cutoff:
    """What is read, and so what a miss is: the first `k` hits, or with a `budget` what fits that
    many context tokens. Alpha curves are exact up to rank `cap`, and `precise` where precision
    needs the hits that are relevant by themselves as well."""

    k: int
    budget: int | None
    cap: int
    precise: bool = False

    @staticmethod
    def of(metrics: Sequence[Metric]) -> "Cutoff":
        """The k of the first recall metric, else 5; a token budget only where recall is measured by
        tokens alone."""
        ranked = [
            metric.k for metric in metrics if metric.name == "recall" and not metric.by_tokens
        ]
        budgets = [metric.k for metric in metrics if metric.by_tokens]
        k = ranked[0] if ranked else DEFAULT_K
        cap = max([k, *(metric.k for metric in metrics if not metric.by_tokens)])
        return Cutoff(
            k,
            budgets[0] if budgets and not ranked else None,
            min(cap, CURVES_TO),
            any(m.name == "precision" and not m.by_tokens for m in metrics),
        )

    def fitting(self, run: SystemRun) -> Ints | None:
        """Per question how many of the first hits fit the budget; None without one."""
        return None if self.budget is None else fitting(run, self.budget)
