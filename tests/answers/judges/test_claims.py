"""Faithfulness and relevancy are RAGAS': what the package ragas said to the same replies of a model
is recorded by `experiments/ragas/record.py`."""

import json
from pathlib import Path

import numpy as np
import pytest

from lab.answers.judges.claims import answer_relevancy, faithfulness, read_claims_file
from lab.errors import AnswersError

RAGAS = json.loads((Path(__file__).parent / "ragas.json").read_text("utf-8"))


def test_the_record_is_of_the_package_and_has_the_cases_that_matter() -> None:
    assert RAGAS["ragas"] == "0.4.3"
    assert len(RAGAS["faithfulness"]) == 5
    assert len(RAGAS["relevancy"]) == 4


@pytest.mark.parametrize("case", RAGAS["faithfulness"])
def test_faithfulness_is_that_of_ragas(case: dict[str, list[int]]) -> None:
    assert faithfulness(case["verdicts"]) == case["score"]


@pytest.mark.parametrize("case", RAGAS["relevancy"])
def test_relevancy_is_that_of_ragas(case: dict[str, list[float]]) -> None:
    score = answer_relevancy(
        np.array(case["question"], dtype=np.float64),
        np.array(case["generated"], dtype=np.float64),
        [bool(empty) for empty in case["noncommittal"]],
    )
    assert score == pytest.approx(case["score"], abs=1e-12)


def test_figures_known_by_hand() -> None:
    assert faithfulness([1, 1, 1, 1, 0]) == 0.8
    # Cosines 1, 0.9 and 0.839.
    generated = np.array([[1, 0], [0.9, np.sqrt(0.19)], [0.839, np.sqrt(1 - 0.839**2)]])
    score = answer_relevancy(np.array([1.0, 0.0]), generated, [False] * 3)
    assert score == pytest.approx(0.913, abs=1e-9)
    assert answer_relevancy(np.array([1.0, 0.0]), generated, [True] * 3) == 0


def test_nothing_to_count_is_unscored() -> None:
    assert faithfulness([]) is None
    assert answer_relevancy(np.ones(2), np.zeros((0, 2)), []) is None
    assert answer_relevancy(np.ones(2), np.zeros((1, 2)), [False]) is None


def test_kept_claims_are_read_whole_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "claims.jsonl"
    assert read_claims_file(file) == {}
    file.write_text('{"query_id": "q", "system": "s", "claims": ["a", "b"]}\n', "utf-8")
    assert read_claims_file(file) == {("q", "s"): ("a", "b")}
    file.write_text('{"query_id": "q", "system": 3, "claims": []}\n{"query_id": "q"}\n', "utf-8")
    with pytest.raises(AnswersError) as fault:
        read_claims_file(file)
    assert len(fault.value.problems) == 2
