"""1,000 BM25 systems on the devices: two strategies, five sizes, ten k1, ten b, with causes, choice
and the whole run folder.

Usage: grid.py. Prints one line of JSON: seconds of the processor and of the clock.
"""

import json
import tempfile
import time
from pathlib import Path

import lab

ROOT = Path(__file__).parent.parent.parent


def grid() -> lab.Grid:
    """2 strategies x 5 sizes x 10 k1 x 10 b."""
    return lab.Grid(
        mode="bm25",
        chunk_strategy=("fixed", "sentences"),
        chunk_size=(200, 400, 600, 800, 1000),
        k1=tuple(round(0.2 * step, 1) for step in range(1, 11)),
        b=tuple(round(0.1 * step, 1) for step in range(1, 11)),
    )


def main() -> None:
    corpus = lab.read_corpus(ROOT / "corpora/devices")
    queries = lab.read_diagnostics(ROOT / "diagnostic_sets/devices", corpus)
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache.sqlite"
        # What numba has not compiled on this machine yet is compiled by then.
        lab.sweep(corpus, queries, {"mode": "bm25"}, cache=cache, progress=False)
        clock, processor = time.perf_counter(), time.process_time()
        run = lab.sweep(corpus, queries, grid(), cache=cache, progress=False)
        swept = time.process_time() - processor
        run.write(Path(folder) / "grid")
        print(
            json.dumps(
                {
                    "systems": len(run.systems),
                    "questions": len(run.query_ids),
                    "sweep": round(swept, 1),
                    "write": round(time.process_time() - processor - swept, 1),
                    "wall": round(time.perf_counter() - clock, 1),
                }
            )
        )


if __name__ == "__main__":
    main()
