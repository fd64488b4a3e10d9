"""Tests of significance against SciPy's exact ones, their least p, and the corrections on paper."""

import numpy as np
import pytest
from scipy.stats import binomtest, permutation_test

from lab.evaluation.choice import all_pairs
from lab.evaluation.clusters import each_question
from lab.evaluation.paired import compare
from lab.evaluation.significance import holm, sign_flip_test, sign_test


@pytest.mark.parametrize("units", [2, 5, 9, 13])
def test_exact_p_equals_scipys(units: int) -> None:
    differences = np.round(np.random.default_rng(units).normal(0.3, 1, (units, 1)), 1)
    exact = permutation_test(
        (differences[:, 0],), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip_test(differences, seed=0).p[0] == pytest.approx(exact.pvalue, abs=1e-12)


def test_many_units_come_close_to_the_exact_p_and_never_reach_0() -> None:
    differences = np.random.default_rng(4).normal(0.5, 1, (16, 1))
    exact = permutation_test(
        (differences[:, 0],), np.mean, permutation_type="samples", n_resamples=2**16
    )
    found = sign_flip_test(differences, seed=1)
    assert found.p[0] == pytest.approx(exact.pvalue, abs=0.01)
    assert sign_flip_test(np.ones((40, 1)), seed=1).p[0] == 1 / 10_000


def test_least_p_counts_the_units_that_differ() -> None:
    sums = np.zeros((50, 3))
    sums[:4, 0], sums[:, 1] = [1, 1, 1, -1], 1
    found = sign_flip_test(sums, seed=0)
    assert found.least.tolist() == pytest.approx([2 / 16, 1 / 10_000, 1.0])
    assert found.p[2] == 1.0


def test_a_large_family_gets_finer_p() -> None:
    sums = np.ones((30, 200))
    assert sign_flip_test(sums, seed=0).p[0] * 200 == pytest.approx(0.05 / 20)


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (5, 0), (9, 3), (4, 4), (30, 12)])
def test_sign_test_equals_scipys(wins: int, losses: int) -> None:
    expected = binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(np.array([wins]), np.array([losses]))[0] == pytest.approx(expected)


def test_holm_on_paper() -> None:
    assert holm(np.array([0.04, 0.01, 0.03])).tolist() == pytest.approx([0.06, 0.03, 0.06])
    assert holm(np.array([0.6, 0.9])).tolist() == [1.0, 1.0]


def test_verdicts() -> None:
    differences = np.zeros((60, 5))
    differences[:, 0] = 0.2
    differences[:, 1] = -0.2
    differences[:, 2] = np.tile([0.2, -0.2], 30)
    differences[:3, 3] = 1.0
    found = compare(differences, each_question(60), seed=0)
    assert found.verdicts == ["better", "worse", "undecided", "cannot be settled", "same"]
    assert (found.wins.tolist(), found.losses.tolist()) == ([60, 0, 30, 3, 0], [0, 60, 30, 0, 0])
    assert found.ties.tolist() == [0, 0, 0, 57, 60]
    assert found.least_p[3] == 1.0, "2 / 2^3 five times over"


def test_effect_is_the_mean_in_standard_deviations() -> None:
    differences = np.array([[0.1], [0.3], [0.2], [0.4]])
    assert compare(differences, each_question(4), 0).effect[0] == pytest.approx(
        0.25 / np.std([0.1, 0.3, 0.2, 0.4], ddof=1)
    )


def test_the_best_is_told_from_a_worse_one_and_not_from_its_twin() -> None:
    draw = np.random.default_rng(0)
    best = draw.random((120, 1))
    scores = np.hstack([best, best, best - 0.2, draw.random((120, 1)) * 0.1 + best - 0.05])
    found = all_pairs(scores, seed=0).against(0)
    assert found.tested.p[0] == found.tested.p[1] == 1.0
    assert found.tested.p[2] < 0.001


def test_two_systems_have_one_pair_and_the_plain_p() -> None:
    scores = np.random.default_rng(5).random((40, 2))
    best = int(scores.mean(axis=0).argmax())
    corrected = all_pairs(scores, seed=0).against(best).tested.p[1 - best]
    plain = sign_flip_test(scores[:, [best]] - scores[:, [1 - best]], seed=0).p[0]
    assert corrected == pytest.approx(plain, abs=0.01)


def test_systems_that_never_differ_cannot_be_told_apart() -> None:
    found = all_pairs(np.full((30, 3), 0.5), seed=0).against(0)
    assert found.tested.p.tolist() == [1.0, 1.0, 1.0]
    assert found.tested.least.tolist() == [1.0, 1.0, 1.0]


def test_one_clear_winner_of_many_is_called_where_the_others_show_how_large_losses_are() -> None:
    draw = np.random.default_rng(1)
    scores = draw.normal(0.5, 0.05, (12, 8))
    scores[:, 3] += 0.3
    found = all_pairs(scores, seed=0).against(3)
    assert (np.delete(found.tested.p, 3) < 0.05).all()
    assert found.loss < 0.3


def test_a_pair_alone_shows_nothing_of_losses_it_never_saw() -> None:
    scores = np.column_stack([np.zeros(12), np.full(12, 0.1)])
    found = all_pairs(scores, seed=0).against(1)
    assert found.loss == 1.0
    # (1 + 0.1 / 1)^-12 is less than (10 / 9)^-12, shares below a tenth being left out.
    assert found.tested.p[0] == pytest.approx(0.9**12)
