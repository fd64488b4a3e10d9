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
    "versions",
    "storage",
    "corpus",
    "cluster",
    "chunking",
    "retrieval",
    "relevance",
    "importing",
    "sets",
    "evaluation",
    "config",
    "pipeline",
    "diagnosis",
    "runs",
    "sweeping",
    "answers",
    "learning",
    "usage",
    "report",
    "commands",
    "cli",
)
FILES = sorted((ROOT / "lab").rglob("*.py"))


def room_of(module: str) -> str | None:
    """The room of `lab.room.file`, None for anything that is not the lab's."""
    parts = module.split(".")
    return parts[1] if parts[0] == "lab" and len(parts) > 1 else None


def module_of(file: Path) -> str:
    """`lab.room.file`; a package is called by its folder."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(file): file for file in FILES}


def imported(file: Path) -> set[str]:
    """Everything that a file imports, wherever in it: for types alone, inside functions, or by
    `import_module` and `__import__`, whose argument must be a plain text."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Call) and called(node.func) in ("import_module", "__import__"):
            name = node.args[0]
            assert isinstance(name, ast.Constant), f"{file}: imports what cannot be read off"
            found.add(str(name.value))
    return found


def called(function: ast.expr) -> str:
    """The last word of what is called."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


# The front doors stand below all rooms: what they import is never circular.
DOORS = {"lab"}
IMPORTS = {
    module: {name for name in imported(file) if name in MODULES and name != module}
    for module, file in MODULES.items()
    if module not in DOORS
}


@pytest.mark.parametrize("module", sorted(IMPORTS))
def test_imports_point_up(module: str) -> None:
    own = room_of(module)
    assert own is not None
    for name in IMPORTS[module]:
        room = room_of(name)
        if room is None:
            assert own == "cli", f"{module} imports the front door"
            continue
        assert ROOMS.index(room) <= ROOMS.index(own), f"{module} imports {name}, further down"


def test_no_circle_between_modules() -> None:
    left = {module: set(names) for module, names in IMPORTS.items()}
    while True:
        imported_by_one = set().union(*left.values())
        free = [
            m for m, names in left.items() if not names & left.keys() or m not in imported_by_one
        ]
        if not free:
            break
        for module in free:
            del left[module]
    assert not left, {module: sorted(names & left.keys()) for module, names in left.items()}


def test_every_room_is_listed() -> None:
    rooms = {f.relative_to(ROOT / "lab").parts[0].removesuffix(".py") for f in FILES} - {"__init__"}
    assert rooms == set(ROOMS)


def test_front_door() -> None:
    assert len(lab.__all__) <= 20
    for name in lab.__all__:
        assert getattr(lab, name).__doc__


def test_calls_name_what_they_give() -> None:
    calls = {
        f"{f.relative_to(ROOT)}:{node.lineno}": len(node.args)
        for f in FILES
        for node in ast.walk(ast.parse(f.read_text("utf-8")))
        if isinstance(node, ast.Call) and len(node.args) > 6
    }
    assert not calls, f"more than six positional arguments: {calls}"


def test_files_fit_in_one_sitting() -> None:
    lines = {f.relative_to(ROOT).as_posix(): len(f.read_text("utf-8").splitlines()) for f in FILES}
    assert not {file: n for file, n in lines.items() if n > 300}, "a noun is missing"
