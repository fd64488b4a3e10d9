"""Run folders from elsewhere, damaged ones among them, are told in one message."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lab
from lab.errors import RunError
from lab.runs.folder import OWN, _digest
from tests.given import corpus_of

CORPUS = corpus_of({"a": "the pump leaks", "b": "the seal holds"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    queries = [
        lab.Query("q1", "pump", evidence=(lab.Evidence("a", 0, 8),)),
        lab.Query("q2", "seal", evidence=(lab.Evidence("b", 0, 8),)),
    ]
    grid = lab.Grid(mode="bm25", chunk_strategy="document")
    return Path(lab.sweep(CORPUS, queries, grid).write(tmp_path / "run"))


def told(folder: Path) -> str:
    with pytest.raises(RunError) as error:
        lab.read_run(folder)
    return str(error.value)


@pytest.mark.parametrize(
    "content",
    [
        *("[]", "null", "3", '"x"', "{}", '{"format": 5}', '{"format": 5, "sha256": []}', "", "{"),
        *('{"format": NaN}', '{"format": 5, "format": 5}', "[" * 100_000, "1" * 5000, "\ufeff[]"),
    ],
    ids=lambda content: content[:20],
)
def test_a_manifest_that_is_none_is_told(folder: Path, content: str) -> None:
    (folder / "manifest.json").write_text(content, "utf-8")
    message = told(folder)
    assert message.startswith(str(folder))
    assert "run the experiment again" in message


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop("conclusions"),
        lambda m: m.pop("recommended"),
        lambda m: m["conclusions"].pop("best"),
        lambda m: m["measure"].clear(),
        lambda m: m.update(best="other"),
        lambda m: m["corpus"].update(fingerprint="0"),
    ],
)
def test_a_manifest_that_was_changed_is_told(folder: Path, change: Callable[[Any], Any]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert "manifest.json is not what was written with the run" in told(folder)


def test_times_may_be_changed(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["finished"] = "2020-01-01T00:00:00+00:00"
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert len(lab.read_run(folder).systems) == 1


@pytest.mark.parametrize(
    ("table", "column"),
    [("systems", "system"), ("scores", "value"), ("questions", "text"), ("rankings", "rank")],
)
def test_a_table_without_a_column_is_told_even_where_its_digest_is_right(
    folder: Path, table: str, column: str
) -> None:
    file = folder / f"{table}.parquet"
    pd.read_parquet(file).drop(columns=column).to_parquet(file, index=False)
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["sha256"][table] = hashlib.sha256(file.read_bytes()).hexdigest()
    manifest["sha256"][OWN] = _digest(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert f"{table}.parquet has no column {column}" in told(folder)


def test_cut_tables_pipes_and_absent_folders_are_told(folder: Path) -> None:
    file = folder / "scores.parquet"
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    assert "scores.parquet is not the table that was written" in told(folder)
    file.unlink()
    assert "damaged run folder" in told(folder)
    (folder / "manifest.json").unlink()
    os.mkfifo(folder / "manifest.json")
    assert "not a run folder" in told(folder)
    assert "not a run folder" in told(folder / "absent")
    assert "not a run folder" in told(Path("a\0b"))
    assert "cannot be read" in told(Path("x" * 300))
