"""Intervals: SciPy's own to the digit, whole documents resampled, and what is said where resampling
says nothing."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from lab.evaluation.clusters import clustered, each_question
from lab.evaluation.intervals import mean_intervals, standard_errors, tail_share


@pytest.mark.parametrize("questions", [20, 60, 130])
def test_bca_equals_scipy_with_the_same_seed(questions: int) -> None:
    values = np.random.default_rng(questions).beta(0.5, 0.3, (questions, 3))
    low, high = mean_intervals(values, each_question(questions), seed=5, resamples=2_500)
    for column in range(3):
        expected = bootstrap(
            (values[:, column],),
            np.mean,
            rng=5,
            n_resamples=2_500,
            method="BCa",
            confidence_level=1 - 2 * tail_share(questions),
        ).confidence_interval
        assert (low[column], high[column]) == pytest.approx(
            (expected.low, expected.high), abs=1e-12
        )


def test_clusters_of_one_size_equal_scipy_on_their_means() -> None:
    values = np.random.default_rng(0).random((120, 1))
    low, high = mean_intervals(
        values, clustered(np.repeat(np.arange(30), 4)), seed=3, resamples=1_500
    )
    means = values.reshape(30, 4).mean(axis=1)
    expected = bootstrap(
        (means,),
        np.mean,
        rng=3,
        n_resamples=1_500,
        method="BCa",
        confidence_level=1 - 2 * tail_share(30),
    ).confidence_interval
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_equal_scores_get_the_clopper_pearson_bound_not_certainty() -> None:
    low, high = mean_intervals(np.ones((30, 1)), each_question(30), seed=0)
    assert (low[0], high[0]) == pytest.approx((0.025 ** (1 / 30), 1.0))
    low, high = mean_intervals(np.full((30, 1), 0.25), each_question(30), seed=0)
    assert (low[0], high[0]) == pytest.approx(
        (0.25 * 0.025 ** (1 / 30), 1 - 0.75 * 0.025 ** (1 / 30))
    )


def test_equal_costs_have_no_bound_to_speak_of() -> None:
    low, high = mean_intervals(np.full((30, 1), 700.0), each_question(30), seed=0, bounds=None)
    assert (low[0], high[0]) == (700, 700)


def test_questions_without_a_value_are_left_out() -> None:
    values = np.random.default_rng(1).random((50, 1))
    holes = np.vstack([values, np.full((25, 1), np.nan)])
    low, high = mean_intervals(holes, each_question(75), seed=0)
    assert low[0] < values.mean() < high[0]
    assert standard_errors(holes, each_question(75))[0] == pytest.approx(
        standard_errors(values, each_question(50))[0], rel=0.02
    )


def test_standard_error_is_that_of_a_mean() -> None:
    values = np.random.default_rng(2).random((40, 2))
    assert standard_errors(values, each_question(40)) == pytest.approx(
        values.std(axis=0, ddof=1) / np.sqrt(40)
    )


def test_the_same_seed_gives_the_same_bytes() -> None:
    values = np.random.default_rng(3).random((90, 4))
    first, second = (
        np.array(mean_intervals(values, each_question(90), seed=9)).tobytes() for _ in range(2)
    )
    assert first == second


def test_tails_on_paper() -> None:
    # Phi(-sqrt(20 / 19) * 2.0930) and, with very many units, Phi(-1.96).
    assert tail_share(20) == pytest.approx(0.01588, abs=1e-5)
    assert tail_share(100_000) == pytest.approx(0.025, abs=1e-5)


@pytest.mark.parametrize("units", [5, 10, 20])
def test_few_units_are_covered(units: int) -> None:
    values = np.random.default_rng(units).normal(0.5, 0.1, (units, 1_000))
    low, high = mean_intervals(values, each_question(units), 0, bounds=None, resamples=999)
    assert 0.88 <= ((low <= 0.5) & (high >= 0.5)).mean() <= 0.97


def test_documents_are_units_as_soon_as_there_are_two() -> None:
    assert clustered(np.repeat(np.arange(19), 2)).unit == "document"
    assert clustered(np.repeat(np.arange(2), 2)).unit == "document"
    assert clustered(np.zeros(8, dtype=np.int64)).unit == "question", "about one document only"
    assert clustered(np.arange(50)).unit == "question", (
        "without shared documents the two are the same"
    )


def test_a_slice_keeps_its_documents_together() -> None:
    clusters = clustered(np.repeat(np.arange(60), 3))
    assert len(clusters.only(np.arange(180) < 90)) == 30
    assert len(clusters.only(np.arange(180) < 9)) == 3
    assert clusters.only(np.arange(180) < 3).unit == "question"
