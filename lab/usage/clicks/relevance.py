"""Relevance of documents for questions as clicks have it, with intervals, and the grades that
thresholds make of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import chi2

from lab.arrays import Bools, Floats
from lab.usage.clicks.counts import Counts
from lab.usage.clicks.examination import examination

Model = Literal["pbm", "ctr", "coec"]
# Grades 1, 2 and 3 begin here; `coec` is 1 for a document that is clicked as often as its ranks.
THRESHOLDS: Mapping[Model, tuple[float, ...]] = {
    "pbm": (0.1, 0.3, 0.6),
    "ctr": (0.1, 0.3, 0.6),
    "coec": (0.5, 1.0, 2.0),
}
# Twice the log likelihood within a 95% interval: the quantile of chi square with one degree.
WITHIN = float(chi2.ppf(0.95, 1))
BISECTIONS = 60


@dataclass(frozen=True, eq=False)
class Clicked:
    """What a model makes of counts: for every pair its `relevance` with the 95% interval `low`,
    `high`, and for every rank its `exposure`: how likely a relevant hit is clicked there."""

    model: Model
    counts: Counts
    exposure: Floats
    relevance: Floats
    low: Floats
    high: Floats


def pbm(counts: Counts) -> Clicked:
    """The position-based model: relevance is the chance of a click at the first rank."""
    return _bernoulli("pbm", counts, examination(counts))


def ctr(counts: Counts) -> Clicked:
    """Clicks over impressions, as if every rank were looked at alike."""
    return _bernoulli("ctr", counts, np.ones(counts.ranks))


def coec(counts: Counts) -> Clicked:
    """Clicks over expected clicks (Zhang and Jones 2007): those that all documents have at the
    ranks at which this one was shown. 1 is the average. The interval takes clicks as Poisson
    (Garwood 1936)."""
    at_rank = counts.by_rank(counts.shown)
    exposure = counts.by_rank(counts.clicked) / np.maximum(at_rank, 1)
    expected = counts.by_pair(counts.shown * exposure[counts.rank - 1])
    clicks = counts.by_pair(counts.clicked)
    scale = np.where(expected > 0, expected, np.inf)
    low = np.where(clicks > 0, chi2.ppf(0.025, 2 * np.maximum(clicks, 1)) / 2, 0.0)
    high = chi2.ppf(0.975, 2 * clicks + 2) / 2
    return Clicked("coec", counts, exposure, clicks / scale, low / scale, high / scale)


MODELS: Mapping[Model, Callable[[Counts], Clicked]] = {"pbm": pbm, "ctr": ctr, "coec": coec}


def _bernoulli(model: Model, counts: Counts, exposure: Floats) -> Clicked:
    """Relevance by maximum likelihood where a hit is clicked with chance exposure x relevance, and
    the values that the likelihood ratio does not refuse at 5%, taking exposure as known."""
    chance = exposure[counts.rank - 1]
    most = np.ones(len(counts.pairs))
    np.minimum.at(most, counts.pair, 1 / np.maximum(chance, 1e-12))
    clicks = counts.by_pair(counts.clicked)

    def slope(relevance: Floats) -> Floats:
        """The derivative of the log likelihood, times relevance."""
        product = chance * relevance[counts.pair]
        missed = (counts.shown - counts.clicked) * product / np.maximum(1 - product, 1e-12)
        return clicks - counts.by_pair(missed)

    def likelihood(relevance: Floats) -> Floats:
        product = np.clip(chance * relevance[counts.pair], 1e-300, 1)
        missed = (counts.shown - counts.clicked) * np.log(np.maximum(1 - product, 1e-300))
        return counts.by_pair(counts.clicked * np.log(product) + missed)

    best = _crossing(np.zeros_like(most), most, lambda value: np.asarray(slope(value) > 0))
    highest = likelihood(best)

    def refused(relevance: Floats) -> Bools:
        return np.asarray(2 * (highest - likelihood(relevance)) > WITHIN)

    low = _crossing(np.zeros_like(best), best, refused)
    high = _crossing(best, most, lambda value: ~refused(value))
    return Clicked(model, counts, exposure, best, np.where(clicks > 0, low, 0.0), high)


def _crossing(low: Floats, high: Floats, below: Callable[[Floats], Bools]) -> Floats:
    """Where `below`, which holds beneath a point and not above it, ceases to hold."""
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        under = below(middle)
        low, high = np.where(under, middle, low), np.where(under, high, middle)
    return (low + high) / 2
