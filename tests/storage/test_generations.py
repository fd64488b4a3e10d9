"""A folder whose content is replaced: readers see a whole state, writers wait, the killed leave
nothing."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lab.storage.generations import current, has_generations, next_generation, read_current


def write(folder: Path, text: str) -> None:
    with next_generation(folder) as fresh:
        for name in ("a", "b", "c"):
            (fresh / name).write_text(text)


def read(place: Path) -> set[str]:
    return {(place / name).read_text() for name in ("a", "b", "c")}


def test_a_state_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert not has_generations(folder)
    for text in ("old", "new"):
        write(folder, text)
        assert read_current(folder, read) == {text}
    assert len(list(folder.iterdir())) == 2  # the state and what names it


def test_a_failed_writer_leaves_the_state_before(tmp_path: Path) -> None:
    write(tmp_path, "old")

    def fail() -> None:
        with next_generation(tmp_path) as fresh:
            (fresh / "a").write_text("half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert read_current(tmp_path, read) == {"old"}
    assert len(list(tmp_path.iterdir())) == 2


def test_a_killed_writer_leaves_the_state_before_and_is_cleared_by_the_next(tmp_path: Path) -> None:
    write(tmp_path, "old")
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from lab.storage.generations import next_generation\n"
        "with next_generation(Path(sys.argv[1])) as fresh:\n"
        "    (fresh / 'a').write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, tmp_path], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert read_current(tmp_path, read) == {"old"}
    assert len(list(tmp_path.iterdir())) == 3
    write(tmp_path, "new")
    assert read_current(tmp_path, read) == {"new"}
    assert len(list(tmp_path.iterdir())) == 2


def test_readers_see_one_state_while_writers_replace_it(tmp_path: Path) -> None:
    write(tmp_path, "0")
    done = threading.Event()
    seen: list[set[str]] = []

    def keep_reading() -> None:
        while not done.is_set():
            seen.append(read_current(tmp_path, read))

    readers = [threading.Thread(target=keep_reading) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(1, 150):
        write(tmp_path, str(number))
    done.set()
    for reader in readers:
        reader.join(30)
    assert len(seen) > 3
    assert all(len(state) == 1 for state in seen)
    assert read_current(tmp_path, read) == {"149"}


def test_a_file_that_lacks_in_the_state_that_counts_is_told(tmp_path: Path) -> None:
    write(tmp_path, "old")
    os.remove(current(tmp_path) / "b")
    with pytest.raises(FileNotFoundError):
        read_current(tmp_path, read)
    with pytest.raises(FileNotFoundError):
        read_current(tmp_path / "nothing", read)
