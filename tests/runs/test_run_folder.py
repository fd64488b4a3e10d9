"""The run folder: the same bytes for the same input in any order, complete or absent, and damage is
told (B14, B36, B39)."""

import ast
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lab
from lab.errors import ConfigError, RunError
from lab.relevance.query import Evidence, Query
from lab.runs import folder as run_folder
from lab.runs.folder import TABLES
from lab.runs.run import read_run
from tests.conftest import ROOT
from tests.given import corpus_of
from tests.sweeping import write_run


def contents(folder: Path) -> dict[str, bytes]:
    """Every file's bytes; of the manifest and the report's provenance all but the times."""
    files = {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
    manifest = json.loads(files["manifest.json"])
    manifest.pop("seconds"), manifest.pop("finished")
    times = rb"<dt>(seconds|finished)</dt><dd>[^<]*</dd>"
    report = re.sub(times, b"", files.get("report.html", b""))
    return files | {"manifest.json": json.dumps(manifest).encode(), "report.html": report}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "first"
    write_run.main(folder, 0)
    return folder


def test_shuffled_documents_and_questions_give_the_same_bytes(
    written: Path, tmp_path: Path
) -> None:
    write_run.main(tmp_path / "again", 7)
    assert contents(tmp_path / "again") == contents(written)


def test_b14_another_process_and_hash_seed_give_the_same_bytes(
    written: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "tests.sweeping.write_run", str(tmp_path / "run"), "3"]
    environment = os.environ | {"PYTHONHASHSEED": "4242", "LC_ALL": "C"}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    assert contents(tmp_path / "run") == contents(written)


def small(seed: int = 0) -> lab.Run:
    corpus = corpus_of({"a": f"the pump leaks {seed}", "b": "the valve hums"})
    return lab.sweep(
        corpus,
        [Query("q", "pump", evidence=(Evidence("a"),))],
        lab.Grid(mode="bm25", chunk_size=10),
    )


def put(result: lab.Run, place: Path) -> Path:
    """The tables alone; `Run.write` adds the report."""
    return run_folder.write_run(result.tables, place)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    result = small()
    run = read_run(put(result, tmp_path / "run"))
    assert run.manifest["best"] == result.best
    assert run.tables.scores["value"].tolist() == result.tables.values.reshape(-1).tolist()
    assert sorted(file.stem for file in (tmp_path / "run").glob("*.parquet")) == sorted(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_b39_a_cut_table_is_told(tmp_path: Path, name: str) -> None:
    folder = put(small(), tmp_path / "run")
    file = folder / f"{name}.parquet"
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(
        RunError, match=f"{name}.parquet is not the table .* run the experiment again"
    ):
        read_run(folder)
    file.unlink()
    with pytest.raises(RunError, match="damaged run folder"):
        read_run(folder)


def test_b39_a_cut_manifest_is_told(tmp_path: Path) -> None:
    folder = put(small(), tmp_path / "run")
    text = (folder / "manifest.json").read_text("utf-8")
    (folder / "manifest.json").write_text(text[: len(text) // 2], "utf-8")
    with pytest.raises(RunError, match="damaged run folder"):
        read_run(folder)


def test_b39_a_table_of_another_run_is_told(tmp_path: Path) -> None:
    one, other = put(small(), tmp_path / "one"), put(small(1), tmp_path / "other")
    (one / "rankings.parquet").write_bytes((other / "evidence.parquet").read_bytes())
    with pytest.raises(RunError, match=r"rankings\.parquet is not the table"):
        read_run(one)


def test_b39_a_full_disk_leaves_the_old_run_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = put(small(), tmp_path / "run")
    before = contents(folder)
    write, written = pd.DataFrame.to_parquet, []

    def fail(table: pd.DataFrame, path: Path, **options: object) -> None:
        if written:
            raise OSError(28, "No space left on device")
        written.append(path)
        write(table, path, **options)

    result = small(1)
    monkeypatch.setattr(pd.DataFrame, "to_parquet", fail)
    for place in (folder, tmp_path / "new"):
        written.clear()
        with pytest.raises(RunError, match="No space left"):
            put(result, place)
    assert contents(folder) == before
    assert [file.name for file in tmp_path.iterdir()] == ["run"]
    read_run(folder)


def test_b39_a_swap_that_fails_puts_the_old_run_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, result, rename = put(small(), tmp_path / "run"), small(1), os.rename
    before = contents(folder)

    def fail(source: Path, target: Path) -> None:
        if Path(target) == folder and not Path(source).name.endswith("-old"):
            raise OSError(5, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(RunError, match="Input/output error"):
        put(result, folder)
    assert contents(folder) == before
    assert [file.name for file in tmp_path.iterdir()] == ["run"]


def test_a_new_run_replaces_an_old_one_and_spares_what_is_no_run(tmp_path: Path) -> None:
    folder = put(small(), tmp_path / "run")
    put(small(1), folder)
    assert read_run(folder).manifest["corpus"]["fingerprint"] == small(1).corpus.fingerprint
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years", "utf-8")
    with pytest.raises(RunError, match="is not a run folder"):
        put(small(), tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text("utf-8") == "years"
    with pytest.raises(RunError, match="not a run folder"):
        read_run(tmp_path / "absent")


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (str(self.marker), "w")


def test_b36_opening_a_foreign_folder_or_config_runs_no_code(tmp_path: Path) -> None:
    marker = tmp_path / "MARKER"
    folder = put(small(), tmp_path / "run")
    (folder / "bm25.pkl").write_bytes(pickle.dumps(Trap(marker)))
    np.save(folder / "vectors.npy", np.array([Trap(marker)], dtype=object), allow_pickle=True)
    (folder / "scores.parquet").write_bytes(pickle.dumps(Trap(marker)))
    with pytest.raises(RunError):
        read_run(folder)
    (tmp_path / "config.yaml").write_text("alpha: !!python/object/apply:os.getcwd []\n", "utf-8")
    with pytest.raises(ConfigError, match="not TOML"):
        lab.read_experiment(tmp_path / "config.yaml")
    assert not marker.exists()


# Between the processes of one cluster Ray hands over pickles, which are never kept (SECURITY.md).
CLUSTER = ROOT / "lab" / "cluster" / "parcel.py"


def test_b36_the_lab_holds_no_way_to_run_what_it_reads() -> None:
    modules, calls = (
        {"pickle", "dill", "joblib", "marshal", "shelve", "yaml"},
        {"eval", "exec", "compile"},
    )
    for file in {*(ROOT / "lab").rglob("*.py")} - {CLUSTER}:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
                assert not names & modules, file
            if isinstance(node, ast.Call):
                assert getattr(node.func, "id", None) not in calls, file
                assert "allow_pickle" not in {keyword.arg for keyword in node.keywords}, file
