"""Own measures of answers: named, called with everything, refused where they say no share."""

from pathlib import Path
from typing import Any

import pytest

import lab
from lab.answers.answer import Answer
from lab.answers.case import Case
from lab.answers.measured import means, measure_answers
from lab.answers.own import load_measures, measured_by, named
from lab.errors import ConfigError

CASE = Case("q", "s", "how much?", "4 bar", ("It opens at 4 bar.",), "4 bar")
FILE = """
def says_bar(case):
    return 1.0 if "bar" in case.answer else 0

class Short:
    name = "short"
    def __init__(self):
        self.limit = 3
    def __call__(self, case):
        return None if not case.contexts else float(len(case.answer.split()) <= self.limit)
"""


def test_functions_and_classes_are_loaded_and_measure(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FILE, "utf-8")
    measures = load_measures([f"{file}:says_bar", f"{file}:Short"])
    by_name = named(measures, ("score",))
    assert list(by_name) == ["says_bar", "short"]
    corpus = lab.Corpus([lab.Document("d", "It opens at 4 bar.")])
    query = lab.Query("q", "how much?", evidence=(lab.Evidence("d", 0, 18),), answer="4 bar")
    run = lab.sweep(corpus, [query], lab.Grid(mode="bm25"), progress=False)
    answers = [Answer("q", "gold", "4 bar"), Answer("q", "none", "no idea at all")]
    rows = measure_answers(run, answers, 5, measures)
    assert [row.values["says_bar"] for row in rows] == [1.0, 0.0]
    assert [row.values["short"] for row in rows] == [1.0, None]
    assert means(rows)["gold"]["short"] == 1.0


@pytest.mark.parametrize("value", [2, -0.1, "high", float("nan"), []])
def test_anything_but_a_share_is_refused(value: Any) -> None:
    with pytest.raises(ConfigError, match="expected a number from 0 to 1, or None"):
        measured_by("mine", lambda case: value, CASE)


def test_a_failing_measure_says_where() -> None:
    def fails(case: Case) -> float:
        raise KeyError("x")

    with pytest.raises(ConfigError, match=r"measure 'fails' on 'q' \(s\) failed: KeyError"):
        measured_by("fails", fails, CASE)


def test_names_are_distinct() -> None:
    def score(case: Case) -> float:
        return 1.0

    with pytest.raises(ConfigError, match="'score' is there already"):
        named([score], ("score",))
    with pytest.raises(ConfigError, match="has no name"):
        named([lambda case: 1.0], ())
