"""How long work tells where it is: the library is silent, the command line draws bars or prints
lines."""

from collections.abc import Callable
from typing import Protocol

Advance = Callable[[int], None]


class Progress(Protocol):
    """Told of every stage that takes time."""

    def stage(self, label: str, total: int) -> Advance:
        """Begin a stage of `total` steps; the returned function is called with the steps done since
        its last call."""

    def note(self, message: str) -> None:
        """A line worth reading: a warning, or what came from the cache."""


class Silent:
    """Progress of a script that did not ask for any."""

    def stage(self, label: str, total: int) -> Advance:
        return lambda steps: None

    def note(self, message: str) -> None:
        return None
