"""The demo: documents, questions and an experiment that come with the package."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from lab.errors import ConfigError

EXPERIMENT = "experiments/quickstart.toml"
PARTS = ("corpora/devices", "diagnostic_sets/devices", EXPERIMENT)


def write_demo(folder: Path) -> list[Path]:
    """Write the demo's parts into a folder, where `EXPERIMENT` then runs, and return their places.
    Raises ConfigError where one of them is there already; nothing is written then."""
    held = [folder / part for part in PARTS if (folder / part).exists()]
    if held:
        raise ConfigError(
            f"{place}: is there already, and nothing is overwritten; go to another folder"
            for place in held
        )
    source = _source()
    for part in PARTS:
        _copy(source.joinpath(*part.split("/")), folder / part)
    return [folder / part for part in PARTS]


def _source() -> Traversable:
    """The package's own copy; a source tree has the parts at its root."""
    package = files("lab")
    held = package / "demo"
    return held if held.is_dir() else Path(str(package)).parent


def _copy(source: Traversable, target: Path) -> None:
    if source.is_dir():
        target.mkdir(parents=True)
        for part in source.iterdir():
            _copy(part, target / part.name)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
