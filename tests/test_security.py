"""What SECURITY.md promises: files from people one does not know run no code, and nothing of them
leaves its place."""

import ast
import contextlib
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from lab.config.experiment import read_experiment
from lab.corpus.read import read_corpus
from lab.errors import CorpusError, LabError, RunError
from lab.importing.convert import import_source
from lab.runs.folder import TABLES
from lab.runs.run import read_run
from lab.storage.cache import Cache
from tests.conftest import ROOT

# Modules and calls that turn data into code, or a text into a command line.
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml"}
CALLS = {"eval", "exec", "compile", "system", "popen"}


def test_nothing_in_the_lab_turns_data_into_code() -> None:
    # Between the processes of one cluster Ray hands over pickles, which are never kept.
    cluster = ROOT / "lab" / "cluster" / "parcel.py"
    for file in sorted({*(ROOT / "lab").rglob("*.py")} - {cluster}):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = (
                    [node.module or ""]
                    if isinstance(node, ast.ImportFrom)
                    else [alias.name for alias in node.names]
                )
                assert not MODULES & {name.partition(".")[0] for name in names}, (
                    f"{file}:{node.lineno}"
                )
            if isinstance(node, ast.Call):
                attribute = isinstance(node.func, ast.Attribute)
                name = (
                    node.func.attr
                    if isinstance(node.func, ast.Attribute)
                    else getattr(node.func, "id", "")
                )
                # re.compile and the like are methods of modules we know.
                assert name not in (CALLS - {"compile"} if attribute else CALLS), (
                    f"{file}:{node.lineno}: {name}"
                )
                keywords = {keyword.arg: keyword.value for keyword in node.keywords}
                for danger in ("shell", "allow_pickle", "trust_remote_code"):
                    value = keywords.get(danger)
                    assert value is None or (isinstance(value, ast.Constant) and not value.value), (
                        f"{file}:{node.lineno}: {danger}"
                    )


class Trap:
    """Opens a file for writing when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (str(self.marker), "w")


def test_b36_folders_with_pickles_are_refused_and_run_nothing(tmp_path: Path) -> None:
    marker, folder = tmp_path / "MARKER", tmp_path / "run"
    folder.mkdir()
    pickled = pickle.dumps(Trap(marker))
    for name in TABLES:
        (folder / f"{name}.parquet").write_bytes(pickled)
    np.save(folder / "vectors.npy", np.array([Trap(marker)], dtype=object), allow_pickle=True)
    (folder / "manifest.json").write_bytes(pickled)
    (folder / "config.yaml").write_text("alpha: !!python/object/apply:os.getcwd []\n")
    with pytest.raises(RunError, match="run"):
        read_run(folder)
    for file in sorted(folder.iterdir()):
        for read in (
            read_experiment,
            read_corpus,
            Cache,
            lambda path: import_source(str(path), tmp_path / "out"),
        ):
            # What is text may be read as text; the rest is refused by name.
            with contextlib.suppress(LabError):
                read(file)
    assert not marker.exists()


def test_word_files_cannot_grow_by_entities(tmp_path: Path) -> None:
    laughs = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(12))
    body = f'<!DOCTYPE w [<!ENTITY a0 "ha">{laughs}]><w>&a12;</w>'
    with zipfile.ZipFile(tmp_path / "bomb.docx", "w") as archive:
        archive.writestr("word/document.xml", body)
    with pytest.raises(CorpusError, match="not a Word file"):
        import_source(str(tmp_path / "bomb.docx"), tmp_path / "out")
