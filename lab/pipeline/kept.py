"""What models have computed, put into the cache as it comes, and an account of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from lab.errors import counted
from lab.pipeline.hosted.server import ServerError
from lab.storage.cache import Cache
from lab.storage.interrupt import Interrupted


@dataclass
class Kept:
    """Values of one run that are in the cache by now; `counts` says how many of each kind."""

    cache: Cache
    counts: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def part(self, kind: str, model: str) -> Iterator[dict[bytes, bytes]]:
        """Values that the block fills in are kept when it ends, however it ends: what was computed
        before Ctrl-C or a fault is not computed again."""
        values: dict[bytes, bytes] = {}
        try:
            yield values
        finally:
            self.put(kind, model, values)

    def put(self, kind: str, model: str, values: Mapping[bytes, bytes]) -> None:
        """Keep finished values."""
        self.cache.put(values, model)
        self.counts[kind] += len(values)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Ctrl-C during the block becomes Interrupted, which says what is kept; so does a server
        that gives up."""
        try:
            yield
        except Interrupted:
            raise
        except ServerError as fault:
            raise ServerError([*fault.problems, str(self)]) from None
        except KeyboardInterrupt:
            raise Interrupted(str(self)) from None

    def __str__(self) -> str:
        said = [counted(number, kind) for kind, number in self.counts.items() if number]
        if not said:
            return "no model had computed anything that could be kept"
        computed = " and ".join(said)
        if not self.cache.lasting:
            return f"{computed} are lost, for the cache cannot be written ({self.cache.path})"
        are = "is" if sum(self.counts.values()) == 1 else "are"
        return f"{computed} {are} kept in {self.cache.path}; the same command goes on from there"
