"""A judge's new version: what is found changed, and what is not."""

import numpy as np

from lab.answers.judges.regression import judge_regression, lowest_fifth, modes, scale_step

IDS = [f"case-{number:03}" for number in range(120)]


def test_the_same_judgements_pass() -> None:
    scores = np.random.default_rng(0).integers(1, 6, 120).astype(float)
    same = judge_regression(IDS, scores, scores)
    assert (same.faults, same.moved, same.overlap, same.cases) == ((), 0.0, 1.0, ())


def test_a_moved_mean_names_its_cases() -> None:
    before = np.full(120, 4.0)
    after = before.copy()
    after[:30] = 3.0  # the mean falls by a quarter of a point
    found = judge_regression(IDS, before, after)
    assert found.moved == -0.25
    assert "the mean moved by -0.25" in found.faults[0]
    assert found.cases[0] == "case-000"
    after[:30] = 4.0
    after[:24] = 3.0  # by a fifth: not more than that
    assert not [f for f in judge_regression(IDS, before, after).faults if "mean" in f]


def test_a_second_peak_is_seen() -> None:
    rng = np.random.default_rng(1)
    one = np.clip(np.round(rng.normal(3, 0.7, 120)), 1, 5)
    two = np.where(np.arange(120) % 2 == 0, 1.0, 5.0)
    assert (modes(one, 1.0), modes(two, 1.0)) == (1, 2)
    assert any("2 peaks" in fault for fault in judge_regression(IDS, one, two).faults)
    assert modes(np.full(9, 2.0), 1.0) == 1
    assert scale_step(np.array([1.0, 5.0, 2.5])) == 1.5
    assert scale_step(np.linspace(0, 5, 101)) == 0.5


def test_the_lowest_fifth_has_to_stay() -> None:
    before = np.arange(10.0)
    assert lowest_fifth(before) == {0, 1}
    assert lowest_fifth(np.array([1.0, 1, 1, 2, 3])) == {0, 1, 2}
    after = before[::-1].copy()
    found = judge_regression(IDS[:10], before, after)
    assert found.overlap == 0.0
    assert any("lowest fifth" in fault for fault in found.faults)
