"""Both orders: by hand, planted, and as LLMBar's authors counted."""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lab.answers.judges.judgement import Preference, Winner
from lab.answers.judges.orders import both_orders


def asked(query_id: str, forth: Winner, back: Winner | None) -> list[Preference]:
    one = [Preference(query_id, "judge", "a", "b", forth)]
    return one if back is None else [*one, Preference(query_id, "judge", "b", "a", back)]


def test_pairs_by_hand() -> None:
    preferences = [
        *asked("q1", "first", "second"),  # a both times
        *asked("q2", "second", "second"),  # the second place both times
        *asked("q3", "first", "first"),
        *asked("q4", "tie", "tie"),
        *asked("q5", "second", "second"),
        *asked("q6", "first", None),
    ]
    (row,) = both_orders(preferences)
    assert (row.pairs, row.agreeing, row.first_twice, row.second_twice) == (5, 2, 1, 2)
    assert row.bias == pytest.approx(0.2)
    assert row.agreement == pytest.approx(0.4)
    assert row.discordant == (("q2", "a", "b"), ("q3", "a", "b"), ("q5", "a", "b"))
    assert row.unpaired == 1
    # Of the two settled pairs a wins one, and the other is a tie.
    assert row.wins == (("a", 2, 0.75), ("b", 2, 0.25))
    (alone,) = both_orders(asked("q6", "first", None))
    assert math.isnan(alone.agreement)


def judged(bias: float, error: float, pairs: int, seed: int) -> Iterator[Preference]:
    """A judge that takes the second place with chance `bias`, and errs with chance `error`."""
    rng = np.random.default_rng(seed)
    for number in range(pairs):
        for first, second in (("a", "b"), ("b", "a")):
            right: Winner = "first" if first == "a" else "second"
            wrong: Winner = "second" if first == "a" else "first"
            chosen = "second" if rng.random() < bias else wrong if rng.random() < error else right
            yield Preference(str(number), "judge", first, second, chosen)


@pytest.mark.parametrize("bias", [0.0, 0.1, 0.3])
def test_a_planted_pull_is_recovered(bias: float) -> None:
    (row,) = both_orders(list(judged(bias, 0.0, 20_000, 1)))
    assert row.bias == pytest.approx(bias, abs=0.02)
    assert row.low <= bias <= row.high


def test_a_judge_without_bias_is_accused_one_time_in_twenty() -> None:
    accused = 0
    for seed in range(500):
        (row,) = both_orders(list(judged(0.0, 0.15, 150, seed)))
        accused += not row.low <= 0 <= row.high
    assert 0.03 * 500 <= accused <= 0.07 * 500


STATISTICS = {  # correct in both orders as the authors print it: (right, swapped, the same choice)
    ("Natural", "GPT-4"): (95, 96, 95),
    ("Natural", "ChatGPT"): (80, 83, 71),
}


@pytest.mark.parametrize(("folder", "judge"), STATISTICS)
def test_llmbar_counts_come_back(shared: Path, folder: str, judge: str) -> None:
    place = shared / "data" / "llmbar" / "LLMBar" / folder / "evaluators" / judge / "Vanilla"
    cases = json.loads((place / "result.json").read_text("utf-8"))
    preferences = []
    right = [0, 0]
    for number, case in enumerate(cases):
        for turn, swap in enumerate(("swap = False", "swap = True")):
            winner = str(case["results"][-1][swap]["winner"])
            right[turn] += winner == str(case["label"])
            first, second = ("1", "2") if not turn else ("2", "1")
            slot: Winner = "first" if winner == first else "second" if winner == second else "tie"
            preferences.append(Preference(str(number), judge, first, second, slot))
    (row,) = both_orders(preferences)
    assert (*right, row.agreeing) == STATISTICS[folder, judge]
    assert row.pairs == len(cases)
