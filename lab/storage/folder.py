"""Replacing a folder whole: it is written beside its place under a lock, then renamed; what killed
writers left is cleared."""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

OLD = "-old"
# Bytes that a name may have, and those that a folder's name gets while it is written.
NAME_MAX = 255
ROOM = len(".-writing-12345678") + len(OLD)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new folder beside `path` to fill; when the block ends it takes the place of `path`, and if
    it raises it is gone. Raises OSError when that cannot be done; an older folder is then where it
    was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _clear(path)
    fresh, lock = _begin(path)
    try:
        yield fresh
        fresh.chmod(0o755)
        _swap(fresh, path)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        os.close(lock)


def obstacle(path: Path) -> str:
    """Why a folder cannot be written at `path`, by trying beside it; empty where it can. Nothing
    stays behind."""
    try:
        place = path.absolute()
        long = [part for part in place.parts if len(os.fsencode(part)) + ROOM > NAME_MAX]
        if long:
            return f"'{long[0][:40]}...' is too long for a name"
        parent = next(parent for parent in place.parents if os.path.lexists(parent))
        if not parent.is_dir():
            return f"{parent} is no folder"
        with tempfile.TemporaryDirectory(prefix=f".{place.name}-writing-", dir=parent):
            return ""
    except (OSError, ValueError) as fault:
        return getattr(fault, "strerror", None) or str(fault)


def _begin(path: Path) -> tuple[Path, int]:
    """A folder of our own, and the lock on it that falls with this process: a process id would be
    another's some day, and another machine's on a shared disk."""
    while True:
        fresh = Path(tempfile.mkdtemp(prefix=f".{path.name}-writing-", dir=path.parent))
        try:
            lock = os.open(fresh, os.O_RDONLY)
        except FileNotFoundError:
            continue  # taken for a leftover before it was locked
        if _locked(lock) is not False and fresh.exists():
            return fresh, lock
        os.close(lock)


def _locked(folder: int) -> bool | None:
    """Whether the lock is ours now; None where the file system has no locks."""
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _swap(fresh: Path, path: Path) -> None:
    if not path.exists():
        os.rename(fresh, path)
        return
    old = fresh.with_name(fresh.name + OLD)
    os.rename(path, old)
    try:
        os.rename(fresh, path)
    except OSError:
        os.rename(old, path)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _clear(path: Path) -> None:
    """Remove what writers of this place left that are dead, which is to say whose lock is free; an
    older folder that was moved away and not yet replaced goes back."""
    ours = re.compile(rf"\.{re.escape(path.name)}-writing-[a-z0-9_]{{8}}")
    names = [entry.name for entry in os.scandir(path.parent) if entry.is_dir(follow_symlinks=False)]
    for name in sorted({name.removesuffix(OLD) for name in names}):
        if ours.fullmatch(name):
            _clear_one(path.with_name(name), path)


def _clear_one(fresh: Path, path: Path) -> None:
    old = fresh.with_name(fresh.name + OLD)
    try:
        lock = os.open(fresh if fresh.exists() else old, os.O_RDONLY)
    except OSError:
        return  # gone meanwhile
    try:
        if _locked(lock):
            if old.exists() and not path.exists():
                os.rename(old, path)
            shutil.rmtree(old, ignore_errors=True)
            shutil.rmtree(fresh, ignore_errors=True)
    finally:
        os.close(lock)
