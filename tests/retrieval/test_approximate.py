"""HNSW and IVF: what they lose against exact search is small, and building many of them is safe."""

import numpy as np
import pytest

from lab.arrays import Vectors
from lab.chunking.chunk import Chunking
from lab.corpus.document import Corpus, Document
from lab.retrieval.dense import Dense, build
from lab.retrieval.similarity import unit

CHUNKS, QUESTIONS, DIMENSION, DEPTH = 2000, 50, 32, 10


def vectors(rows: int, seed: int) -> Vectors:
    """Points around 40 centres, as texts of 40 topics lie."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((40, DIMENSION))
    return unit(
        (centres[rng.integers(0, 40, rows)] + rng.standard_normal((rows, DIMENSION))).astype(
            np.float32
        )
    )


@pytest.fixture(scope="module")
def chunking() -> Chunking:
    return Chunking.of(
        Corpus([Document("d", "x" * CHUNKS)]), [(0, i, i + 1, 0) for i in range(CHUNKS)]
    )


def recall(found: Dense, exact: Dense) -> float:
    questions = vectors(QUESTIONS, 2)
    ours, truth = found.search(questions, DEPTH).chunks, exact.search(questions, DEPTH).chunks
    return float(
        np.mean([len(np.intersect1d(a, b)) / DEPTH for a, b in zip(ours, truth, strict=True)])
    )


@pytest.mark.parametrize("kind", ["hnsw", "ivf"])
def test_approximate_search_finds_nearly_all_of_exact(kind: str, chunking: Chunking) -> None:
    base = vectors(CHUNKS, 1)
    assert recall(build(base, kind, chunking), build(base, "exact", chunking)) >= 0.9


def test_ivf_survives_being_built_often(chunking: Chunking) -> None:
    # An index that frees its quantizer a second time ends the process.
    for seed in range(5):
        assert len(build(vectors(CHUNKS, seed), "ivf", chunking).search(vectors(3, 9), 5)) == 3
