"""Answers compared by words and numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.answers.wording import (
    exact_match,
    faithfulness_by_words,
    longest_common_subsequence,
    numbers_matched,
    numbers_with_units,
    support_of,
    token_f1,
)


def test_exact_match_and_f1_after_squad() -> None:
    assert exact_match("The nine bar.", "nine bar") == 1.0
    assert exact_match("ten bar", "nine bar") == 0.0
    # P = 2/3, R = 2/2: F1 = 0.8.
    assert token_f1("at nine bar", "nine bar") == pytest.approx(0.8)
    assert token_f1("", "") == 1.0
    assert token_f1("", "nine") == 0.0


def test_chinese_counts_characters() -> None:
    assert exact_match("压力过低。", "压力过低") == 1.0
    assert token_f1("压力低", "压力过低") == pytest.approx(2 * 1 * 0.75 / 1.75)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,200 h", [(1200.0, "h")]),
        ("1 200 km", [(1200.0, "km")]),
        ("3,5 bar and 2", [(3.5, "bar"), (2.0, "")]),
        ("-5 °C or 41 %", [(-5.0, "°C"), (41.0, "%")]),
        ("9 bar in 30 minutes", [(9.0, "bar"), (30.0, "minutes")]),
        ("version v2.3.1", []),
        ("10 m/s", [(10.0, "m/s")]),
    ],
)
def test_numbers_are_read_with_their_units(text: str, numbers: list[tuple[float, str]]) -> None:
    assert numbers_with_units(text) == numbers


def test_numbers_match_within_one_percent_and_with_their_unit() -> None:
    assert numbers_matched("about 1,208 h", "1200 h") == 1.0
    assert numbers_matched("1,215 h", "1200 h") == 0.0
    assert numbers_matched("1200 km", "1200 h") == 0.0
    assert numbers_matched("1200", "1200 h") == 1.0
    assert numbers_matched("9 bar", "9 bar after 30 minutes") == 0.5
    assert numbers_matched("nothing", "no number") is None


def test_support_follows_the_words_in_order() -> None:
    claim = "Stop the pump, close the valve and call the engineer"
    assert support_of(claim, "First stop the pump and close the valve, then call an engineer.") == 1
    assert support_of(claim, "Stop the pump and close the valve.") == 0.5
    assert support_of(claim, "Engineers like pumps.") == 0
    assert support_of("the of and", "the of and") == 0


@given(st.lists(st.sampled_from("abcd"), max_size=9), st.lists(st.sampled_from("abcd"), max_size=9))
def test_the_subsequence_equals_trying_all(a: list[str], b: list[str]) -> None:
    best = 0
    for code in range(1 << len(a)):
        chosen = [word for place, word in enumerate(a) if code >> place & 1]
        rest = iter(b)
        if all(word in rest for word in chosen):
            best = max(best, len(chosen))
    assert longest_common_subsequence(a, b) == best


def test_faithfulness_without_claims_or_context_is_unscored() -> None:
    assert faithfulness_by_words("The valve opens at nine bar", ["valves open at nine bar"]) == 1.0
    assert faithfulness_by_words("The valve opens slowly", ["valve"]) == pytest.approx(1 / 3)
    assert faithfulness_by_words("", ["valve"]) is None
    assert faithfulness_by_words("The valve opens", []) is None
