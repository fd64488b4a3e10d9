"""Templates of experiments take their arguments as commands do, run what they were asked, and write
it."""

import subprocess
import sys
from pathlib import Path

import pytest

import lab
from tests.conftest import ROOT

TEMPLATES = (
    "alpha_sweep",
    "chunk_size",
    "compare_retrievers",
    "reranker_ablation",
    "unanswerable",
    "views_and_features",
)


def called(template: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(ROOT / "experiments" / f"{template}.py"), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("template", TEMPLATES)
def test_wrong_arguments_run_nothing(template: str) -> None:
    done = called(template, "corpora/devices", "diagnostic_sets/devices", "paragraph")
    assert done.returncode == 2
    assert "paragraph" in done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout


def test_what_is_not_there_is_told_as_by_the_command(tmp_path: Path) -> None:
    done = called("chunk_size", str(tmp_path / "nothing"), "diagnostic_sets/devices")
    assert done.returncode == 2
    assert "nothing" in done.stderr
    assert "Traceback" not in done.stderr
    assert called("separation", "nope").returncode == 2


def test_a_template_writes_its_run_and_prints_it(tmp_path: Path) -> None:
    out = tmp_path / "run"
    sets = "diagnostic_sets/devices/exact_id.jsonl"
    done = called("chunk_size", "corpora/devices", sets, "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert f"written: {out}" in done.stdout
    assert len(lab.read_run(out).systems) == 9


def test_a_search_with_optuna_is_judged_on_unseen_questions(tmp_path: Path) -> None:
    pytest.importorskip("optuna", reason="the extra optuna is not installed")
    out = tmp_path / "run"
    data = "corpora/devices", "diagnostic_sets/devices/exact_id.jsonl"
    done = called("optuna_search", *data, "--trials", "6", "--batches", "2", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "6 trials" in done.stdout
    assert "unseen questions" in done.stdout
    run = lab.read_run(out)
    assert f"on {len(run.query_ids)} unseen questions" in done.stdout
    corpus = lab.read_corpus(ROOT / data[0])
    every = [query for query in lab.read_diagnostics(ROOT / data[1], corpus) if query.evidence]
    assert 0 < len(run.query_ids) < len(every)
    assert called("optuna_search", *data, "--trials", "0").returncode == 2


def test_an_ablation_runs_each_change_alone_from_yaml_and_arguments(tmp_path: Path) -> None:
    pytest.importorskip("yaml", reason="the extra yaml is not installed")
    file, out = tmp_path / "system.yaml", tmp_path / "run"
    file.write_text("mode: bm25\nchunk_size: 400\nk1: 1.2\n")
    data = "corpora/devices", "diagnostic_sets/devices/exact_id.jsonl"
    changes = "--change", "k1=0.8", "--change", "chunk_size=200,800"
    done = called("ablation", *data, "--settings", str(file), *changes, "--out", str(out))
    assert done.returncode == 0, done.stderr
    systems = lab.read_run(out).table()
    assert sorted(zip(systems["chunk_size"], systems["k1"], strict=True)) == [
        (200, 1.2),
        (400, 0.8),
        (400, 1.2),
        (800, 1.2),
    ]
    for wrong in (["--change", "k1"], ["--change", "k2=1"], ["--settings", str(tmp_path / "no")]):
        bad = called("ablation", *data, *wrong)
        assert bad.returncode == 2, bad.stderr
        assert "Traceback" not in bad.stderr
