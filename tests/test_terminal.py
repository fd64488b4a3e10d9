"""Text of documents, questions and names is shown by every command, never obeyed by the terminal
and never read as markup."""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.table import Table
from rich.text import Text
from typer.testing import CliRunner

from lab.cli import app
from lab.errors import LabError, LabWarning, visible
from lab.report.screens.console import TextConsole, say, say_json
from tests.conftest import ROOT

# A window's title, red text, a C1 control sequence, a turned direction, and Rich's markup.
EVIL = "\x1b]0;owned\x07\x1b[31mred\x9b31m\u202eturned [bold]x[/bold] [/nope] :bomb:"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evil")
    (folder / "corpus").mkdir()
    documents = [
        {"doc_id": f"d{n} {EVIL}", "text": f"pump {n} {EVIL} leaks at seal {n}", "title": EVIL}
        for n in range(4)
    ]
    (folder / "corpus/documents.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents))
    questions = [
        {
            "query_id": f"q{n} {EVIL}",
            "text": f"which pump {n} {EVIL}",
            "kind": f"kind {EVIL}" if n % 2 else "plain",
            "tags": {"tag": EVIL},
            "evidence": [{"doc_id": f"d{n} {EVIL}", "quote": f"leaks at seal {n}"}],
        }
        for n in range(4)
    ]
    (folder / "sets.jsonl").write_text("".join(json.dumps(q) + "\n" for q in questions))
    (folder / "e.toml").write_text(
        f'name = "evil"\ncorpus = "{folder}/corpus"\ndiagnostic_sets = ["{folder}/sets.jsonl"]\n'
        '[chunk]\nsize = [20, 40]\n[retrieve]\nmode = "bm25"\n'
    )
    ran = CliRunner().invoke(app, ["run", str(folder / "e.toml"), "--out", str(folder / "run")])
    assert ran.exit_code == 0, ran.output
    (folder / "run.txt").write_text(ran.output + ran.stderr)
    return folder


def test_a_run_shows_control_characters(evil: Path) -> None:
    shown = (evil / "run.txt").read_text()
    assert not OBEYED.search(shown)


@pytest.mark.parametrize(
    "command",
    [
        ["show", "run"],
        ["explain", "run", f"q1 {EVIL}"],
        ["slices", "run"],
        ["slices", "run", "--by", "tag"],
        ["slices", "run", "--json"],
        ["compare", "run", "run"],
        ["compare", "run", "run", "--json"],
        ["ablate", "run"],
        ["check", "e.toml"],
        ["check", "e.toml", "--json"],
        ["check", "corpus", "sets.jsonl"],
        ["search", "corpus", f"pump {EVIL}", "--alpha", "0"],
        ["import", "corpus", "--to", "imported"],
        ["report", "run"],
    ],
    ids=lambda words: " ".join(words)[:20].replace(EVIL[:5], ""),
)
def test_no_command_lets_text_steer_the_terminal(
    evil: Path, command: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(evil)
    told = CliRunner().invoke(app, list(command))
    assert told.exit_code in (0, 1), told.output
    assert not OBEYED.search(told.output)
    if "--json" in command:
        assert json.loads(told.stdout)


def test_hits_and_explanations_show_markup_as_it_stands(
    evil: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(evil)
    for command in (["search", "corpus", "pump 1"], ["explain", "run", f"q1 {EVIL}"]):
        told = " ".join(CliRunner().invoke(app, command).output.split())
        for part in ("[bold]x[/bold]", "[/nope]", ":bomb:", "␛]0;owned"):
            assert part in told, command


def test_error_messages_show_control_characters_and_keep_to_their_line(evil: Path) -> None:
    (evil / "bad.jsonl").write_text(
        json.dumps(
            {"query_id": f"a\n  2 problems: {EVIL}", "text": "x", "evidence": [{"doc_id": EVIL}]}
        )
    )
    told = subprocess.run(
        [Path(sys.executable).parent / "lab", "check", "corpus", "bad.jsonl"],
        cwd=evil,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 2
    assert not OBEYED.search(told.stderr)
    assert "␛]0;owned␇" in told.stderr
    assert len(told.stderr.splitlines()) == 2


def test_errors_and_warnings_of_the_library_are_single_visible_lines() -> None:
    assert str(LabError(["a\x1b[31m\nb", "c" * 5000])).splitlines()[0] == "a␛[31m␊b"
    assert len(LabError("c" * 5000).problems[0]) < 2100
    assert str(LabWarning("a\x9bb")) == "a\ufffdb"
    assert visible("tab\tline\n", shaped=True) == "tab\tline\n"


def test_the_console_shows_whatever_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(title=EVIL)
    table.add_column(EVIL)
    table.add_row(EVIL, Text(EVIL))
    console = TextConsole(width=200, color_system=None, force_terminal=False)
    for thing in (EVIL, Text(EVIL), table):
        console.print(thing)
    say(EVIL)
    say_json({"a": EVIL})
    out = capsys.readouterr().out
    assert not OBEYED.search(out)
    assert out.count("[bold]x[/bold]") == 8
    assert json.loads(out.splitlines()[-1]) == {"a": EVIL}


def test_only_the_console_writes_to_a_terminal() -> None:
    """Text that goes another way is obeyed by the terminal again."""
    for file in sorted((ROOT / "lab").rglob("*.py")):
        if file.name in ("console.py", "cli.py", "retriever.py"):
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                assert name not in ("print", "typer.echo", "Console"), f"{file}:{node.lineno}"
