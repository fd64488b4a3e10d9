"""Memo: values that are computed at their first use."""

from collections.abc import Callable, Hashable
from typing import TypeVar

from lab.pipeline.resources import Resources

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(dict[K, V]):
    """Key -> value. `functools.cache` over a method would tie an object to itself in a circle, and
    the indexes of one chunking have to go as soon as its last system is done, not when the garbage
    collector comes by."""

    def once(self, key: K, compute: Callable[[], V]) -> V:
        """The value of a key, computed unless it is known."""
        if key not in self:
            self[key] = compute()
        return self[key]

    def trim(self, most: int) -> None:
        """Forget the oldest values but the last `most`."""
        for key in list(self)[: max(0, len(self) - most)]:
            del self[key]


class TimedMemo(Memo[K, V]):
    """A memo whose computing is timed as one stage of the run."""

    def __init__(self, resources: Resources, stage: str) -> None:
        super().__init__()
        self.resources = resources
        self.stage = stage

    def once(self, key: K, compute: Callable[[], V]) -> V:
        """The value of a key, computed unless it is known."""
        if key not in self:
            with self.resources.timed(self.stage):
                self[key] = compute()
        return self[key]
