"""Corrected means: by hand, against planted errors, and in coverage."""

import numpy as np
import pytest

from lab.answers.judges.check import check_judges
from lab.answers.judges.correction import prediction_powered, rogan_gladen
from lab.answers.judges.judgement import Score


def test_rogan_and_gladen_by_hand() -> None:
    # Sensitivity 8/10, specificity 9/10, 50 of 100 called good: (.5 + .9 - 1) / .7.
    people = np.array([True] * 10 + [False] * 10)
    known = np.array([True] * 8 + [False] * 2 + [True] + [False] * 9)
    judged = np.array([True] * 50 + [False] * 50)
    corrected = rogan_gladen(judged, known, people)
    assert corrected is not None
    assert corrected.raw == 0.5
    assert corrected.mean == pytest.approx(0.4 / 0.7)


def test_what_cannot_be_corrected_is_not() -> None:
    yes, no = np.array([True, True]), np.array([False, False])
    assert rogan_gladen(yes, yes, yes) is None
    chance = np.array([True, False, True, False])
    assert rogan_gladen(chance, chance, np.array([True, True, False, False])) is None
    assert rogan_gladen(no, np.array([False, True]), np.array([True, False])) is None
    assert prediction_powered(np.ones(1), np.ones(1), np.ones(1)) is None


def test_planted_errors_are_corrected_and_covered() -> None:
    rng = np.random.default_rng(3)
    covered_rates = covered_means = 0
    for _ in range(400):
        truth = rng.random(3_000) < 0.3
        verdict = np.where(truth, rng.random(3_000) < 0.85, rng.random(3_000) < 0.2)
        rate = rogan_gladen(verdict[200:], verdict[:200], truth[:200])
        assert rate is not None
        covered_rates += rate.low <= 0.3 <= rate.high
        quality = rng.normal(3, 1, 3_000)
        score = quality + 0.7 + rng.normal(0, 0.5, 3_000)
        mean = prediction_powered(score[200:], score[:200], quality[:200])
        assert mean is not None
        covered_means += mean.low <= 3 <= mean.high
    assert covered_rates / 400 == pytest.approx(0.95, abs=0.03)
    assert covered_means / 400 == pytest.approx(0.95, abs=0.03)


def test_a_good_judge_narrows_the_interval_and_a_useless_one_does_not_widen_it() -> None:
    rng = np.random.default_rng(4)
    quality = rng.normal(3, 1, 5_000)
    good, useless = quality + rng.normal(0, 0.3, 5_000), rng.normal(3, 1, 5_000)
    people = quality[:100]
    alone = 2 * 1.96 * people.std(ddof=1) / 10
    widths = []
    for score in (good, useless):
        corrected = prediction_powered(score[100:], score[:100], people)
        assert corrected is not None
        widths.append(corrected.high - corrected.low)
    assert widths[0] < 0.45 * alone
    assert widths[1] < 1.05 * alone


def test_yes_and_no_are_corrected_by_sensitivity_and_specificity() -> None:
    # People judged 20 of 120 answers: sensitivity 8/10, specificity 9/10; 50 of the other 100 are
    # called good, so (.5 + .9 - 1) / .7 of them are.
    people = [1.0] * 10 + [0.0] * 10
    judged = [1.0] * 8 + [0.0] * 2 + [1.0] + [0.0] * 9 + [1.0] * 50 + [0.0] * 50
    scores = [Score(f"q{n:03}", "s", "judge", "", value) for n, value in enumerate(judged)]
    labels = [Score(f"q{n:03}", "s", "person", "", value) for n, value in enumerate(people)]
    (judge,) = check_judges(scores, [], labels).judges
    assert judge.corrected is not None
    assert judge.corrected.mean == pytest.approx(0.4 / 0.7)
