"""Files of judgements: read to the last line, or told with every fault."""

import json
import math
from pathlib import Path

import pytest

from lab.answers.judges.judgement import Preference, Score, read_judgements
from lab.answers.judges.orders import both_orders
from lab.answers.judges.queue import review_queue
from lab.errors import AnswersError


def written(folder: Path, *lines: object) -> Path:
    file = folder / "scores.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


def test_scores_and_preferences_are_read(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        {"query_id": "q2", "system": "s", "judge": "j", "score": 4, "confidence": 0.5, "words": 9},
        {"query_id": "q1", "system": "s", "judge": "j", "score": 3.5, "criterion": "fidelity"},
        {"query_id": "q1", "judge": "j", "first": "a", "second": "b", "winner": "tie"},
        {"query_id": "q3", "system": "s", "judge": "j", "unscored": "no context"},
    )
    scores, preferences = read_judgements(file)
    assert [score.query_id for score in scores] == ["q1", "q2"]
    assert scores[1] == Score("q2", "s", "j", "", 4.0, confidence=0.5, words=9)
    assert math.isnan(scores[0].confidence)
    assert preferences[0].chosen is None
    assert preferences[0] == Preference("q1", "j", "a", "b", "tie", preferences[0].confidence)


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    good = {"query_id": "q", "system": "s", "judge": "j", "score": 1}
    file = written(
        tmp_path,
        good,
        good,
        {"query_id": "q", "system": "", "judge": "j", "score": True, "scores": 1},
        {"query_id": "q", "judge": "j", "first": "a", "second": "a", "winner": "a"},
        {**good, "query_id": "r", "confidence": 2},
    )
    with pytest.raises(AnswersError) as fault:
        read_judgements(file)
    told = "\n".join(fault.value.problems)
    for part in (
        "stands twice",
        "unknown key 'scores'; did you mean 'score'?",
        "system is ''",
        "score is True",
        "winner is 'a'",
        "first and second are both 'a'",
        "confidence is 2",
    ):
        assert part in told
    with pytest.raises(AnswersError, match="holds no judgement"):
        read_judgements(written(tmp_path))


def test_the_queue_holds_the_unsure_and_the_self_contradicting() -> None:
    scores = [
        Score("q1", "s", "j", "fidelity", 3.0, confidence=0.59),
        Score("q2", "s", "j", "fidelity", 3.0, confidence=0.6),
        Score("q3", "s", "j", "", 3.0, confidence=0.1),
        Score("q4", "s", "j", "", 3.0),
    ]
    orders = both_orders(
        [Preference("q5", "j", "a", "b", "first"), Preference("q5", "j", "b", "a", "first")]
    )
    queue = review_queue(scores, orders)
    assert [(each.query_id, each.system) for each in queue] == [
        ("q3", "s"),
        ("q1", "s"),
        ("q5", "a / b"),
    ]
