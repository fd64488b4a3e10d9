"""The report's section on answers: the table of losses, and answers beside the evidence with their
sentences marked."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lab
from lab.answers.table import read_answer_tables
from lab.cli import app
from lab.report.page.answers import answer_section
from lab.report.page.page import page

COUNT = 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pumps; the system's answers are right, and each holds a sentence from nowhere that would be
    markup."""
    place = tmp_path_factory.mktemp("answered")
    texts = [f"The pump P{n} opens at {n + 3} bar. It is painted green." for n in range(COUNT)]
    corpus = lab.Corpus(lab.Document(f"d{n}", text) for n, text in enumerate(texts))
    queries = [
        lab.Query(
            f"q{n:02}",
            f"At how many bar does pump P{n} open?",
            evidence=(lab.Evidence(f"d{n}", 0, text.index(" It")),),
            answer=f"{n + 3} bar",
            answer_type="fact",
        )
        for n, text in enumerate(texts)
    ]
    lab.sweep(corpus, queries, lab.Grid(chunk_size=60, mode="bm25"), progress=False).write(
        place / "run"
    )
    (place / "documents.jsonl").write_text(
        "".join(json.dumps(document.record) + "\n" for document in corpus), "utf-8"
    )
    system = lab.read_run(place / "run", corpus=corpus).recommended
    lines = []
    for n in range(COUNT):
        right = f"The pump P{n} opens at {n + 3} bar. Purple cheese <b>flies</b> backwards."
        lines.append({"query_id": f"q{n:02}", "system": system, "answer": right})
        lines.append({"query_id": f"q{n:02}", "system": "gold", "answer": f"{n + 3} bar"})
    answers = place / "answers.jsonl"
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    command = ["answers", str(place / "run"), "--answers", str(answers), "--into"]
    done = CliRunner().invoke(app, [*command, "--corpus", str(place / "documents.jsonl")])
    assert done.exit_code == 0, done.output
    return place


@pytest.fixture(scope="module")
def run(folder: Path) -> lab.Run:
    return lab.read_run(folder / "run", corpus=folder / "documents.jsonl")


def test_sentences_are_marked_by_what_supports_them(folder: Path, run: lab.Run) -> None:
    tables = read_answer_tables(folder / "run")
    assert tables is not None
    section = answer_section(run, tables)
    answered = [shown for shown in section.answers if shown.system == run.recommended]
    assert len(answered) == COUNT
    for shown in answered:
        assert [part.source for part in shown.stretches if part.source] == ["core", "nowhere"]
        written = "".join(part.text for part in shown.stretches)
        n = int(shown.query.query_id[1:])
        assert (
            written == f"The pump P{n} opens at {n + 3} bar. Purple cheese <b>flies</b> backwards."
        )
        assert shown.evidence == [(f"d{n}", f"The pump P{n} opens at {n + 3} bar.")]


def test_losses_and_means_are_those_that_were_kept(folder: Path, run: lab.Run) -> None:
    tables = read_answer_tables(folder / "run")
    assert tables is not None
    html = page(run, None, tables)
    for row in tables.losses.to_dict("records"):
        assert f"{row['slice']}: {row['retrieval']:+.3f} lost to retrieval" in html
    means = tables.answers.groupby("system")["faithfulness"].mean()
    assert f"{means[run.recommended]:.3f}" in html
    assert "<b>flies" not in html
    assert "&lt;b&gt;flies" in html
    assert '<a href="#answers">' in html


def test_lab_report_takes_them_up(folder: Path) -> None:
    command = ["report", str(folder / "run"), "--corpus", str(folder / "documents.jsonl")]
    assert CliRunner().invoke(app, command).exit_code == 0
    html = (folder / "run" / "report.html").read_text("utf-8")
    assert re.search(r'id="plot-answer-losses"', html)


def test_a_run_without_answers_has_no_such_section(run: lab.Run) -> None:
    assert 'id="answers"' not in page(run)
