"""What characters are matched as, over all of Unicode: nothing invisible, one case, one digit."""

import sys
import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from lab.retrieval.folding import fold

CHARACTERS = [chr(i) for i in range(sys.maxunicode + 1) if not 0xD800 <= i < 0xE000]
LETTERS = [c for c in CHARACTERS if unicodedata.category(c)[0] == "L"]


def test_every_letter_meets_its_upper_lower_and_title_case_form() -> None:
    for letter in LETTERS:
        for other in (letter.upper(), letter.lower(), letter.title(), letter.casefold()):
            assert fold(f"a{other}b") == fold(f"a{letter}b"), (letter, other)


@given(st.text(st.characters(categories=["L", "M", "N"]), max_size=12))
def test_a_word_and_its_upper_case_form_fold_alike(word: str) -> None:
    composed = unicodedata.normalize("NFC", word)
    assert fold(composed) == fold(unicodedata.normalize("NFC", composed.upper()))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("diyarbakır", "DIYARBAKIR"),
        ("İSTANBUL", "istanbul"),
        ("Straße", "STRASSE"),
        ("οδος", "ΟΔΟΣ"),
        ("Ꮳꮃꭹ", "ᏣᎳᎩ"),
        ("ꭰꮃ", "ᎠᎳ"),
        ("თბილისი", "ᲗᲑᲘᲚᲘᲡᲘ"),
        ("ŉ", "ʼN"),
        ("ﬁlter", "FILTER"),
        ("ſeal", "SEAL"),
        ("\u01c4", "\u01c6"),
    ],
)
def test_cases_of_many_scripts(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_no_default_ignorable_code_point_is_left() -> None:
    ignorable = regex.compile(r"\p{Default_Ignorable_Code_Point}")
    invisible = [c for c in CHARACTERS if ignorable.match(c)]
    assert len(invisible) > 4_000
    for character in invisible:
        assert fold(f"ERR{character}-4042") == "err-4042", hex(ord(character))


def test_every_decimal_digit_is_an_ascii_digit() -> None:
    for character in CHARACTERS:
        if unicodedata.category(character) == "Nd":
            assert fold(character) == str(unicodedata.decimal(character))


@pytest.mark.parametrize("mark", "\u0640\u064b\u064c\u064e\u0650\u0651\u0652\u0670\u05b8\u0730")
def test_what_arabic_hebrew_and_syriac_leave_out_is_ignored(mark: str) -> None:
    assert fold(f"م{mark}ح") == "مح"


def test_hamza_and_madda_are_letters() -> None:
    assert fold("\u0627\u0653") == fold("\u0622") != fold("\u0627")


def test_fractions_stand_by_themselves_and_trade_marks_say_nothing() -> None:
    assert fold("2½") == "2 1/2"
    assert fold("Foo™®©℠Bar").split() == ["foo", "bar"]


@given(st.text(max_size=20))
def test_folding_again_changes_nothing(text: str) -> None:
    # A dot above that was parted from its i by another mark is the one exception: it may come next.
    once = fold(text)
    assert fold(once) == once or "\u0307" in once
