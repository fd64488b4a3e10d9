"""A sweep on Ray: the bytes of one process, on one node and on two, whatever dies meanwhile."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.cluster.cluster import Cluster
from lab.cluster.parcel import packed, unpacked
from lab.errors import ConfigError, RerankerError
from lab.pipeline.resources import Resources
from lab.sweeping.chunking_run import parted
from lab.sweeping.sweep import sweep
from tests.cluster.sweeps import GRID, differing, work, workers, world
from tests.given import GivenEncoder, hashed

ray = pytest.importorskip("ray", reason="the extra `ray` is not installed")


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """Ray's own test cluster: two nodes with a worker each."""
    from ray.cluster_utils import Cluster as Nodes

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    small = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}
    cluster = Nodes(initialize_head=True, head_node_args=small)
    cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="module")
def cluster(nodes: Any) -> Iterator[Cluster]:
    with Cluster(nodes.address) as connected:
        yield connected


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of one process."""
    folder = tmp_path_factory.mktemp("calm")
    return work(folder / "run", folder / "cache.sqlite")


@pytest.mark.slow  # half a minute a death where others work too
def test_deaths_of_workers_nodes_and_askers_change_nothing(tmp_path: Path) -> None:
    command = [sys.executable, str(Path(__file__).parent / "killed.py"), str(tmp_path), "50", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["worker"] + found["node"] + found["asker"] == 50
    assert found["differ"] == 0


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("ray://somewhere:10001", "the lab runs on a node"),
        ("127.0.0.1:9", "no cluster answers"),
        ("nowhere", "no cluster"),
    ],
)
def test_an_address_without_a_cluster_is_refused(address: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told), Cluster(address):
        pass


def test_two_nodes_write_the_bytes_of_one_process(
    cluster: Cluster, calm: Path, tmp_path: Path
) -> None:
    assert len({node["NodeID"] for node in ray.nodes() if node["Alive"]}) == 2
    struck = work(tmp_path / "run", tmp_path / "cache.sqlite", cluster)
    assert differing(calm, struck) == []
    one, other = (json.loads((run / "manifest.json").read_text()) for run in (calm, struck))
    changing = {"finished", "seconds"}
    assert {k: v for k, v in one.items() if k not in changing} == {
        k: v for k, v in other.items() if k not in changing
    }


def test_phases_are_cut_and_run_by_tasks(cluster: Cluster, tmp_path: Path) -> None:
    grid = GRID.model_copy(update={"chunk_size": (60,), "rerank_depth": (0,)})
    one = work(tmp_path / "one", tmp_path / "1.sqlite", None, grid, phases=3)
    other = work(tmp_path / "other", tmp_path / "2.sqlite", cluster, grid, phases=3)
    assert differing(one, other) == []


def test_progress_of_tasks_reaches_the_one_who_asks(cluster: Cluster, tmp_path: Path) -> None:
    class Heard:
        def __init__(self) -> None:
            self.steps: dict[str, list[int]] = {}
            self.notes: list[str] = []

        def stage(self, label: str, total: int) -> Callable[[int], None]:
            steps = self.steps.setdefault(label, [0, 0])
            steps[1] += total

            def advance(done: int) -> None:
                steps[0] += done

            return advance

        def note(self, message: str) -> None:
            self.notes.append(message)

    def heard(on: Cluster | None, cache: Path) -> Heard:
        listener = Heard()
        corpus, queries = world()
        models = {"encoders": {"given": GivenEncoder()}}
        sweep(
            corpus,
            queries,
            {"model": "given"},
            progress=listener,
            cache=cache,
            **models,
            cluster=on,
        )
        return listener

    one, other = heard(None, tmp_path / "1.sqlite"), heard(cluster, tmp_path / "2.sqlite")
    assert other.notes == one.notes
    assert other.steps.keys() == one.steps.keys()
    assert all(done == total for done, total in other.steps.values())


@pytest.mark.slow  # two workers import torch: most of a minute where others work too
def test_a_model_encodes_in_tasks_what_one_process_encodes(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lab.pipeline import shares
    from lab.retrieval.encoder import SentenceEncoder
    from lab.storage.cache import Cache

    monkeypatch.setattr(shares, "SHARE", 16)
    texts = [f"{'pump ' * (i % 7)}number {i}" for i in range(40)]
    vectors = Resources(Cache(None), cluster=cluster).embed("all-MiniLM-L6-v2", "passage", texts)
    alone = SentenceEncoder("all-MiniLM-L6-v2").encode(texts, "passage", lambda done: None)
    np.testing.assert_array_equal(vectors, alone)


class Refusing:
    identity = "refusing"

    def score(self, questions: Any, texts: Any, progress: Any) -> Any:
        raise ValueError("no\nscore")


def test_what_a_task_raises_is_told_as_in_one_process(cluster: Cluster, tmp_path: Path) -> None:
    corpus, queries = world()
    grid = {"mode": "bm25", "rerank_model": "refusing", "rerank_depth": 5}
    arguments = {"rerankers": {"refusing": Refusing()}, "progress": False}
    told = []
    for on in (None, cluster):
        with pytest.raises(RerankerError) as fault:
            sweep(corpus, queries, grid, cache=tmp_path / "c.sqlite", cluster=on, **arguments)
        told.append((fault.value.problems, fault.value.model))
    assert told[0] == told[1]


def test_a_killed_workers_tasks_are_done_again(
    nodes: Any, cluster: Cluster, calm: Path, tmp_path: Path
) -> None:
    killed: list[int] = []
    ended = threading.Event()

    def strike() -> None:
        while not killed and not ended.is_set():
            for pid in workers(nodes)[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
            time.sleep(0.02)

    striker = threading.Thread(target=strike)
    striker.start()
    struck = work(tmp_path / "run", tmp_path / "cache.sqlite", cluster)
    ended.set()
    striker.join()
    assert killed
    assert differing(calm, struck) == []


def test_families_stay_together() -> None:
    systems = list(GRID.model_copy(update={"chunk_size": (60,)}).systems()[0])
    for most in (1, 2, 3, 9):
        parts = parted(systems, most)
        assert sorted(map(systems.index, [one for part in parts for one in part])) == list(
            range(len(systems))
        )
        assert len(parts) <= most
        where = {one: number for number, part in enumerate(parts) for one in part}
        for one in systems:
            same = [other for other in systems if one.fusion and other.family == one.family]
            assert len({where[other] for other in same if other.fusion}) <= 1


def test_a_parcel_leaves_out_what_both_sides_hold() -> None:
    corpus, _ = world()
    value = {"corpus": corpus, "vector": hashed("a")}
    parcel = packed(value, [corpus])
    assert len(parcel) < 1000
    again = unpacked(parcel, [corpus])
    assert again["corpus"] is corpus
    assert again["vector"] == value["vector"]
