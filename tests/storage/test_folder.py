"""Replacing a folder: leftovers of killed writers go, those of living ones stay, and an older
folder is never lost."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.storage.folder import replacing
from tests.conftest import ROOT

WRITER = """
import sys, time
from pathlib import Path
from lab.storage.folder import replacing
import os
if len(sys.argv) > 2:  # die between the two renames
    rename = os.rename
    def first_only(source, target):
        if source == Path(sys.argv[1]):
            rename(source, target)
            print("ready", flush=True)
            time.sleep(60)
        rename(source, target)
    os.rename = first_only
with replacing(Path(sys.argv[1])) as fresh:
    (fresh / "half").write_text("half")
    if len(sys.argv) == 2:
        print("ready", flush=True)
        time.sleep(60)
"""


@contextmanager
def writing(path: Path, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another process in the middle of its work."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), *more], cwd=ROOT, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.kill()
        process.wait()


def kill(process: subprocess.Popen[bytes]) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def write(path: Path, text: str) -> None:
    with replacing(path) as fresh:
        (fresh / "whole").write_text(text)


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_what_a_killed_writer_left_is_removed_by_the_next_of_the_same_place(tmp_path: Path) -> None:
    with writing(tmp_path / "run") as process:
        kill(process)
    (left,) = names(tmp_path)
    assert left.startswith(".run-writing-")
    write(tmp_path / "run-2", "another place")
    assert names(tmp_path) == [left, "run-2"]
    write(tmp_path / "run", "new")
    assert names(tmp_path) == ["run", "run-2"]


def test_what_a_living_writer_has_stays_and_it_may_finish(tmp_path: Path) -> None:
    with writing(tmp_path / "run"):
        write(tmp_path / "run", "new")
        own, run = names(tmp_path)
        assert (tmp_path / own / "half").read_text() == "half"
        assert (own.startswith(".run-writing-"), run) == (True, "run")


def test_an_older_folder_survives_a_kill_between_the_two_renames(tmp_path: Path) -> None:
    write(tmp_path / "run", "older")
    with writing(tmp_path / "run", "between") as process:
        assert "run" not in names(tmp_path)
        with pytest.raises(OSError, match="full"), replacing(tmp_path / "run"):
            raise OSError("disk is full")
        assert len(names(tmp_path)) == 2, "the writer lives, so both its folders stay"
        kill(process)
    with pytest.raises(OSError, match="full"), replacing(tmp_path / "run"):
        raise OSError("disk is full")
    assert names(tmp_path) == ["run"]
    assert (tmp_path / "run" / "whole").read_text() == "older"


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    others = [
        ".run-backup01",
        ".run-writing-notes",
        ".run-writing-abcdefgh-more",
        ".other-writing-abcdefgh",
        ".xrun-writing-abcdefgh",
    ]
    for name in others:
        (tmp_path / name).mkdir()
    (tmp_path / ".run-writing-abcdefgh").write_text("a file")
    write(tmp_path / "run", "new")
    assert names(tmp_path) == sorted([*others, ".run-writing-abcdefgh", "run"])


def test_a_block_that_raises_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no"), replacing(tmp_path / "deep" / "run"):
        raise ValueError("no")
    assert names(tmp_path / "deep") == []
