"""The shape of the house: rooms import only from rooms further up, files stay small, the front door
is narrow."""

import ast
from pathlib import Path

import pytest

import lab
from tests.conftest import ROOT

ROOMS = (
    "errors",
    "arrays",
    "storage",
    "corpus",
    "chunking",
    "retrieval",
    "relevance",
    "sets",
    "evaluation",
    "config",
    "pipeline",
    "diagnosis",
    "runs",
    "sweeping",
    "answers",
    "report",
    "commands",
    "cli",
)
FILES = sorted((ROOT / "lab").rglob("*.py"))


def room_of(module: str) -> str | None:
    """The room of `lab.room.file`, None for anything that is not the lab's."""
    parts = module.split(".")
    return parts[1] if parts[0] == "lab" and len(parts) > 1 else None


def imported(file: Path, only_running: bool = True) -> list[str]:
    """Modules that a file imports, but for those under TYPE_CHECKING."""
    tree = ast.parse(file.read_text("utf-8"))
    hidden = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If)
        and isinstance(block.test, ast.Name)
        and block.test.id == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    found = []
    for node in ast.walk(tree):
        if only_running and node in hidden:
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            found.append(node.module or "")
        elif isinstance(node, ast.Import):
            found.extend(alias.name for alias in node.names)
    return found


@pytest.mark.parametrize(
    "file",
    [f for f in FILES if f.parent != ROOT / "lab" or f.name == "cli.py"],
    ids=lambda f: f.relative_to(ROOT).as_posix(),
)
def test_imports_point_up(file: Path) -> None:
    own = file.relative_to(ROOT / "lab").parts[0].removesuffix(".py")
    for module in imported(file, only_running=False):
        room = room_of(module)
        if room is not None:
            assert ROOMS.index(room) <= ROOMS.index(own), (
                f"{file} imports {module}, which lies further down"
            )


def test_every_room_is_listed() -> None:
    rooms = {f.relative_to(ROOT / "lab").parts[0].removesuffix(".py") for f in FILES} - {"__init__"}
    assert rooms == set(ROOMS)


def test_front_door() -> None:
    assert len(lab.__all__) <= 16
    for name in lab.__all__:
        assert getattr(lab, name).__doc__


def test_files_fit_in_one_sitting() -> None:
    long = {
        f.relative_to(ROOT).as_posix(): n
        for f in FILES
        if (n := len(f.read_text("utf-8").splitlines())) > 420
    }
    assert not long
