"""The first screen in words: the headline never promises more than the choice, ties and costs are
told."""

from typing import Any

import pytest

from lab.report.sentences import choice_word, headline, sentences

SHORT = {"a": "alpha", "b": "beta", "c": "gamma"}


def found(**changes: Any) -> dict[str, Any]:
    """The conclusions of a run of 12 systems over 40 documents, one thing changed."""
    conclusions: dict[str, Any] = {
        "select_by": "ndcg@10",
        "unit": "document",
        "units": 40,
        "documents": 40,
        "best": {"system": "a", "mean": 0.8},
        "recommended": {"system": "a", "mean": 0.8},
        "verdicts": {
            "better": 0,
            "worse": 4,
            "undecided": 5,
            "cannot be settled": 2,
            "same": 0,
        },
        "not_comparable": {},
        "tied": [],
        "cheaper": {},
        "units_needed": {"least": 6, "tenth": 32},
        "honest": {"apparent": 0.8, "estimate": 0.78, "interval": [0.7, 0.85], "optimism": 0.02},
        "runner_up": None,
        "detectable_difference": {"ndcg@10": {"planned": 0.08, "in_grid": 0.12}},
        "sealed": None,
    }
    return conclusions | changes


def verdicts(**counts: int) -> dict[str, int]:
    empty = dict.fromkeys(("better", "worse", "undecided", "cannot be settled", "same"), 0)
    return empty | counts


@pytest.mark.parametrize(
    ("changes", "begins", "word"),
    [
        ({}, "4 of 11 other systems are worse than the best beyond chance", "recommended"),
        (
            {"units": 5, "verdicts": verdicts(undecided=11)},
            "Nothing can be concluded: 5 documents cannot tell any difference from chance; it "
            "takes 6 at least, about 32 for one of 0.1.",
            "cheapest of those not told apart",
        ),
        (
            {"verdicts": verdicts(undecided=11)},
            "No choice can be made: with 40 documents none of the 11 other systems",
            "cheapest of those not told apart",
        ),
        ({"verdicts": verdicts(worse=11)}, "Every other system is worse", "recommended"),
        ({"verdicts": verdicts()}, "One system was measured", "recommended"),
    ],
)
def test_the_headline_says_what_may_be_concluded(
    changes: dict[str, Any], begins: str, word: str
) -> None:
    assert headline(found(**changes)).startswith(begins)
    assert choice_word(found(**changes)) == word


def test_undecided_is_parted_from_what_cannot_be_settled() -> None:
    said = " ".join(sentences(found(), SHORT))
    assert "5 undecided (~) and 2 cannot be settled (?" in said


def test_what_the_recommended_one_is_cheaper_in_is_said() -> None:
    cheaper = {"context tokens": [540.0, 877.0], "stages": [2.0, 5.0]}
    said = sentences(found(recommended={"system": "b", "mean": 0.79}, cheaper=cheaper), SHORT)
    assert "It is cheaper in context tokens (540 for 877) and stages (2 for 5)." in said[0]


def test_ties_are_told() -> None:
    said = " ".join(sentences(found(tied=["b", "c"]), SHORT))
    assert "beta and gamma have the same mean as the best" in said


def test_what_it_would_take_is_said_in_documents_and_questions() -> None:
    second = {"system": "b", "verdict": "undecided", "units_needed": 90, "questions_needed": 360}
    said = " ".join(sentences(found(runner_up=second), SHORT))
    assert "would take about 90 documents (360 questions)" in said


def test_a_single_document_is_named_as_the_ground() -> None:
    said = " ".join(sentences(found(unit="question", units=40, documents=1), SHORT))
    assert "holds for questions about it" in said
