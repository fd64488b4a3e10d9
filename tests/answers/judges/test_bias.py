"""Length and family: planted effects are recovered, judges without them are not accused."""

import numpy as np
import pytest

from lab.answers.judges.bias import LengthSlope, length_slope, self_preference


def scored(slope: float, seed: int, queries: int = 60, systems: int = 4) -> LengthSlope | None:
    rng = np.random.default_rng(seed)
    count = queries * systems
    query = np.repeat(np.arange(queries), systems).astype(str)
    people = rng.integers(1, 6, count).astype(np.float64)
    words = 40 + 30 * people + rng.gamma(2, 40, count)
    severity = np.repeat(rng.normal(0, 1, queries), systems)
    score = people + severity + slope * words / 100 + rng.normal(0, 0.5, count)
    return length_slope(score, people, words, query)


@pytest.mark.parametrize("slope", [0.0, 0.3, -0.2])
def test_a_planted_slope_is_recovered(slope: float) -> None:
    effect = scored(slope, 1, queries=20_000)
    assert effect is not None
    assert effect.slope == pytest.approx(slope, abs=0.02)


def test_a_judge_that_ignores_length_is_accused_one_time_in_twenty() -> None:
    effects = [scored(0.0, seed) for seed in range(500)]
    accused = sum(effect is not None and not effect.low <= 0 <= effect.high for effect in effects)
    assert 0.03 * 500 <= accused <= 0.07 * 500


def test_equal_lengths_say_nothing() -> None:
    same = np.full(6, 100.0)
    assert length_slope(np.arange(6.0), np.arange(6.0), same, np.array(list("aabbcc"))) is None


def preferred(bonus: float, seed: int, questions: int = 40) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    families = ("red", "blue", "green")
    rows = [(q, j, g) for q in range(questions) for j in families for g in families]
    people = rng.integers(1, 6, (questions, 3)).astype(np.float64)
    severity = dict(zip(families, (0.0, 0.5, -0.5), strict=True))
    human = np.array([people[q, families.index(g)] for q, _, g in rows])
    own = np.array([j == g for _, j, g in rows])
    score = human + np.array([severity[j] for _, j, _ in rows]) + bonus * own
    score = score + rng.normal(0, 0.5, len(rows))
    query, judge = np.array([str(q) for q, *_ in rows]), np.array([j for _, j, _ in rows])
    effect = self_preference(score, human, query, judge, own, seed)
    assert effect is not None
    return effect.bonus, effect.p


def test_a_planted_bonus_is_recovered() -> None:
    bonus, p = preferred(0.4, 1, questions=1_000)
    assert bonus == pytest.approx(0.4, abs=0.02)
    assert p == pytest.approx(1e-4)


@pytest.mark.slow
def test_a_judge_without_a_family_is_accused_one_time_in_twenty() -> None:
    accused = sum(preferred(0.0, seed, questions=10)[1] <= 0.05 for seed in range(500))
    assert 0.03 * 500 <= accused <= 0.07 * 500


def test_a_judge_of_its_own_answers_only_says_nothing() -> None:
    names = np.array(["q", "q"])
    assert self_preference(np.ones(2), None, names, names, np.array([True, True]), 0) is None
