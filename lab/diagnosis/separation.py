"""Unanswerable questions: how well a score tells them from answerable ones, and what a threshold on
it does."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from lab.arrays import Floats

KEPT = 0.95
Z = 1.959964
# Fields of ThresholdEffect -> how metrics are called elsewhere.
METRICS = {"precision": "precision@3", "recall": "recall@5", "refusing": "recall@5_refusing"}


@dataclass(frozen=True, slots=True)
class Separation:
    """Best scores of answerable against unanswerable questions at one stage.

    `auc` is the chance that an answerable question's best score is the higher one (ties half), with
    its 95% interval `low`, `high`. `threshold` keeps at least 95% of the answerable questions and
    `rejected` is the share of unanswerable ones below it.
    """

    stage: str
    answerable: int
    unanswerable: int
    auc: float
    low: float
    high: float
    threshold: float
    rejected: float


def separation(stage: str, answerable: Floats, unanswerable: Floats) -> Separation:
    """From the best score of every question; -inf for a question without a hit."""
    below = [np.searchsorted(np.sort(unanswerable), answerable, side) for side in ("left", "right")]
    auc = float(np.mean(below) / len(unanswerable))
    # The largest score that leaves at most 5% of the answerable questions below it.
    threshold = float(np.sort(answerable)[int(np.floor((1 - KEPT) * len(answerable) + 1e-9))])
    rejected = float((unanswerable < threshold).mean())
    sizes = len(answerable), len(unanswerable)
    return Separation(stage, *sizes, auc, *auc_interval(auc, *sizes), threshold, rejected)


def auc_interval(auc: float, answerable: int, unanswerable: int) -> tuple[float, float]:
    """95% interval of an AUC (Newcombe, Statistics in Medicine 2006, method 5): the values whose
    distance to the one found is at most 1.96 standard errors of their own, so that it has a width
    at 0 and 1 as well. The sets have a dozen such questions."""
    weight = (answerable + unanswerable) / 2 - 1

    def beyond(true: float) -> float:
        spread = 1 + weight * ((1 - true) / (2 - true) + true / (1 + true))
        return (auc - true) ** 2 - Z**2 * true * (1 - true) * spread / (answerable * unanswerable)

    # At 0 and 1 the AUC is an end of its own interval, and a root that hides the other one.
    low = 0.0 if auc <= 0 else brentq(beyond, 0.0, min(auc, 1 - 1e-9))
    high = 1.0 if auc >= 1 else brentq(beyond, max(auc, 1e-9), 1.0)
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class ThresholdEffect:
    """What `rerank.threshold` does: the share of answerable questions that are `kept`, having any
    hit left, their precision@3 and recall@5, and the share of unanswerable ones that are `refused`,
    left without any hit. `threshold` NaN is none. A threshold raises neither metric, for
    precision@3 divides by 3 however few hits are left: it buys silence with them. `refusing` is
    recall@5 if it refused the same questions and left all hits to the others."""

    threshold: float
    kept: float
    precision: float
    recall: float
    refusing: float
    refused: float
