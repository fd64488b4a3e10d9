"""Memory of a stage follows the smaller of what is asked for and what there is."""

import tracemalloc

from lab.config.grid import Grid
from lab.relevance.query import Evidence, Query
from lab.sweeping.sweep import sweep
from tests.given import GivenEncoder, corpus_of


def test_memory_follows_the_smaller_of_depth_and_chunks() -> None:
    """Depth 100,000 over 500 chunks and 100 questions took 1.9 GB; the figures are the same."""
    corpus = corpus_of({f"d{n:03d}": f"pump {n} of row {n % 7}" for n in range(500)})
    queries = [
        Query(f"q{n}", f"pump {n} row", evidence=(Evidence(f"d{n:03d}"),)) for n in range(100)
    ]
    tables, peaks = [], []
    for depth in (500, 100_000, 1_000_000):
        tracemalloc.start()
        grid = Grid(chunk_strategy="document", alpha=(0.5,), depth=depth)
        result = sweep(corpus, queries, grid, encoders={"all-MiniLM-L6-v2": GivenEncoder()})
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        tables.append(result.table()[["mode", "recall@5", "ndcg@10"]])
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])
    assert max(peaks) < 1.2 * peaks[0] + 20e6
