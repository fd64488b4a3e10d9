"""Questions hurt and GeoRisk, worked on paper."""

from math import erf, sqrt

import numpy as np
import pytest

from lab.evaluation.risk import georisk, hurt

# Questions x systems.
SCORES = np.array([[0.5, 0.7], [0.5, 0.3], [0.5, 0.5]])


def phi(z: float) -> float:
    return (1 + erf(z / sqrt(2))) / 2


def test_hurt_and_helped_by_a_fifth() -> None:
    lost, won = hurt(SCORES, baseline=0)
    assert lost.tolist() == [0, 1]
    assert won.tolist() == [0, 1]
    assert hurt(np.array([[0.5, 0.31]]), 0)[0].tolist() == [0, 0]


def test_georisk_on_paper() -> None:
    # Totals: systems 1.5 and 1.5, questions 1.2, 0.8, 1.0, all 3.0: expected is half of a question.
    z = [(0.5 - 0.6) / sqrt(0.6), (0.5 - 0.4) / sqrt(0.4), 0.0]
    for alpha in (0.0, 1.0, 5.0):
        first = sqrt(0.5 * phi(((1 + alpha) * z[0] + z[1]) / 3))
        second = sqrt(0.5 * phi((-z[0] - (1 + alpha) * z[1]) / 3))
        assert georisk(SCORES, alpha) == pytest.approx([first, second])
    # Losing where little is expected weighs more: the second is the riskier one.
    first, second = georisk(SCORES)
    assert second < first


def test_georisk_of_the_expected_and_of_nothing() -> None:
    assert georisk(np.array([[0.2], [0.6]])) == pytest.approx([sqrt(0.4 / 2)])
    assert georisk(np.zeros((3, 2))).tolist() == [0.0, 0.0]
    assert georisk(np.array([[0.0, 0.0], [1.0, 0.5]])) == pytest.approx([0.5, sqrt(0.125)])
