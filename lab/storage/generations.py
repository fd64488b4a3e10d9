"""A folder whose content is replaced while others read it: each state is a folder of its own
inside, and a small file says which one counts."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

CURRENT = "current"
GENERATION = "generation-"

V = TypeVar("V")


def has_generations(folder: Path) -> bool:
    """Whether a finished state lies in the folder."""
    return (folder / CURRENT).is_file()


def current(folder: Path) -> Path:
    """The folder of the state that counts. Raises OSError where there is none."""
    return folder / (folder / CURRENT).read_text("utf-8").strip()


def read_current(folder: Path, read: Callable[[Path], V]) -> V:
    """What `read` makes of the state that counts. A state that goes while it is read has been
    replaced, and the new one is read instead. Raises OSError where nothing can be read."""
    while True:
        place = current(folder)
        try:
            return read(place)
        except FileNotFoundError:
            if current(folder) == place:
                raise


@contextmanager
def next_generation(folder: Path) -> Iterator[Path]:
    """An empty folder to fill; when the block ends, it is the state that counts and earlier ones
    are removed, and if it raises it is gone. Writers wait for each other; what a killed one left is
    cleared. Who has read an earlier state, or mapped its files, keeps it."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _clear(folder)
        fresh = Path(tempfile.mkdtemp(prefix=GENERATION, dir=folder))
        try:
            yield fresh
            fresh.chmod(0o755)
            pointer = folder / f".{CURRENT}.new"
            pointer.write_text(f"{fresh.name}\n", "utf-8")
            os.replace(pointer, folder / CURRENT)
        finally:
            _clear(folder)
    finally:
        os.close(lock)


def _clear(folder: Path) -> None:
    """Remove all states but the one that counts."""
    kept = current(folder) if has_generations(folder) else None
    for place in folder.glob(f"{GENERATION}*"):
        if place != kept:
            shutil.rmtree(place, ignore_errors=True)
