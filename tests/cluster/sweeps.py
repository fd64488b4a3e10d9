"""A sweep to be run on a cluster and struck there, in a module that workers can import."""

import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lab.arrays import Vectors
from lab.cluster.cluster import Cluster
from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.document import Corpus
from lab.relevance.query import Evidence, Query
from lab.runs.folder import TABLES
from lab.sweeping.sweep import sweep
from tests.given import GivenEncoder, GivenReranker, corpus_of

WORDS = "pump valve seal motor leak noise heat gauge filter rotor".split()
GRID = Grid(
    chunk_size=(60, 120),
    mode=("bm25", "dense", "hybrid"),
    alpha=(0.25, 0.75),
    normalization=("min-max", "rrf"),
    model="given",
    rerank_model="given",
    rerank_depth=(0, 5),
)


class SlowEncoder(GivenEncoder):
    """Takes its time, as a model does, so that workers are struck in the middle of work."""

    def encode(self, texts: Sequence[str], role: str, progress: Callable[[int], None]) -> Vectors:
        time.sleep(0.001 * len(texts))
        return super().encode(texts, role, progress)


def world() -> tuple[Corpus, list[Query]]:
    """Documents of drawn words, and a question on a place in each."""
    draw = random.Random(7)
    corpus = corpus_of(
        {f"d{n:02}": " ".join(draw.choices(WORDS, k=200)) + f" x{n}" for n in range(16)}
    )
    queries = [
        Query(
            f"q{n}",
            " ".join(draw.choices(WORDS, k=3)),
            evidence=(Evidence(f"d{n:02}", 30 * n, 30 * n + 40),),
        )
        for n in range(16)
    ]
    return corpus, queries


def work(
    folder: Path, cache: Path, cluster: Cluster | None = None, grid: Grid = GRID, phases: int = 1
) -> Path:
    """Run the sweep and write its folder."""
    corpus, queries = world()
    run = sweep(
        corpus,
        queries,
        grid,
        Measure(phases=phases),
        cache=cache,
        progress=False,
        encoders={"given": SlowEncoder()},
        rerankers={"given": GivenReranker({"pump valve": 1.0})},
        cluster=cluster,
    )
    return run.write(folder)


def differing(one: Path, other: Path) -> list[str]:
    """Tables of two run folders whose bytes differ."""
    tables = [f"{name}.parquet" for name in TABLES]
    return [name for name in tables if (one / name).read_bytes() != (other / name).read_bytes()]


def workers(nodes: Any) -> list[int]:
    """Process ids of the workers of these nodes that run a task of the lab, and of no others."""
    raylets = [node.all_processes["raylet"][0].process.pid for node in nodes.list_all_nodes()]
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            if parent in raylets and b"ray::_" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
        except OSError:  # it has ended
            continue
    return found
