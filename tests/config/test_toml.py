"""Experiment files and rules as files: whatever lies there is read or told in one message."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lab.config.experiment import read_experiment
from lab.config.toml import read_toml
from lab.errors import ConfigError
from lab.runs.gate_rules import read_rules

READERS: tuple[Callable[[Path], Any], ...] = (read_toml, read_experiment, read_rules)


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "e.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"\xff\xfea\x00", "byte 0 is not UTF-8"),
        ("a = [", "not TOML"),
        ("a = 1\na = 2", "not TOML"),
        ("a = " + "1" * 5000, "not TOML that can be read"),
        ("a = " + "[" * 50_000, "not TOML that can be read"),
        ("corpus" + ".a" * 50_000 + " = 1", "a key has more than 50 dots"),
        ("a = {" + 'b."c c" . ' * 50_000 + "d = 1}", "a key has more than 50 dots"),
        ("corpus = " + "{a = " * 60 + "1" + "}" * 60, "tables lie more than 50 deep"),
        ("a = '\\ud800'\nb = \"\\ud800\"", "not TOML"),
        ("a = '" + "x" * 5_000_000 + "'", "5,000,006 bytes; expected a file of settings"),
    ],
    ids=[
        "utf-16",
        "cut",
        "twice",
        "long number",
        "nested",
        "dotted",
        "dotted inside",
        "tables in tables",
        "surrogate",
        "large",
    ],
)
def test_what_is_no_toml_is_told(
    tmp_path: Path, read: Callable[[Path], Any], content: str | bytes, problem: str
) -> None:
    begin = time.perf_counter()
    with pytest.raises(ConfigError) as error:
        read(written(tmp_path, content))
    assert error.value.problems[0].startswith(f"{tmp_path}/e.toml")
    assert problem in str(error.value)
    assert time.perf_counter() - begin < 10


@pytest.mark.parametrize("read", READERS)
def test_pipes_folders_and_names_that_no_file_has_are_told(
    tmp_path: Path, read: Callable[[Path], Any]
) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    for path, problem in (
        (tmp_path / "pipe.toml", "is a pipe; expected a file"),
        (tmp_path, "is a folder; expected a file"),
        (tmp_path / "absent.toml", "No such file"),
        (Path("a\0b.toml"), "null byte"),
        (Path("x" * 300), "name too long"),
        (tmp_path / "pipe.toml" / "x", "Not a directory"),
    ):
        with pytest.raises(ConfigError, match="(?i)" + problem):
            read(path)


def test_a_byte_order_mark_and_carriage_returns_are_no_part_of_the_file(tmp_path: Path) -> None:
    assert read_toml(written(tmp_path, b"\xef\xbb\xbfa = 1\r\nb = '''x\r\ny'''\r\n")) == {
        "a": 1,
        "b": "x\ny",
    }


@pytest.mark.parametrize(
    "name",
    ["", "  ", "../x", "a/b", "/etc/x", "..", ".", "a\0b", "a\nb", "x" * 240, "\u202ex", 5, True],
)
def test_a_name_that_is_no_folder_of_its_own_is_refused(tmp_path: Path, name: Any) -> None:
    shown = {"\0": "\\u0000", "\n": "\\n"}
    text = "".join(shown.get(sign, sign) for sign in name) if isinstance(name, str) else ""
    value = f'"{text}"' if isinstance(name, str) else str(name).lower()
    (tmp_path / "documents.jsonl").write_text('{"doc_id": "a", "text": "b"}\n')
    (tmp_path / "q.jsonl").write_text('{"query_id": "a", "text": "b"}\n')
    file = written(
        tmp_path,
        f'name = {value}\ncorpus = "{tmp_path}"\ndiagnostic_sets = ["{tmp_path}/q.jsonl"]\n',
    )
    with pytest.raises(ConfigError, match=r"name is .*; expected a name for a folder"):
        read_experiment(file)


def test_names_of_any_language_are_names(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text('{"doc_id": "a", "text": "b"}\n')
    (tmp_path / "q.jsonl").write_text('{"query_id": "a", "text": "b"}\n')
    for name in ("手册", "Größe 5", "a.b-c", "x" * 200):
        file = written(
            tmp_path,
            f'name = "{name}"\ncorpus = "{tmp_path}"\ndiagnostic_sets = ["{tmp_path}/q.jsonl"]\n',
        )
        assert read_experiment(file).name == name


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ('cause = "splitt"\nmax_share = 0.0', "cause 'splitt' is unknown; did you mean 'split'?"),
        ('cause = "all"\nmax_share = 0.0', "cause 'all' is unknown; known:"),
        ('metric = "recal@5"\nfloor = 0.1', "metric 'recal@5' is unknown"),
        ('figure = "x"\nat_most = nan', "finite number"),
        ('figure = "x"\nat_most = inf', "finite number"),
        ('figure = "x"\nat_most = true', "valid number"),
        ('metric = "recall@5"\nfloor = "0.5"', "valid number"),
        ('metric = "recall@5"\nfloor = nan', "floor is nan"),
    ],
)
def test_rules_name_what_there_is_and_limit_it_by_numbers(
    tmp_path: Path, rule: str, problem: str
) -> None:
    with pytest.raises(ConfigError) as error:
        read_rules(written(tmp_path, f"[[rule]]\n{rule}\n"))
    assert problem in str(error.value)


def test_phases_that_are_swept_and_averaged_over_are_told_with_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "both.toml"
    file.write_text(
        'corpus = "nowhere"\ndiagnostic_sets = ["nowhere"]\n[chunk]\nphase = [0.0, 0.5]\n'
        "[measure]\nphases = 4\n"
    )
    with pytest.raises(ConfigError) as fault:
        read_experiment(file)
    said = "\n".join(fault.value.problems)
    assert "chunk.phase is [0.0, 0.5] and measure.phases 4; expected one of both" in said
    assert "'nowhere' does not exist" in said
