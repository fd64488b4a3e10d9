"""Keeper: the one cache that all tasks of a sweep read and fill, and what they report."""

from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from lab.cluster.cluster import result
from lab.storage.cache import Cache
from lab.storage.progress import Advance, Progress

# ("stage", its id, label, steps), ("steps", the stage's id, "", steps) or ("note", "", text, 0)
Event = tuple[str, str, str, int]


class Keeper:
    """An actor beside the one who asks: it opens the cache's file there, so that nodes need no
    disk in common, and collects what tasks have to tell."""

    def __init__(self, path: Path | None) -> None:
        self._events: list[Event] = []
        self._cache = Cache(path, lambda line: self._events.append(("note", "", line, 0)))

    def get(self, keys: list[bytes]) -> dict[bytes, bytes]:
        """See `Cache.get`."""
        return self._cache.get(keys)

    def holding(self, keys: list[bytes]) -> set[bytes]:
        """See `Cache.holding`."""
        return self._cache.holding(keys)

    def put(self, values: dict[bytes, bytes], model: str) -> None:
        """See `Cache.put`."""
        self._cache.put(values, model)

    def tell(self, event: Event) -> None:
        """Something that a task reports."""
        self._events.append(event)

    def news(self) -> list[Event]:
        """What has been reported since the last call."""
        events, self._events = self._events, []
        return events


def start_keeper(path: Path | None) -> Any:
    """A handle of a keeper on the node of the caller; it is started again should it die, and asked
    again, for its answers are the same."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    options: dict[str, Any] = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1}
    return ray.remote(Keeper).options(**options, scheduling_strategy=here).remote(path)


class KeptElsewhere(Cache):
    """A cache as tasks see it: that of a keeper."""

    def __init__(self, keeper: Any) -> None:
        self._keeper = keeper
        self.path = None

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """See `Cache.get`."""
        wanted = list(dict.fromkeys(keys))
        return dict(result(self._keeper.get.remote(wanted))) if wanted else {}

    def holding(self, keys: Iterable[bytes]) -> set[bytes]:
        """See `Cache.holding`."""
        wanted = list(dict.fromkeys(keys))
        return set(result(self._keeper.holding.remote(wanted))) if wanted else set()

    def put(self, values: Mapping[bytes, bytes], model: str = "") -> None:
        """See `Cache.put`; waits until they are kept."""
        if values:
            result(self._keeper.put.remote(dict(values), model))


class Reported:
    """Progress as tasks see it: told to a keeper."""

    _numbers = count()

    def __init__(self, keeper: Any, task: str) -> None:
        self._keeper, self._task = keeper, task

    def stage(self, label: str, total: int) -> Advance:
        """See `Progress.stage`."""
        name = f"{self._task} {next(self._numbers)}"
        if not total:
            return lambda steps: None
        self._keeper.tell.remote(("stage", name, label, total))
        return lambda steps: self._keeper.tell.remote(("steps", name, "", steps))

    def note(self, message: str) -> None:
        """See `Progress.note`."""
        self._keeper.tell.remote(("note", "", message, 0))


class Listener:
    """Tells the progress of the one who asks what tasks have reported."""

    def __init__(self, keeper: Any, progress: Progress) -> None:
        self._keeper, self._progress = keeper, progress
        self._stages: dict[str, Advance] = {}
        self._told: set[str] = set()

    def __call__(self) -> None:
        for kind, name, text, steps in result(self._keeper.news.remote()):
            if kind == "stage":
                self._stages[name] = self._progress.stage(text, steps)
            elif kind == "steps" and name in self._stages:
                self._stages[name](steps)
            elif kind == "note" and text not in self._told:
                self._told.add(text)
                self._progress.note(text)
