"""`lab judge` as a user runs it, against a real server on loopback that says recorded replies."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lab.answers.judges.chat import ChatError
from lab.answers.judges.judgement import read_judgements
from lab.cli import app
from lab.errors import AnswersError, ConfigError
from tests.answers.judges.chat_server import serving
from tests.answers.judges.test_reply import RIGHT, SCORES

RECORDED = Path(__file__).parent / "replies"
ANSWERS = [
    {
        "query_id": f"q{number}",
        "system": "s",
        "question": f"When does pump P{number} open?",
        "answer": f"It opens at {number} bar.",
        "contexts": [f"The pump P{number} opens at {number} bar."],
        "reference": f"{number} bar",
        "generator": "writer-1",
    }
    for number in range(4)
]


def good(body: dict[str, Any]) -> str:
    """A judge that quotes the passage it is shown."""
    passage = body["messages"][1]["content"].split("<passages>\n[1] ")[1].split("\n")[0]
    return json.dumps(RIGHT | {"quotes": [passage]})


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache.sqlite"))
    monkeypatch.setattr("lab.pipeline.hosted.server.LONGEST_WAIT", 0.01)


def written(tmp_path: Path, lines: list[dict[str, Any]]) -> Path:
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


def judged(tmp_path: Path, url: str, *more: str, lines: Any = ANSWERS) -> Any:
    out = tmp_path / "out"
    command = ["judge", str(written(tmp_path, lines)), "--url", url, "--out", str(out)]
    return CliRunner().invoke(app, [*command, "--model", "red-1", *more])


def lines_of(tmp_path: Path) -> list[dict[str, Any]]:
    text = (tmp_path / "out" / "judgements.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def manifest_of(tmp_path: Path) -> Any:
    return json.loads((tmp_path / "out" / "judge.json").read_text("utf-8"))


def test_every_score_keeps_what_it_rests_on(tmp_path: Path) -> None:
    with serving(good) as server:
        done = judged(tmp_path, server.url)
    assert done.exit_code == 0, done.output
    assert "4 of 4 answers scored" in done.output
    line = lines_of(tmp_path)[0]
    assert line["criterion"] == "fidelity"
    assert line["quotes"] == ["The pump P0 opens at 0 bar."]
    assert line["reason"] == "as the passage says"
    assert line["confidence"] == 0.9
    assert line["input"].index("<reference>\n0 bar") < line["input"].index("<answer>\nIt opens")
    assert "fluent" in line["input"]
    assert json.loads(line["output"])["scores"] == SCORES
    record = manifest_of(tmp_path)
    assert record["judge"].startswith("red-1#")
    assert record["judge"] == line["judge"]
    assert record["cost"][0]["prompt_tokens"] == 400
    assert record["means"] == {name: float(score) for name, score in SCORES.items()}
    scores, _ = read_judgements(tmp_path / "out" / "judgements.jsonl")
    assert len(scores) == 16
    assert scores[0].words == 5


def test_recorded_replies_are_scored_or_voided_and_counted(tmp_path: Path) -> None:
    recorded = {file.stem: file.read_text("utf-8") for file in sorted(RECORDED.iterdir())}
    lines = [{**ANSWERS[1], "query_id": name, "question": f"{name}?"} for name in recorded]

    def recall(body: dict[str, Any]) -> str:
        user = body["messages"][1]["content"]
        return recorded[user.split("<question>\n")[1].split("?")[0]]

    with serving(recall) as server:
        done = judged(tmp_path, server.url, lines=lines)
    assert done.exit_code == 0, done.output
    fate = {line["query_id"]: line.get("unscored", "") for line in lines_of(tmp_path)}
    assert fate["whole"] == fate["fenced"] == ""
    assert fate["invented_quote"] == "quote not in the context: opens at 9 bar"
    assert fate["no_quote"] == "no quote"
    for name in ("cut_off", "prose", "off_the_scale", "missing_criterion"):
        assert fate[name].startswith("broken reply: "), name
    assert manifest_of(tmp_path)["unscored"] == {
        "broken reply": 4,
        "no quote": 1,
        "quote not in the context": 1,
    }
    kept = {line["query_id"]: line["output"] for line in lines_of(tmp_path)}
    assert kept["prose"] == recorded["prose"]


def test_nothing_to_judge_is_unscored_and_not_sent(tmp_path: Path) -> None:
    lines = [
        {**ANSWERS[0], "contexts": []},
        {**ANSWERS[1], "answer": "  "},
        {**ANSWERS[2], "generator": "red-1"},
        ANSWERS[3],
    ]
    with serving(good) as server:
        done = judged(tmp_path, server.url, lines=lines)
        assert len(server.requests) == 1
    assert done.exit_code == 0
    assert [line["unscored"] for line in lines_of(tmp_path) if "unscored" in line] == [
        "no context",
        "no answer",
        "the judge wrote it itself",
    ]


def test_length_beyond_the_limit_costs_a_step_a_portion(tmp_path: Path) -> None:
    long = {**ANSWERS[0], "answer": "It opens at 0 bar. " * 50}
    with serving(good) as server:
        judged(tmp_path, server.url, lines=[long])
    line = {line["criterion"]: line for line in lines_of(tmp_path)}
    assert line["need"]["words"] == 250
    assert (line["need"]["given"], line["need"]["score"]) == (4, 3)
    assert (line["relevance"]["given"], line["relevance"]["score"]) == (2, 1)
    assert (line["fidelity"]["given"], line["fidelity"]["score"]) == (5, 5)


def test_a_server_that_dies_half_way_loses_nothing(tmp_path: Path) -> None:
    asked: list[int] = []

    def dying(body: dict[str, Any]) -> str | None:
        asked.append(1)
        return good(body) if len(asked) <= 2 else None

    alive = [False]
    with serving(lambda body: good(body) if alive[0] else dying(body)) as server:
        done = judged(tmp_path, server.url)
        assert isinstance(done.exception, ChatError)
        assert "2 of 4 answers are judged and kept" in str(done.exception)
        assert not (tmp_path / "out").exists()
        alive[0] = True
        before = len(server.requests)
        again = judged(tmp_path, server.url)
        assert again.exit_code == 0, again.output
        assert len(server.requests) == before + 2
        cost = manifest_of(tmp_path)["cost"][0]
        assert (cost["calls"], cost["calls_now"]) == (4, 2)
        first = (tmp_path / "out" / "judgements.jsonl").read_bytes()
        judged(tmp_path, server.url)
        assert len(server.requests) == before + 2
        assert (tmp_path / "out" / "judgements.jsonl").read_bytes() == first


def test_a_second_model_checks_scores_against_their_quotes(tmp_path: Path) -> None:
    def both(body: dict[str, Any]) -> str:
        if body["model"] == "red-1":
            return good(body)
        assert "<passages>" not in body["messages"][1]["content"]
        assert "<quotes>\n[1] The pump P" in body["messages"][1]["content"]
        return json.dumps({"agrees": dict.fromkeys(SCORES, True) | {"need": False}, "reason": "x"})

    with serving(both) as server:
        done = judged(tmp_path, server.url, "--audit", "blue-2")
    assert done.exit_code == 0, done.output
    record = manifest_of(tmp_path)
    assert record["audit"]["disagrees"] == {
        "fidelity": 0, "need": 4, "completeness": 0, "relevance": 0,
    }  # fmt: skip
    assert record["cost"][1]["model"] == "blue-2"
    audits = {line["criterion"]: line["audit"]["agrees"] for line in lines_of(tmp_path)}
    assert audits["need"] is False
    assert audits["fidelity"] is True
    refused = judged(tmp_path, "http://127.0.0.1:9/v1", "--audit", "red-1")
    assert isinstance(refused.exception, ConfigError)


def test_claims_are_extracted_once_and_kept(tmp_path: Path) -> None:
    def say(body: dict[str, Any]) -> str:
        system = body["messages"][0]["content"]
        if system.startswith("Split"):
            nothing = "P3" in body["messages"][1]["content"]
            return json.dumps({"claims": [] if nothing else ["a b", "c d", "e f", "g h", "i j"]})
        if system.startswith("For every numbered claim"):
            return json.dumps({"verdicts": [1, 1, 0, 1, 1]})
        return good(body)

    file = tmp_path / "claims.jsonl"
    with serving(say) as server:
        done = judged(tmp_path, server.url, "--claims", str(file))
        assert done.exit_code == 0, done.output
        record = manifest_of(tmp_path)["claims"]
        assert record["faithfulness"] == pytest.approx(0.8)
        assert record["claims_per_answer"] == 5
        assert record["words_per_claim"] == 2
        assert record["unscored"] == {"no claims": 1}
        before = [r for r in server.requests if r["messages"][0]["content"].startswith("Split")]
        assert len(before) == 4
        judged(tmp_path, server.url, "--claims", str(file), "--seed", "7")
        after = [r for r in server.requests if r["messages"][0]["content"].startswith("Split")]
        assert len(after) == 4
    rows = [line for line in lines_of(tmp_path) if line.get("criterion") == "faithfulness"]
    assert [row.get("score") for row in rows] == pytest.approx([0.8, 0.8, 0.8, None])
    assert rows[3]["unscored"] == "no claims"


def test_another_rubric_or_seed_is_another_judge(tmp_path: Path) -> None:
    names = []
    with serving(good) as server:
        for more in ([], ["--seed", "1"], []):
            judged(tmp_path, server.url, *more)
            names.append(manifest_of(tmp_path)["judge"])
    assert names[0] == names[2] != names[1]


def test_no_key_reaches_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_JUDGE_KEY", "k-very-secret")
    with serving(good) as server:
        done = judged(tmp_path, server.url)
        assert server.keys[0] == "Bearer k-very-secret"
    assert "k-very-secret" not in done.output
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) >= 4
    assert not any(b"k-very-secret" in file.read_bytes() for file in files)


def test_faulty_answers_and_a_taken_folder_are_told_before_any_call(tmp_path: Path) -> None:
    with serving(good) as server:
        lines = [{**ANSWERS[0], "question": ""}, {**ANSWERS[1], "contexts": [3]}, {"x": 1}]
        done = judged(tmp_path, server.url, lines=lines)
        assert isinstance(done.exception, AnswersError)
        told = "\n".join(done.exception.problems)
        for part in ("question is ''; expected text; or name the run", "context 1 has no text"):
            assert part in told
        assert "unknown key 'x'" in told
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "mine.txt").write_text("mine", "utf-8")
        done = judged(tmp_path, server.url)
        assert isinstance(done.exception, AnswersError)
        assert "holds no judgements" in str(done.exception)
        assert not server.requests
