"""Deaths on a cluster of two nodes, in turn of a worker, of a node and of the one who asks.

`python killed.py FOLDER DEATHS SEED` runs a sweep in one process, then on the cluster once a death,
each with a fresh cache, and strikes at a random moment. Prints as JSON the deaths of each kind, how
many sweeps ended before they were struck, and in how many runs a table differs.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))
os.environ["PYTHONPATH"] = str(ROOT)  # the workers' and the asker's
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster as Nodes  # noqa: E402

from lab.cluster.cluster import Cluster  # noqa: E402
from tests.cluster.sweeps import differing, work, workers  # noqa: E402

SMALL: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
KINDS = ("worker", "node", "asker")


def worker_dies(nodes: Nodes) -> bool:
    """Kill a worker in the middle of a task; False where none has one just now."""
    for pid in workers(nodes)[:1]:
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def node_dies(nodes: Nodes) -> bool:
    """Kill all processes of the node on which nobody asks."""
    (other,) = [node for node in nodes.list_all_nodes() if node is not nodes.head_node]
    nodes.remove_node(other, allow_graceful=False)
    return True


def struck(strike: Callable[[], bool], after: float, sweep: Callable[[], Any]) -> bool:
    """Run a sweep and strike it after some seconds, as soon as that can be done; False where it
    ended first."""
    ended, hit = threading.Event(), threading.Event()

    def wait() -> None:
        ended.wait(after)
        while not ended.is_set() and not hit.is_set():
            if strike():
                hit.set()
            time.sleep(0.01)

    striker = threading.Thread(target=wait)
    striker.start()
    sweep()
    ended.set()
    striker.join()
    return hit.is_set()


def asker_dies(address: str, folder: Path, cache: Path, after: float) -> bool:
    """Kill the process that asks, then let another end the sweep; False where it ended first."""
    command = [sys.executable, __file__, "ask", str(folder), str(cache), address]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        ended = process.wait(after) == 0
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        ended = False
    if not ended:
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return not ended


def main(folder: Path, deaths: int, seed: int) -> None:
    draw, killed, escaped, differ = random.Random(seed), Counter[str](), 0, 0
    calm = work(folder / "calm", folder / "calm.sqlite")
    nodes = Nodes(initialize_head=True, head_node_args={**SMALL, "include_dashboard": False})
    nodes.add_node(**SMALL)
    try:
        with Cluster(nodes.address) as cluster:
            begin = time.monotonic()
            work(folder / "warm", folder / "warm.sqlite", cluster)
            usual = time.monotonic() - begin
            while killed.total() < deaths:
                kind, run = KINDS[killed.total() % len(KINDS)], folder / "struck"
                shutil.rmtree(run, ignore_errors=True)
                cache = folder / f"{killed.total()}-{escaped}.sqlite"
                after = draw.uniform(0, usual * (2 if kind == "asker" else 0.8))
                if kind == "asker":
                    hit = asker_dies(nodes.address, run, cache, after)
                else:
                    dies = worker_dies if kind == "worker" else node_dies
                    hit = struck(
                        lambda dies=dies: dies(nodes),  # type: ignore[misc]
                        after,
                        lambda run=run, cache=cache: work(run, cache, cluster),  # type: ignore[misc]
                    )
                if kind == "node" and len(nodes.list_all_nodes()) == 1:
                    nodes.add_node(**SMALL)
                killed[kind] += hit
                escaped += not hit
                differ += bool(differing(calm, run))
                print(kind, hit, killed.total(), escaped, differ, file=sys.stderr, flush=True)
    finally:
        nodes.shutdown()
    print(json.dumps({**killed, "escaped": escaped, "differ": differ}))


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        with Cluster(sys.argv[4]) as connected:
            work(Path(sys.argv[2]), Path(sys.argv[3]), connected)
    else:
        main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
