"""Replies of judges are strict JSON; quotes stand in the passages or void the score."""

import json
from typing import Any

import pytest

from lab.answers.judges.reply import (
    ReplyError,
    quotes_missing,
    read_claims,
    read_verdict,
    read_verdicts,
)
from lab.answers.judges.rubric import read_rubric

SCORES = {"fidelity": 5, "need": 4, "completeness": 3, "relevance": 2}
RIGHT: dict[str, Any] = {
    "quotes": ["opens at 4 bar"],
    "scores": SCORES,
    "confidence": 0.9,
    "reason": "as the passage says",
}


def test_a_whole_reply_is_read_bare_or_fenced() -> None:
    text = json.dumps(RIGHT)
    for reply in (text, f"```json\n{text}\n```", f"  {text}\n"):
        verdict = read_verdict(reply, read_rubric())
        assert verdict.scores == SCORES
        assert verdict.confidence == 0.9
        assert verdict.quotes == ("opens at 4 bar",)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"confidence": 1.2}, "confidence is 1.2"),
        ({"confidence": "high"}, "confidence is 'high'"),
        ({"scores": {**SCORES, "relevance": 3}}, "relevance is 3; expected .* from 0 to 2"),
        ({"scores": {**SCORES, "need": 3.5}}, "need is 3.5"),
        ({"scores": {**SCORES, "need": True}}, "need is True"),
        ({"scores": {"need": 3}}, "scores is not one value for each"),
        ({"quotes": "opens"}, "quotes is no list of texts"),
        ({"extra": 1}, "expected the keys"),
        ({"reason": None}, "reason is no text"),
    ],
)
def test_another_reply_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ReplyError, match=said):
        read_verdict(json.dumps(RIGHT | change), read_rubric())


@pytest.mark.parametrize("text", ["", "I think 5.", '{"quotes": [', "[1]", "null", "{}", "NaN"])
def test_broken_json_is_refused(text: str) -> None:
    with pytest.raises(ReplyError):
        read_verdict(text, read_rubric())


def test_quotes_are_found_whatever_their_blanks_and_marks() -> None:
    contexts = ["The “pump” opens\n at 4 bar – at most.", "泵在4巴时打开。"]
    held = ['The "pump" opens at 4 bar - at most.', "泵在4巴时", "opens  at"]
    assert quotes_missing(held, contexts) == []
    missing = ["the pump opens", "opens at 5 bar", "", "the", "bar. 泵在4巴"]
    assert quotes_missing(missing, contexts) == missing


def test_claims_and_verdicts_are_read_whole_or_refused() -> None:
    assert read_claims('{"claims": ["a b", " a b ", "", "c"]}') == ("a b", "c")
    assert read_verdicts('{"verdicts": [1, 0]}', 2) == (1, 0)
    for text in ('{"verdicts": [1]}', '{"verdicts": [1, 2]}', '{"verdicts": [true, 0]}'):
        with pytest.raises(ReplyError):
            read_verdicts(text, 2)
