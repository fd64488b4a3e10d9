"""Calibration worked by hand."""

import numpy as np
import pytest

from lab.answers.judges.calibration import calibration


def test_error_score_and_curve_by_hand() -> None:
    confidence = np.array([0.95, 0.95, 0.55, 0.15])
    right = np.array([True, False, True, False])
    found = calibration(confidence, right)
    # Bins: [.95, .95] right 1 of 2, [.55] right, [.15] wrong: (.9 + .45 + .15) / 4.
    assert found.ece == pytest.approx(1.5 / 4)
    assert found.brier == pytest.approx((0.05**2 + 0.95**2 + 0.45**2 + 0.15**2) / 4)
    # Both of .95 enter together: half of what is kept is wrong, then a third, then a half.
    assert found.coverage.tolist() == [0.5, 0.75, 1.0]
    assert found.risk.tolist() == pytest.approx([0.5, 1 / 3, 0.5])
    assert found.area == pytest.approx((2 * 0.5 + 1 / 3 + 0.5) / 4)


def test_a_judge_whose_confidence_is_true_has_next_to_no_error() -> None:
    rng = np.random.default_rng(0)
    confidence = rng.random(200_000)
    right = rng.random(200_000) < confidence
    assert calibration(confidence, right).ece < 0.005
    # E[c(1 - c)] of a uniform c.
    assert calibration(confidence, right).brier == pytest.approx(1 / 6, abs=0.003)
