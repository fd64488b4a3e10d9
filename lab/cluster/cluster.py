"""Cluster: Ray's worker processes, on this machine or on several."""

import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from lab.corpus.budget import memory
from lab.errors import ConfigError, LabError

# How often a task is begun again after the death of its worker or its node.
RETRIES = 5
# Seconds between two looks at what the tasks report.
PULSE = 0.5
# Ray on this machine keeps what tasks hand over in this share of memory, and beyond it on disk.
SHARE = 16
LOCAL = "local"


class Cluster:
    """A connection to Ray; a context, since what was started here has to end. `address` is
    `local` for processes on this machine alone, which are started and ended here, else that of a
    cluster of which this machine is a node (`auto`, or `HOST:PORT`).

    Raises ConfigError when Ray is not installed or nothing answers at the address.
    """

    def __init__(self, address: str = LOCAL) -> None:
        if find_spec("ray") is None:
            raise ConfigError("--ray needs Ray: pip install 'retrieval-diagnostics-lab[ray]'")
        if "://" in address:
            raise ConfigError(
                f"--ray {address}: the lab runs on a node of the cluster; join it with `ray start "
                "--address=HOST:PORT` and give that HOST:PORT, or `auto`"
            )
        self.address = address
        self._folder = ""

    def __enter__(self) -> "Cluster":
        # Nobody asked Ray to tell its makers of its use, or to speak on our screen.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        import ray

        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        try:
            if self.address == LOCAL:
                # A short path: sockets lie in it.
                self._folder = tempfile.mkdtemp(prefix="lab-ray-", dir="/tmp")
                ray.init(
                    "local",
                    num_cpus=os.cpu_count(),
                    include_dashboard=False,
                    object_store_memory=max(memory() // SHARE, 100 * 2**20),
                    _temp_dir=self._folder,
                    **quiet,
                )
            else:
                _reach(self.address)
                ray.init(self.address, **quiet)
        except (OSError, RuntimeError, ValueError) as fault:
            self.__exit__()
            raise ConfigError(
                f"--ray {self.address}: no cluster answers there ({_first_line(fault)}); expected "
                "the HOST:PORT that `ray start --head` printed, `auto` on one of its nodes, or "
                "`local`"
            ) from None
        return self

    def __exit__(self, *fault: object) -> None:
        import ray

        ray.shutdown()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def workers(self) -> int:
        """Tasks that run at the same time."""
        import ray

        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def put(self, value: Any) -> Any:
        """A reference to a value that tasks of all nodes can fetch."""
        import ray

        return ray.put(value)

    def each(
        self,
        function: Callable[..., Any],
        arguments: Sequence[tuple[Any, ...]],
        watch: Callable[[], None] = lambda: None,
    ) -> Iterator[tuple[int, Any]]:
        """Run a function of a module once for each tuple of arguments, as tasks, and give the place
        of each and what it returned as they end. `watch` is called all the while.

        A task whose worker or node dies is begun again elsewhere. Raises what a task raises, and
        LabError when one dies again and again.
        """
        import ray

        task = ray.remote(function).options(max_retries=RETRIES)
        places = {task.remote(*some): place for place, some in enumerate(arguments)}
        waiting = list(places)
        while waiting:
            ended, waiting = ray.wait(waiting, timeout=PULSE)
            watch()
            for reference in ended:
                yield places.pop(reference), result(reference)


def result(reference: Any) -> Any:
    """What a task or an actor returned. Raises what it raised, and LabError when it died."""
    import ray
    from ray.exceptions import RayError, RayTaskError

    try:
        return ray.get(reference)
    except RayTaskError as fault:
        cause = fault.cause
        raise (cause if isinstance(cause, Exception) else fault) from None
    except RayError as fault:
        raise LabError(
            f"a task of the cluster died {RETRIES + 1} times ({_first_line(fault)}), most likely "
            "for want of memory; what models had computed is kept, and the same command goes on "
            "from there"
        ) from None


# The latest values that this worker has fetched: its tasks share them.
_fetched: dict[str, Any] = {}
LATEST = 4


def fetched(reference: Any) -> Any:
    """The value of a reference, in a task; fetched once for the tasks that a worker has."""
    name = reference.hex()
    if name not in _fetched:
        value = result(reference)
        for old in list(_fetched)[: max(0, len(_fetched) - LATEST + 1)]:
            del _fetched[old]
        _fetched[name] = value
    return _fetched[name]


def task_name() -> str:
    """What tells the task that runs here from others."""
    import ray

    return str(ray.get_runtime_context().get_task_id())


def _reach(address: str) -> None:
    """Raises OSError where nothing listens, for which Ray waits two minutes, and ValueError for
    what is no address."""
    host, _, port = address.rpartition(":")
    if address != "auto":
        socket.create_connection((host, int(port)), timeout=10).close()


def _first_line(fault: BaseException) -> str:
    return next(iter(str(fault).strip().splitlines()), type(fault).__name__)
