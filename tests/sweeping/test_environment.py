"""Environment: what is known of the machine and the folder; it never decides what a run is."""

import platform
import subprocess
from pathlib import Path

import pytest

import lab
from lab.sweeping.environment import environment
from tests.given import corpus_of


def test_the_commit_of_the_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "git commit" not in environment(1)
    named = ["-c", "user.name=a", "-c", "user.email=a@b"]
    (tmp_path / "a.txt").write_text("one")
    for command in (["init", "-q"], ["add", "a.txt"], [*named, "commit", "-qm", "first"]):
        subprocess.run(["git", *command], check=True)
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True).strip()
    assert environment(1)["git commit"] == head
    (tmp_path / "a.txt").write_text("two")
    assert environment(1)["git commit"] == f"{head}-dirty"
    monkeypatch.setenv("PATH", "")
    assert "git commit" not in environment(1)


def test_a_run_says_on_what_it_was_made(tmp_path: Path) -> None:
    queries = [lab.Query("q1", "pump", evidence=(lab.Evidence("a", 0, 4),))]
    measure = {"seed": 7, "metrics": ["recall@5"], "select_by": "recall@5"}
    run = lab.sweep(
        corpus_of({"a": "pump leaks", "b": "notes"}),
        queries,
        {"mode": "bm25"},
        measure,
        cache=tmp_path / "c.sqlite",
        progress=False,
    )
    made_on = run.manifest["environment"]
    assert made_on["seed"] == "7"
    assert platform.python_version() in made_on["python"]
    assert {"platform", "processor", "cores"} <= made_on.keys()
    assert all(isinstance(text, str) and text for text in made_on.values())
    run.write(tmp_path / "run")
    assert lab.read_run(tmp_path / "run").manifest["environment"] == made_on
