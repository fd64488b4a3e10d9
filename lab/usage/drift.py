"""Drift: the ways in which the questions of a log and of a set may differ, each against what chance
gives."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import Bools, Floats
from lab.evaluation.verdict import ALPHA
from lab.usage.gaps import far_shares
from lab.usage.samples import Samples
from lab.usage.signals import Signals
from lab.usage.two_samples import (
    Beyond,
    beyond,
    classifier_auc,
    jointly,
    labellings,
    stability,
)
from lab.usage.wording import FEATURES, wording

# Components of the questions' vectors that the classifier reads.
COMPONENTS = 10
# Share of the set's answerable questions whose best score reaches a leg's limit.
KEPT = 0.95


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared: `wording`, `topics` (the questions' vectors) and `signals` by the AUC of a
    classifier, `far questions` by their share. `p` allows for all four."""

    what: str
    found: Beyond
    p: float

    @property
    def told(self) -> bool:
        return self.p <= ALPHA


@dataclass(frozen=True, slots=True)
class Feature:
    """One number of the questions: its mean in the set and in the log, the population stability
    index beside what chance gives, and `p`, which allows for all features of its group."""

    group: str
    name: str
    in_set: float
    in_log: float
    psi: Beyond
    p: float

    @property
    def told(self) -> bool:
        return self.p <= ALPHA


@dataclass(frozen=True, slots=True)
class Limit:
    """Shares of questions whose best score of a leg lies below `score`, which 95% of the set's
    answerable questions reach (as `lab.diagnosis.separation` has it)."""

    leg: str
    score: float
    in_set: float
    in_log: float


def compare(
    samples: Samples,
    vocabulary: Collection[str],
    found: Signals,
    components: Floats,
    between: Floats,
    seed: int,
) -> tuple[tuple[Comparison, ...], tuple[Feature, ...]]:
    """All comparisons and features under the same permuted labels. `between` are the distances of
    all questions, `components` what `principal_components` makes of their vectors."""
    words = wording(samples.texts, vocabulary)
    labels = labellings(samples.in_log, seed)
    statistics = {
        "wording": classifier_auc(words, labels, seed),
        "topics": classifier_auc(components, labels, seed),
        "signals": classifier_auc(found.values, labels, seed),
        "far questions": far_shares(between, labels),
    }
    results = [beyond(values) for values in statistics.values()]
    adjusted = jointly(list(statistics.values()))
    comparisons = tuple(
        Comparison(what, result, float(p))
        for what, result, p in zip(statistics, results, adjusted, strict=True)
    )
    return comparisons, (
        *_features("wording", FEATURES, words, labels),
        *_features("signals", found.names, found.values, labels),
    )


def _features(group: str, names: Sequence[str], values: Floats, labels: Bools) -> list[Feature]:
    indexes = [stability(column, labels) for column in values.T]
    adjusted = jointly(indexes)
    in_log = labels[:, 0]
    means = zip(values[~in_log].mean(axis=0), values[in_log].mean(axis=0), strict=True)
    return [
        Feature(group, name, float(ours), float(theirs), beyond(index), float(p))
        for name, (ours, theirs), index, p in zip(names, means, indexes, adjusted, strict=True)
    ]


def limits(samples: Samples, found: Signals) -> tuple[Limit, ...]:
    """A limit for every leg; none where the set has no answerable question."""
    if not samples.answerable.any():
        return ()
    shares = []
    for leg, top in found.top.items():
        ordered = np.sort(top[samples.answerable])
        score = float(ordered[int(np.floor((1 - KEPT) * len(ordered) + 1e-9))])
        below = top < score
        ours, theirs = below[samples.ours].mean(), below[samples.theirs].mean()
        shares.append(Limit(leg, score, float(ours), float(theirs)))
    return tuple(shares)
