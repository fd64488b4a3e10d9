"""Identifiers by shape, and their near misses."""

import pytest

from lab.sets.identifiers import find_identifiers, is_identifier, siblings


@pytest.mark.parametrize(
    "word",
    [
        "E-4012",
        "PN-77310-A",
        "C2065",
        "v2.3.1",
        "4.12.1",
        "--dry-run",
        "MAX_RETRY",
        "SKU_12/B",
        "LNK2019",
        "A1.12",
    ],
)
def test_shape_of_an_identifier(word: str) -> None:
    assert is_identifier(word)


@pytest.mark.parametrize(
    "word",
    [
        "10mm",
        "3rd",
        "2024-05-01",
        "12:30",
        "50-60",
        "pump",
        "utf8",
        "H1",
        "NDCG",
        "C2048.cpp",
        "80kJ/mol",
        "1.5",
    ],
)
def test_amounts_dates_files_and_words_are_no_identifiers(word: str) -> None:
    assert not is_identifier(word)


def test_offsets_are_those_of_the_text_also_inside_chinese() -> None:
    text = "错误码E-4012表示压力低，见 PN-77310-A 和ＳＫＵ＿１２／Ｂ。"
    found = list(find_identifiers(text))
    assert [name for _, name in found] == ["E-4012", "PN-77310-A", "SKU_12/B"]
    assert [text[start:end] for (start, end), _ in found] == [
        "E-4012",
        "PN-77310-A",
        "ＳＫＵ＿１２／Ｂ",
    ]


def test_siblings_differ_by_one_character_or_by_order_within_one_shape() -> None:
    near = siblings(["E-4012", "E-4021", "E-4102", "E-4013", "E-5555", "E-401A", "PN-4012"])
    assert near["E-4012"] == ("E-4013", "E-4021", "E-4102")
    assert near["E-5555"] == ()
    assert near["E-401A"] == ()  # another shape
