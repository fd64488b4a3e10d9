"""Whether a folder can be written is asked before the work, and told by check and run."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lab.cli import app
from lab.config.grid import Grid
from lab.errors import ConfigError, RunError
from lab.relevance.query import Evidence, Query
from lab.runs.folder import check_place
from lab.storage.folder import obstacle
from lab.sweeping.sweep import sweep
from tests.given import GivenEncoder, corpus_of


def test_a_place_that_can_be_written_is_left_as_it_was(tmp_path: Path) -> None:
    assert obstacle(tmp_path / "a" / "b") == ""
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert obstacle(tmp_path / "file" / "run") == f"{tmp_path}/file is no folder"
    assert obstacle(tmp_path / "file" / "sub" / "run") == f"{tmp_path}/file is no folder"
    assert "is too long for a name" in obstacle(tmp_path / ("x" * 240))
    assert "null byte" in obstacle(Path("a\0b"))
    with pytest.raises(RunError, match="file is no folder"):
        check_place(tmp_path / "file" / "run")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that nobody can write")
def test_a_folder_that_nobody_can_write_is_told() -> None:
    assert obstacle(Path("/proc/self/run"))


def experiment(folder: Path, settings: str) -> Path:
    (folder / "documents.jsonl").write_text('{"doc_id": "a", "text": "the pump leaks"}\n')
    (folder / "q.jsonl").write_text(
        '{"query_id": "q", "text": "leak", "evidence": [{"doc_id": "a", "quote": "pump"}]}\n'
    )
    file = folder / "e.toml"
    file.write_text(
        f'name = "e"\ncorpus = "{folder}"\ndiagnostic_sets = ["{folder}/q.jsonl"]\n{settings}'
    )
    return file


def test_check_and_run_tell_of_an_output_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").write_text("a file, not a folder")
    file = experiment(tmp_path, '[retrieve]\nmode = "bm25"\n')
    told = CliRunner().invoke(app, ["check", str(file)])
    assert "runs/e: cannot be written" in " ".join(told.output.split())
    ran = CliRunner().invoke(app, ["run", str(file)])
    assert isinstance(ran.exception, RunError)
    assert "runs is no folder" in str(ran.exception)


@pytest.mark.parametrize("model", ["./no-such-reranker", "{folder}/empty"])
def test_a_reranker_that_does_not_exist_is_told_by_check_and_before_any_encoding(
    tmp_path: Path, model: str
) -> None:
    (tmp_path / "empty").mkdir()
    name = model.format(folder=tmp_path)
    file = experiment(tmp_path, f'[rerank]\nmodel = "{name}"\ndepth = 5\n')
    told = CliRunner().invoke(app, ["check", str(file)])
    assert f"rerank.model: model '{name}'" in " ".join(told.output.split())
    encoder = GivenEncoder()
    with pytest.raises(ConfigError, match=r"rerank.model: model '"):
        sweep(
            corpus_of({"a": "the pump leaks"}),
            [Query("q", "leak", evidence=(Evidence("a"),))],
            Grid(model="given", rerank_model=name, rerank_depth=5),
            encoders={"given": encoder},
        )
    assert encoder.encoded == []


def test_nothing_is_left_in_the_folder_of_runs(tmp_path: Path) -> None:
    check_place(tmp_path / "run")
    assert os.listdir(tmp_path) == []
