"""A sweep to be killed: the parent imports everything once and forks a child a time, so that a
hundred deaths take minutes.

`python killed.py FOLDER DEATHS SEED` writes `FOLDER/calm` undisturbed, then `FOLDER/struck` over
and over with other caches, killing every child at a random moment, until it is let run to its end.
Prints as JSON how often a child died before its end (`killed`), how many ended first (`escaped`),
and which tables differ.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))

import faiss  # noqa: E402
import pandas  # noqa: E402, F401  imported here so that no child has to
import pyarrow.parquet  # noqa: E402, F401
import ranx.metrics  # noqa: E402, F401

from lab.arrays import Vectors  # noqa: E402
from lab.config.grid import Grid  # noqa: E402
from lab.relevance.query import Evidence, Query  # noqa: E402
from lab.runs.folder import TABLES, write_run  # noqa: E402
from lab.sweeping.sweep import sweep  # noqa: E402
from tests.given import GivenEncoder, corpus_of  # noqa: E402

GRID = Grid(chunk_size=(60, 120), mode=("bm25", "hybrid"), alpha=(0.25, 0.75), model="given")
WORDS = "pump valve seal motor leak noise heat gauge".split()


class SlowEncoder(GivenEncoder):
    """Takes its time, as a model does, so that death comes in the middle of encoding as well."""

    def encode(self, texts, role, progress) -> Vectors:  # type: ignore[no-untyped-def]
        time.sleep(0.0005 * len(texts))
        return super().encode(texts, role, progress)


def work(folder: Path, cache: Path) -> None:
    draw = random.Random(7)
    corpus = corpus_of(
        {f"d{n}": " ".join(draw.choices(WORDS, k=300)) + f" x{n}" for n in range(24)}
    )
    queries = [
        Query(
            f"q{n}",
            " ".join(draw.choices(WORDS, k=3)),
            evidence=(Evidence(f"d{n}", 30 * n, 30 * n + 40),),
        )
        for n in range(24)
    ]
    result = sweep(corpus, queries, GRID, cache=cache, encoders={"given": SlowEncoder()})
    write_run(result.tables, folder)


def child(folder: Path, cache: Path) -> int:
    """The process id of a child that runs the sweep."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        faiss.omp_set_num_threads(1)
        work(folder, cache)
        code = 0
    finally:
        os._exit(code)


def main(folder: Path, deaths: int, seed: int) -> None:
    draw = random.Random(seed)
    begin = time.monotonic()
    assert os.waitpid(child(folder / "calm", folder / "calm.sqlite"), 0)[1] == 0
    calm = time.monotonic() - begin
    killed = escaped = 0
    while killed < deaths:
        # A fresh cache from time to time, else everything is soon kept and only the last stages are
        # struck.
        cache = folder / f"struck-{killed // 10}.sqlite"
        process = child(folder / "struck", cache)
        time.sleep(draw.uniform(0, calm))
        os.kill(process, signal.SIGKILL)
        status = os.waitpid(process, 0)[1]
        if os.WIFSIGNALED(status):
            killed += 1
        else:
            assert status == 0, "a run after a killed one failed"
            escaped += 1
        if killed == deaths or draw.random() < 0.2:
            finished = os.waitpid(child(folder / "struck", cache), 0)[1]
            assert finished == 0, "a run after a killed one failed"
    tables = [f"{name}.parquet" for name in TABLES]
    differ = [
        name
        for name in tables
        if (folder / "calm" / name).read_bytes() != (folder / "struck" / name).read_bytes()
    ]
    left = sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
    print(json.dumps({"killed": killed, "escaped": escaped, "differ": differ, "left": len(left)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
