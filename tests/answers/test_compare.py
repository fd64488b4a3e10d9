"""Answers kept in a run folder: their tables, two pipelines side by side, and a gate on the
judge's confidence."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import lab
from lab.answers.table import read_answer_tables
from lab.cli import app
from lab.errors import AnswersError, ConfigError, RunError

COUNT = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("compared")
    texts = [f"The pump P{n} opens at {n + 3} bar. It is painted green." for n in range(COUNT)]
    documents = [{"doc_id": f"d{n}", "text": text} for n, text in enumerate(texts)]
    questions = [
        {
            "query_id": f"q{n:02}",
            "text": f"At how many bar does pump P{n} open?",
            "answer": f"{n + 3} bar",
            "answer_type": "fact",
            "evidence": [{"doc_id": f"d{n}", "start": 0, "end": text.index(" It")}],
        }
        for n, text in enumerate(texts)
    ]
    written(place / "documents.jsonl", documents)
    written(place / "questions.jsonl", questions)
    grid = lab.Grid(chunk_size=60, mode="bm25")
    run = lab.sweep(place / "documents.jsonl", place / "questions.jsonl", grid, progress=False)
    run.write(place / "run")
    return place


def written(file: Path, lines: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


def measured(folder: Path, *more: str) -> Any:
    system = lab.read_run(folder / "run").recommended
    lines = []
    for n in range(COUNT):
        right, wrong = f"It opens at {n + 3} bar.", "It is made of purple cheese."
        lines.append({"query_id": f"q{n:02}", "system": system, "answer": right})
        lines.append({"query_id": f"q{n:02}", "system": "gold", "answer": right})
        lines.append({"query_id": f"q{n:02}", "system": "none", "answer": wrong})
    file = written(folder / "answers.jsonl", lines)
    return CliRunner().invoke(app, ["answers", str(folder / "run"), "--answers", str(file), *more])


def test_tables_are_kept_in_the_run_and_its_report_still_opens(folder: Path) -> None:
    done = measured(folder, "--into")
    assert done.exit_code == 0, done.output
    tables = read_answer_tables(folder / "run")
    assert tables is not None
    assert len(tables.answers) == 3 * COUNT
    assert {"query_id", "system", "answer", "score", "faithfulness"} <= set(tables.answers.columns)
    gold = tables.sentences[tables.sentences["system"] == "gold"]
    assert set(gold["source"]) == {"core"}
    assert gold["text"].str.startswith("The pump P").all()
    row = gold.iloc[0]
    text = lab.read_run(folder / "run").corpus[row["doc_id"]].text
    assert text[int(row["shown_start"]) : int(row["shown_end"])] == row["text"]
    nowhere = tables.sentences[tables.sentences["system"] == "none"]
    assert set(nowhere["source"]) == {"nowhere"}
    assert nowhere["rank"].isna().all()
    assert list(tables.losses["slice"]) == ["all", "fact"]
    assert CliRunner().invoke(app, ["report", str(folder / "run")]).exit_code == 0


def test_two_pipelines_stand_side_by_side(folder: Path) -> None:
    measured(folder, "--into")
    run = str(folder / "run")
    command = ["compare", run, run, "--answers", "--system-a", "none"]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    lines = {line["metric"]: line for line in json.loads(done.output)["lines"]}
    assert lines["score"]["questions"] == COUNT
    assert lines["score"]["verdict"] == "better"
    assert lines["score"]["low"] > 0
    assert "order" not in lines
    shown = CliRunner().invoke(app, command)
    assert "95% interval" in shown.output
    assert "▲ better" in shown.output or "better" in shown.output
    back = CliRunner().invoke(
        app, ["compare", run, run, "--answers", "--system-b", "none", "--json"]
    )
    lines = {line["metric"]: line for line in json.loads(back.output)["lines"]}
    assert lines["score"]["verdict"] == "worse"
    same = CliRunner().invoke(
        app, ["compare", run, run, "--answers", "--system-a", "gold", "--json"]
    )
    lines = {line["metric"]: line for line in json.loads(same.output)["lines"]}
    assert lines["score"]["verdict"] == "same"


def test_answers_that_are_not_there_are_told(folder: Path) -> None:
    run = str(folder / "run")
    measured(folder, "--into")
    done = CliRunner().invoke(app, ["compare", run, run, "--answers", "--system-a", "golden"])
    assert done.exit_code
    other = folder / "other"
    if not other.exists():
        grid = lab.Grid(chunk_size=60, mode="bm25")
        documents, questions = folder / "documents.jsonl", folder / "questions.jsonl"
        lab.sweep(documents, questions, grid, progress=False).write(other)
    done = CliRunner().invoke(app, ["compare", run, str(other), "--answers"])
    assert isinstance(done.exception, AnswersError)
    assert "--into" in str(done.exception)


def test_a_measure_of_ones_own_runs_only_if_allowed(folder: Path) -> None:
    file = folder / "mine.py"
    file.write_text("def short(case):\n    return float(len(case.answer) < 26)\n", "utf-8")
    refused = measured(folder, "--metric", f"{file}:short")
    assert isinstance(refused.exception, ConfigError)
    done = measured(folder, "--metric", f"{file}:short", "--allow-commands", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["means"]["none"]["short"] == 0
    assert json.loads(done.output)["means"]["gold"]["short"] == 1
    assert "short" in measured(folder, "--metric", f"{file}:short", "--allow-commands").output


@pytest.mark.parametrize(("unsure", "code"), [(2, 0), (4, 1)])
def test_a_gate_limits_the_share_of_unsure_scores(
    folder: Path, tmp_path: Path, unsure: int, code: int
) -> None:
    scores = [{"confidence": 0.5 if n < unsure else 0.9} for n in range(20)]
    judged = written(tmp_path / "judgements.jsonl", [*scores, {"unscored": "no context"}])
    rules = tmp_path / "rules.toml"
    rules.write_text(f'[[rule]]\njudgements = "{judged}"\nlow_confidence_share = 0.1\n', "utf-8")
    run = str(folder / "run")
    done = CliRunner().invoke(app, ["gate", run, "--baseline", run, "--rules", str(rules)])
    assert done.exit_code == code, done.output
    assert f"{unsure} of 20 scores below 0.6" in " ".join(done.output.split())


def test_judgements_without_a_number_are_refused(folder: Path, tmp_path: Path) -> None:
    judged = written(tmp_path / "judgements.jsonl", [{"confidence": "high"}])
    rules = tmp_path / "rules.toml"
    rules.write_text(f'[[rule]]\njudgements = "{judged}"\nlow_confidence_share = 0.1\n', "utf-8")
    run = str(folder / "run")
    done = CliRunner().invoke(app, ["gate", run, "--baseline", run, "--rules", str(rules)])
    assert isinstance(done.exception, RunError)
    assert "confidence is 'high'" in str(done.exception)
