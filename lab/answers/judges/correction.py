"""Means corrected for a judge's known errors, by the answers that people judged as well."""

import math
from dataclasses import dataclass

import numpy as np

from lab.arrays import Bools, Floats

# 97.5% quantile of the normal distribution.
Z = 1.959964


@dataclass(frozen=True, slots=True)
class Corrected:
    """A mean with its 95% interval; `raw` is what the judge alone says."""

    raw: float
    mean: float
    low: float
    high: float


def rogan_gladen(judged: Bools, known: Bools, people: Bools) -> Corrected | None:
    """The true share of good answers when a judge calls `judged` of them good: (raw + specificity -
    1) / (sensitivity + specificity - 1), clipped to [0, 1] (Rogan and Gladen 1978). `known` are the
    judge's verdicts on the answers that `people` judged. The interval is the delta method's. None
    where people called all alike, or the judge is no better than chance."""
    good, bad = int(people.sum()), int((~people).sum())
    if not good or not bad or not len(judged):
        return None
    sensitivity = float(known[people].mean())
    specificity = float((~known[~people]).mean())
    youden = sensitivity + specificity - 1
    if youden <= 0:
        return None
    raw = float(judged.mean())
    mean = (raw + specificity - 1) / youden
    variance = (
        raw * (1 - raw) / len(judged)
        + mean**2 * sensitivity * (1 - sensitivity) / good
        + (1 - mean) ** 2 * specificity * (1 - specificity) / bad
    ) / youden**2
    half = Z * math.sqrt(variance)
    low, high = (min(max(end, 0.0), 1.0) for end in (mean - half, mean + half))
    return Corrected(raw, min(max(mean, 0.0), 1.0), low, high)


def prediction_powered(judged: Floats, known: Floats, people: Floats) -> Corrected | None:
    """The mean that people would give: the judge's mean over all answers plus the mean difference
    people - judge over those that people judged, the judge's part weighted by what it explains
    (Angelopoulos et al. 2023, PPI++ of 2024, eq. 6). None for fewer than two answers judged by
    people."""
    if len(people) < 2 or len(judged) < 2:
        return None
    covariance = float(np.cov(known, people)[0, 1])
    spread = float(np.var(np.concatenate([judged, known]), ddof=1))
    weight = 0.0
    if spread:
        weight = min(max(covariance / ((1 + len(people) / len(judged)) * spread), 0.0), 1.0)
    mean = weight * float(judged.mean()) + float((people - weight * known).mean())
    variance = weight**2 * float(np.var(judged, ddof=1)) / len(judged) + float(
        np.var(people - weight * known, ddof=1)
    ) / len(people)
    half = Z * math.sqrt(variance)
    return Corrected(float(judged.mean()), mean, mean - half, mean + half)
