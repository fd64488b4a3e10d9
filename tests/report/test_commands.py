"""lab show, lab report and lab export on a finished run, and a tracker that does not exist."""

import json

import pytest
from typer.testing import CliRunner

from lab.cli import app
from lab.corpus.read import read_corpus
from lab.errors import LabError
from lab.relevance.read import read_diagnostics
from lab.runs.folder import write_run
from tests.report.given_run import TEXTS, small_queries, small_run

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The small run with its documents and questions beside it, as `lab run` leaves them."""
    home = tmp_path_factory.mktemp("finished")
    lines = [json.dumps({"doc_id": doc_id, "text": text}) for doc_id, text in TEXTS.items()]
    (home / "documents.jsonl").write_text("\n".join(lines), "utf-8")
    questions = [
        {
            "query_id": q.query_id,
            "text": q.text,
            "kind": q.kind,
            "tags": dict(q.tags),
            "answer": q.answer,
            "evidence": [{"doc_id": e.doc_id, "start": e.start, "end": e.end} for e in q.evidence],
        }
        for q in small_queries()
    ]
    (home / "questions.jsonl").write_text("\n".join(map(json.dumps, questions)), "utf-8")
    corpus = read_corpus(home / "documents.jsonl")
    queries = read_diagnostics(home / "questions.jsonl", corpus)
    run = small_run(corpus, queries)
    return write_run(run.tables, home / "run")


def test_show_prints_the_first_screen(folder):
    done = RUNNER.invoke(app, ["show", str(folder)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "Nothing can be concluded" in done.stdout
    assert "cheapest of those not told apart: " in done.stdout


def test_report_is_written_into_the_run_and_only_the_report(folder, html):
    before = {
        file.name: file.read_bytes() for file in folder.iterdir() if file.name != "report.html"
    }
    done = RUNNER.invoke(app, ["report", str(folder)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "report.html" in done.stdout.replace("\n", "")
    assert len((folder / "report.html").read_text("utf-8")) == pytest.approx(len(html), rel=0.01)
    assert {
        file.name: file.read_bytes() for file in folder.iterdir() if file.name != "report.html"
    } == before


def test_export_names_its_folder(folder):
    done = RUNNER.invoke(app, ["export", str(folder), "--to", "csv"], catch_exceptions=False)
    assert "5 files" in done.stdout
    assert (folder / "export" / "csv" / "systems.csv").is_file()


@pytest.mark.parametrize(
    "arguments", [["export", "RUN", "--to", "xlsx"], ["show", "nowhere"], ["report", "nowhere"]]
)
def test_wrong_input_is_told(folder, arguments):
    done = RUNNER.invoke(app, [str(folder) if word == "RUN" else word for word in arguments])
    assert isinstance(done.exception, LabError)


def test_what_a_run_writes_holds_the_report(run, tmp_path):
    assert (
        (run.write(tmp_path / "run") / "report.html")
        .read_text("utf-8")
        .startswith("<!doctype html>")
    )
