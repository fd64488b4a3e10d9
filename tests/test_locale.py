"""The command works in any locale, and names that no file of UTF-8 can hold are told first."""

import os
import subprocess
import sys
from pathlib import Path

LAB = Path(sys.executable).parent / "lab"
PLAIN = {"PYTHONUTF8": "0", "LC_ALL": "C"}


def called(folder: Path, *words: str | bytes) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [LAB, *words], cwd=folder, env=os.environ | PLAIN, capture_output=True, check=False
    )


def test_chinese_paths_and_texts_in_the_c_locale(tmp_path: Path) -> None:
    (tmp_path / "手册").mkdir()
    (tmp_path / "手册/泵.md").write_text("the pump 水泵\n", "utf-8")
    (tmp_path / "q.jsonl").write_text(
        '{"query_id": "q", "text": "水泵", "evidence": [{"doc_id": "泵.md", "quote": "水泵"}]}',
        "utf-8",
    )
    (tmp_path / "e.toml").write_text(
        'name = "手册"\ncorpus = "手册"\ndiagnostic_sets = ["q.jsonl"]\n'
        '[retrieve]\nmode = "bm25"\n',
        "utf-8",
    )
    ran = called(tmp_path, "run", "e.toml")
    assert ran.returncode == 0, ran.stderr
    assert "runs/手册/report.html" in ran.stdout.decode()
    explained = called(tmp_path, "explain", "runs/手册", "q")
    assert "水泵" in explained.stdout.decode()
    wrong = called(tmp_path, "explain", "runs/手册", "问")
    assert wrong.returncode == 2
    assert "no question '问'" in wrong.stderr.decode()


def test_an_argument_that_is_not_utf8_is_told(tmp_path: Path) -> None:
    told = called(tmp_path, "check", b"caf\xe9")
    assert told.returncode == 2
    assert rb"argument b'caf\xe9' is not UTF-8" in told.stderr
