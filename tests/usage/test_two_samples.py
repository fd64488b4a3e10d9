"""What tells two samples apart, worked on paper and against independent code."""

import math

import numpy as np
import pytest
from scipy.stats import mannwhitneyu
from sklearn.linear_model import Ridge

from lab.usage.gaps import distances, far_shares, find_gaps, limit
from lab.usage.two_samples import (
    RIDGE,
    beyond,
    classifier_auc,
    jointly,
    labellings,
    principal_components,
    stability,
)
from lab.usage.wording import FEATURES, wording


def test_stability_on_paper() -> None:
    """Set: three times 0, once 1; log: once 0, three times 1. With half a question added to every
    bin the shares are 3.5/5 and 1.5/5, and PSI is 2 * (0.7 - 0.3) * ln(0.7 / 0.3)."""
    feature = np.array([0.0, 0, 0, 1, 0, 1, 1, 1])
    in_log = np.array([False] * 4 + [True] * 4)[:, None]
    assert stability(feature, in_log)[0] == pytest.approx(0.8 * math.log(7 / 3), abs=1e-12)
    assert stability(np.zeros(8), in_log)[0] == 0


def test_beyond_counts_ties_and_itself() -> None:
    found = beyond(np.array([0.7, 0.7, 0.8, 0.5]))
    assert found.p == 3 / 4
    assert beyond(np.array([0.9, 0.7, 0.8, 0.5])).p == 1 / 4


def test_jointly_on_paper() -> None:
    """Ranks from above of the first statistic are 1 2 3 4, of the second 3 1 2 4, each over 4; the
    least of every column is 1 1 2 4, so the observed 1/4 is reached by two of four, and 3/4 by
    three."""
    first, second = np.array([9.0, 8, 7, 6]), np.array([2.0, 4, 3, 1])
    assert jointly([first, second]).tolist() == [2 / 4, 3 / 4]
    assert jointly([first]).tolist() == [1 / 4]


def test_classifier_equals_scikit_learns_ridge() -> None:
    generator = np.random.default_rng(5)
    features = generator.normal(size=(60, 4))
    labels = labellings(np.arange(60) < 25, seed=1, permutations=3)
    standard = (features - features.mean(axis=0)) / features.std(axis=0)
    fold = np.random.default_rng(2).permutation(60) % 5
    for column, auc in enumerate(classifier_auc(features, labels, seed=2)):
        scores, target = np.zeros(60), labels[:, column].astype(float)
        for number in range(5):
            train = fold != number
            model = Ridge(alpha=RIDGE * train.sum()).fit(standard[train], target[train])
            scores[~train] = model.predict(standard[~train]) - target[train].mean()
        log, rest = scores[labels[:, column]], scores[~labels[:, column]]
        expected = mannwhitneyu(log, rest).statistic / (len(log) * len(rest))
        assert auc == pytest.approx(expected, abs=1e-12)


def test_labellings_keep_the_sizes() -> None:
    in_log = np.arange(30) < 12
    labels = labellings(in_log, seed=0, permutations=50)
    assert (labels[:, 0] == in_log).all()
    assert (labels.sum(axis=0) == 12).all()


def test_components_keep_distances() -> None:
    vectors = np.random.default_rng(0).normal(size=(12, 5))
    components = principal_components(vectors, 10)
    assert components.shape == (12, 5)
    apart = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    again = np.linalg.norm(components[:, None] - components[None], axis=2)
    assert apart == pytest.approx(again, abs=1e-9)


def test_gaps_on_paper() -> None:
    """Set questions in a fan one degree apart, one of them 30 degrees off; of the log two lie
    together at 90 degrees, one at 200, one in the fan."""
    ours = [*range(20), 49]
    theirs = [90, 91, 200, 5.5]
    angles = np.radians([*ours, *theirs])
    between = distances(np.column_stack([np.cos(angles), np.sin(angles)]))
    own, toward, among = between[:21, :21], between[21:, :21], between[21:, 21:]
    assert limit(own) == pytest.approx(1 - math.cos(math.radians(1)), abs=1e-6)
    gaps, most = find_gaps(own, toward, among)
    assert most == limit(own)
    assert [gap.questions for gap in gaps] == [(0, 1), (2,)]
    assert gaps[1].distance == pytest.approx(1 - math.cos(math.radians(151)), abs=1e-9)
    in_log = np.array([False] * 21 + [True] * 4)[:, None]
    assert far_shares(between, in_log)[0] == pytest.approx(3 / 4, abs=1e-5)


def test_nothing_is_far_from_itself() -> None:
    between = distances(np.eye(4))
    assert find_gaps(between, between, between) == ((), 1.0)


def test_wording() -> None:
    """One row in English, one in Chinese, by hand."""
    texts = ["What does E-4012 mean for it?", "它怎么重启 x"]
    english, chinese = (
        dict(zip(FEATURES, row, strict=True)) for row in wording(texts, {"what", "mean"}).tolist()
    )
    assert (english["words"], english["question words"], english["question mark"]) == (6, 1, 1)
    assert english["pronouns"] == 1 / 6
    assert english["identifiers"] == 1
    assert english["digits"] == 4 / len(texts[0])
    assert english["capitals"] == 2 / 18
    assert english["Chinese, Japanese, Korean"] == 0
    assert (chinese["words"], chinese["question words"], chinese["question mark"]) == (6, 1, 0)
    assert chinese["pronouns"] == 1 / 6
    assert chinese["Chinese, Japanese, Korean"] == 5 / 6
    assert chinese["unknown words"] == 1
    assert wording([], set()).shape == (0, len(FEATURES))
