"""Unanswerable questions: how well a score tells them from answerable ones, and what a threshold on it does."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

KEPT = 0.95
# Fields of ThresholdEffect -> how metrics are called elsewhere.
METRICS = {"precision": "precision@3", "recall": "recall@5", "refusing": "recall@5 refusing"}


@dataclass(frozen=True, slots=True)
class Separation:
    """Best scores of answerable against unanswerable questions at one stage.

    `auc` is the chance that an answerable question's best score is the higher one (ties half). `threshold` keeps at least 95% of
    the answerable questions and `rejected` is the share of unanswerable ones below it.
    """

    stage: str
    answerable: int
    unanswerable: int
    auc: float
    threshold: float
    rejected: float


def separation(stage: str, answerable: Floats, unanswerable: Floats) -> Separation:
    """From the best score of every question; -inf for a question without a hit."""
    below = [np.searchsorted(np.sort(unanswerable), answerable, side) for side in ("left", "right")]
    auc = float(np.mean(below) / len(unanswerable))
    # The largest score that leaves at most 5% of the answerable questions below it.
    threshold = float(np.sort(answerable)[int(np.floor((1 - KEPT) * len(answerable) + 1e-9))])
    rejected = float((unanswerable < threshold).mean())
    return Separation(stage, len(answerable), len(unanswerable), auc, threshold, rejected)


@dataclass(frozen=True, slots=True)
class ThresholdEffect:
    """What `rerank.threshold` does: the share of answerable questions that are `kept`, having any hit left, their precision@3
    and recall@5, and the share of unanswerable ones that are `silent`, left without any hit. `threshold` NaN is none. A
    threshold raises neither metric, for precision@3 divides by 3 however few hits are left: it buys silence with them.
    `refusing` is recall@5 if it refused the same questions and left all hits to the others."""

    threshold: float
    kept: float
    precision: float
    recall: float
    refusing: float
    silent: float
