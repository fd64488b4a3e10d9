"""Correlations with people in experiments/README.md come back from the public sets."""

from pathlib import Path

import pytest

from tests.conftest import ROOT

README = (ROOT / "experiments" / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("with_reference", "count", "expected"), [(True, 450, 0.64), (False, 300, 0.71)]
)
def test_faithfulness_by_words_agrees_with_people(
    shared: Path,
    monkeypatch: pytest.MonkeyPatch,
    with_reference: bool,
    count: int,
    expected: float,
) -> None:
    people = pytest.importorskip("experiments.people")
    monkeypatch.setattr(people, "RESAMPLES", 1)
    answers, (correlation, *_) = people.mtrag(shared, with_reference)[
        "faithful (words)", "people: faithfulness"
    ]
    assert answers == count
    assert round(correlation, 2) == expected
    assert f"| faithful (words) | {count} | {expected:.2f} [" in README


def test_judges_and_preferences_agree_with_people(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = pytest.importorskip("experiments.people")
    monkeypatch.setattr(people, "RESAMPLES", 1)
    judges = people.llmjudge(shared)
    assert len(judges) == 33
    pairs = people.ragchecker(shared)
    for (measure, column), (count, (correlation, *_)) in {**judges, **pairs}.items():
        if column in ("people: relevance", "people: correctness"):
            assert f"| {measure} | {count:,} | {correlation:.2f} [" in README, measure
