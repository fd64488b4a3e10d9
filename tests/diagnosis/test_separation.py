"""Separation: by hand, and an interval that holds the true AUC as often as it says."""

import numpy as np
import pytest
from scipy.stats import norm

from lab.diagnosis.separation import auc_interval, separation


def test_by_hand() -> None:
    found = separation("bm25", np.array([3.0, 2.0, 2.0, 1.0]), np.array([2.0, 0.0, -np.inf]))
    # Of 12 pairs 9 are won, 2 tied and 1 lost.
    assert (found.answerable, found.unanswerable, found.auc) == (4, 3, pytest.approx(10 / 12))
    # A twentieth of four questions is none: the threshold keeps all.
    assert (found.threshold, found.rejected) == (1.0, pytest.approx(2 / 3))


def test_a_question_without_a_hit_keeps_the_threshold_from_rejecting() -> None:
    found = separation("bm25", np.array([1.0, -np.inf]), np.array([-np.inf]))
    assert (found.auc, found.threshold, found.rejected) == (0.75, -np.inf, 0.0)


@pytest.mark.parametrize("auc", [0.0, 0.3, 1.0])
def test_the_interval_has_a_width_everywhere_and_mirrors(auc: float) -> None:
    low, high = auc_interval(auc, 150, 12)
    assert 0 <= low <= auc <= high <= 1
    assert 0.05 < high - low < 0.5
    assert auc_interval(1 - auc, 12, 150) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize("shift", [0.3, 1.0, 2.0])
def test_the_interval_holds_the_true_auc_as_often_as_it_says(shift: float) -> None:
    draw, held, true = np.random.default_rng(5), 0, norm.cdf(shift / np.sqrt(2))
    for _ in range(1000):
        found = separation("dense", draw.normal(shift, 1, 150), draw.normal(0, 1, 12))
        held += found.low <= true <= found.high
    assert 930 <= held <= 990
