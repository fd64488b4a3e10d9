"""The screen of a run fits half a page, says what to do next, and names the command for the rest;
a log of hours has a page of progress."""

import io
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import lab.report.screens.progress as progress_module
from lab.report.screens.console import TextConsole
from lab.report.screens.progress import EVERY, TerminalProgress
from lab.report.screens.terminal import short_screen
from lab.runs.run import Run
from tests.conftest import ROOT
from tests.report.given_run import large

EXPERIMENT = """
name = "many"
corpus = "corpora/devices"
diagnostic_sets = ["diagnostic_sets/devices"]
[chunk]
strategy = ["fixed", "structure"]
size = [200, 400, 800]
[retrieve]
mode = "bm25"
[bm25]
k1 = [0.9, 1.2, 2.0]
b = [0.4, 0.75]
analyzer = ["auto", "english"]
"""


def printed(run: Run) -> list[str]:
    out = io.StringIO()
    TextConsole(file=out, width=80).print(short_screen(run, "runs/many"))
    return out.getvalue().splitlines()


def test_a_large_run_fits_half_a_page(run: Run) -> None:
    for finished in (run, large()):
        lines = printed(finished)
        assert len(lines) <= 60
        assert all(len(line) <= 80 for line in lines)
        assert "lab show runs/many" in " ".join(lines)


def test_a_piped_run_prints_at_most_sixty_lines_and_says_what_is_next(tmp_path: Path) -> None:
    (tmp_path / "many.toml").write_text(EXPERIMENT)
    script = "from lab.cli import main; main()"
    command = [sys.executable, "-c", script, "run", str(tmp_path / "many.toml")]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "run")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines()
    assert len(lines) <= 60, done.stdout
    after = lines[lines.index("what to change next") :]
    assert " rescues " in after[1]
    assert "(p " in " ".join(after[1:3])
    assert any("next check: lab " in line for line in after)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now[0])
    return now


def test_a_log_has_a_line_a_stage_and_few_between(clock: list[float]) -> None:
    out = io.StringIO()
    shown = TerminalProgress(TextConsole(file=out, width=80))
    encode = shown.stage("encode texts", 3600)
    for _ in range(3600):  # an hour, a text a second
        clock[0] += 1
        encode(1)
    for _ in range(50):  # re-runs are silent
        shown.stage("encode texts", 5)(5)
    shown.stage("metrics", 1)(1)
    lines = out.getvalue().splitlines()
    assert lines[-2:] == ["encode texts: 3600/3600", "metrics: 1/1"]
    places = [int(line.split()[-1].partition("/")[0]) for line in lines[:-1]]
    assert places[0] == EVERY + 1
    assert all(after - before > EVERY for before, after in pairwise(places))
    assert len(lines) < 20
