"""Retrieval loss against generation loss: worked by hand, and planted."""

import numpy as np
import pytest

from lab.answers.losses import losses
from lab.evaluation.clusters import each_question


def loss_of(gold: list[float], system: list[float]) -> str:
    (row, *_) = losses(
        np.array(gold), np.array(system), ["k"] * len(gold), each_question(len(gold)), 0
    )
    return row.verdict


def test_losses_by_hand() -> None:
    gold, system = np.array([1.0, 0.5, 1.0, 0.5]), np.array([0.0, 0.5, 1.0, 1.0])
    rows = losses(gold, system, ["b", "a", "b", "a"], each_question(4), 0)
    assert [row.slice for row in rows] == ["all", "a", "b"]
    assert rows[0].retrieval == pytest.approx(0.125)  # (1 + 0 + 0 - .5) / 4
    assert rows[0].generation == pytest.approx(0.25)
    assert (rows[1].retrieval, rows[1].generation) == (-0.25, 0.5)
    assert [row.questions for row in rows] == [4, 2, 2]


def test_the_larger_loss_is_named() -> None:
    perfect, half, none = [1.0] * 40, [0.5] * 40, [0.0] * 40
    assert loss_of(perfect, none) == "retrieval"
    assert loss_of(none, none) == "generation"
    assert loss_of(half, none) == "both"
    assert loss_of([1.0, 0.0, 1.0], [0.0, 0.0, 1.0]) == "undecided"
    assert loss_of(perfect, perfect) == "undecided"
