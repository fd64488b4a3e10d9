"""Many quotes found at once: the same places as a search a quote, in time that does not grow with
their number."""

import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.relevance.folded import folded
from lab.relevance.locate import find_quote, nearest_text
from lab.relevance.quotes import Quotes

TEXTS = st.text(alphabet="ab c\n水\u00a0", max_size=80)


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, quotes=st.lists(st.text(alphabet="ab c水", min_size=1, max_size=9), max_size=8))
def test_places_are_those_of_a_search_a_quote(text: str, quotes: list[str]) -> None:
    quotes = [*quotes, *(text[n : n + 7] for n in range(0, len(text), 11))]
    found = {quote: starts.tolist() for quote, starts in Quotes(quotes).places(text)}
    expected = {
        quote: [match.start() for match in re.finditer(f"(?={re.escape(quote)})", text)]
        for quote in quotes
        if quote
    }
    assert found == {quote: starts for quote, starts in expected.items() if starts}


@settings(max_examples=300, deadline=None)
@given(text=TEXTS, quote=st.text(alphabet="ab c", min_size=1, max_size=6))
def test_a_quote_is_found_with_its_white_space_folded(text: str, quote: str) -> None:
    exact = [
        (m.start(), m.start() + len(quote)) for m in re.finditer(f"(?={re.escape(quote)})", text)
    ]
    words = r"\s+".join(map(re.escape, quote.split()))
    spaced = [m.span(1) for m in re.finditer(f"(?=({words}))", text)] if quote.split() else []
    assert find_quote(text, quote) == (exact or spaced)


@given(text=TEXTS)
def test_folding_keeps_where_every_character_stands(text: str) -> None:
    spaced = folded(text)
    assert spaced.text == " ".join(text.split())
    for place, character in enumerate(spaced.text):
        start, end = spaced.span(place, 1)
        assert end == start + 1
        assert text[start] == character or (character == " " and text[start].isspace())


def test_time_does_not_grow_with_the_number_of_quotes_times_the_text() -> None:
    random = np.random.default_rng(1)

    def seconds(size: int) -> float:
        text = "".join(random.choice(list("abcdefgh "), size * 900))
        quotes = ["".join(random.choice(list("abcdefgh "), 40)) for _ in range(size * 2)]
        text += quotes[0]
        best = []
        for _ in range(3):
            begin = time.process_time()
            found = [quote for quote, _ in Quotes(quotes).places(text)]
            best.append(time.process_time() - begin)
            assert found == [quotes[0]]
        return min(best)

    small, large = seconds(100), seconds(800)
    # A search a quote would take 64 times as long.
    assert large < 20 * small


def test_the_nearest_text_is_found_for_long_quotes_too() -> None:
    text = (
        "filler words here. " * 2000
        + "The seal SL-9 must be checked after nine hours. "
        + "end. " * 900
    )
    quote = "The seal SL-8 must be checked after nine hours. " + "and so on " * 20_000
    assert "SL-9 must be checked" in nearest_text(text, quote)


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("opens at 6.5 bar \u2013 never higher", "bar - never", "bar \u2013 never"),
        ("he said \u201cstop\u201d twice", 'said "stop"', "said \u201cstop\u201d"),
        ("it\u2019s  the\u00a0pump", "it's the pump", "it\u2019s  the\u00a0pump"),
        ("minus \u22125 degrees", "minus -5", "minus \u22125"),
        ("the O\u0308lpumpe leaks", "\u00d6lpumpe leaks", "O\u0308lpumpe leaks"),
        ("the \u00d6lpumpe leaks", "O\u0308lpumpe  leaks", "\u00d6lpumpe leaks"),
    ],
)
def test_quotes_with_other_signs_than_the_text_are_found(text: str, quote: str, found: str) -> None:
    """As word processors and keyboards write them for each other."""
    ((start, end),) = find_quote(text, quote)
    assert text[start:end] == found


def test_letters_are_never_taken_for_others() -> None:
    assert find_quote("the pump leaks", "the pump leak\u00e9") == []
    assert find_quote("a-b", "a b") == []
    assert find_quote("the cafe\u0301", "the cafe") == [(0, 8)]  # as letters stand


def test_the_nearest_text_is_of_whole_words() -> None:
    text = "Drain it. Filters are cleaned weekly. Never use solvent."
    assert nearest_text(text, "Filter are cleaned weekly") == "Filters are cleaned weekly."
