"""Which metrics say the same: tau-b equals scipy's, power equals scipy's paired t test, and what is
kept."""

import numpy as np
import pytest
from scipy.stats import kendalltau, ttest_rel

from lab.evaluation.clusters import clustered, each_question
from lab.evaluation.redundancy import redundancy


def values_of(seed: int, systems: int = 6, questions: int = 40, metrics: int = 4) -> np.ndarray:
    draw = np.random.default_rng(seed)
    quality = draw.random((systems, 1, 1)) * 0.3
    return np.round(np.clip(quality + draw.random((systems, questions, metrics)) * 0.7, 0, 1), 2)


def test_parity_with_scipy() -> None:
    values = values_of(1)
    found = redundancy(values, list("abcd"), each_question(40), [False] * 4)
    means = values.mean(axis=1)
    for a in range(4):
        for b in range(4):
            assert found.tau[a][b] == pytest.approx(kendalltau(means[:, a], means[:, b]).statistic)
        told = [
            ttest_rel(values[i, :, a], values[j, :, a]).pvalue < 0.05
            for i in range(6)
            for j in range(i + 1, 6)
        ]
        assert found.power[a] == pytest.approx(np.mean(told))
        assert found.both[a, a] == pytest.approx(found.power[a])
        assert found.contrary[a, a] == 0


def test_metrics_that_order_alike_are_one_and_the_more_powerful_stays() -> None:
    draw = np.random.default_rng(2)
    ability = np.linspace(0.2, 0.8, 5)[:, None]
    sharp = np.clip(ability + 0.05 * draw.standard_normal((5, 60)), 0, 1)
    coarse = (draw.random((5, 60)) < ability).astype(float)
    opposed = 1 - sharp
    values = np.stack([coarse, sharp, opposed], axis=2)
    found = redundancy(values, ["coarse", "sharp", "opposed"], each_question(60), [False] * 3)
    assert found.power[1] == 1
    assert found.power[0] < 1
    assert found.same_as == ("sharp", "sharp", "opposed")
    assert found.tau[1][2] == -1
    assert found.contrary[1, 2] == 1
    # A cost is better when lower, so that it says the same after all.
    costs = redundancy(
        values, ["coarse", "sharp", "opposed"], each_question(60), [False, False, True]
    )
    assert costs.tau[1][2] == 1


def test_documents_are_the_units() -> None:
    values = np.repeat(values_of(3, questions=20, metrics=1), 5, axis=1)
    labels = np.repeat(np.arange(20), 5)
    by_question = redundancy(values, ["a"], each_question(100), [False])
    by_document = redundancy(values, ["a"], clustered(labels), [False])
    one_each = redundancy(values[:, ::5], ["a"], each_question(20), [False])
    assert by_document.power == pytest.approx(one_each.power)
    assert by_document.power < by_question.power


def test_one_system_and_equal_systems() -> None:
    one = redundancy(values_of(4, systems=1), list("abcd"), each_question(40), [False] * 4)
    assert one.power.tolist() == [0, 0, 0, 0]
    assert one.tau[0][1] is None
    assert one.same_as == tuple("abcd")
    equal = redundancy(np.ones((3, 10, 2)), ["a", "b"], each_question(10), [False] * 2)
    assert equal.power.tolist() == [0, 0]
    shifted = np.ones((2, 10, 1)) * np.array([0.5, 0.6])[:, None, None]
    assert redundancy(shifted, ["a"], each_question(10), [False]).power.tolist() == [1]
