"""Our side of a whole-process comparison. Usage: ours.py DATA hybrid|bm25|stages"""

import sys
import time
from pathlib import Path

start = time.perf_counter(), time.process_time()

import lab  # noqa: E402  # the clock starts before anything is imported
from lab.sweeping.sweep import sweep  # noqa: E402


def main(data: Path, what: str) -> None:
    corpus = lab.read_corpus(data / "spans/chroma")
    queries = lab.read_diagnostics(data / "spans/chroma", corpus)
    alphas = tuple(step / 10 for step in range(11))
    grid = lab.Grid(
        chunk_size=(256, 512, 1024), mode="bm25" if what == "bm25" else "hybrid", alpha=alphas
    )
    begun = time.perf_counter(), time.process_time()
    result = sweep(corpus, queries, grid)
    print(
        f"sweep alone: {time.perf_counter() - begun[0]:.2f} s, processor "
        f"{time.process_time() - begun[1]:.2f} s"
    )
    print(result.table()[["system", *result.metrics]].to_string())
    print(dict(result.manifest["seconds"]))
    print(
        f"whole: {time.perf_counter() - start[0]:.2f} s, processor "
        f"{time.process_time() - start[1]:.2f} s"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
