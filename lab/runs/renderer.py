"""What draws a run: the report, which lies further down and is named by the front door alone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Renderer:
    """Three views of a `Run`: its report as one HTML page, itself in a notebook, and its plots by
    name."""

    page: Callable[[Any], str]
    notebook: Callable[[Any], str]
    plots: Callable[[Any], Any]


_LOADERS: list[Callable[[], Renderer]] = []


def draw_with(load: Callable[[], Renderer]) -> None:
    """Name the function that loads the renderer at its first use."""
    _LOADERS[:] = [load]


def renderer() -> Renderer:
    """What the front door named; importing anything of the lab has been through that door."""
    return _LOADERS[0]()
