"""A sketch proposes everything that exact scores put among the first, and nothing is ranked by
it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.retrieval import dense
from lab.retrieval.dense import Dense
from lab.retrieval.similarity import prepared
from lab.retrieval.sketch import Sketch


def drawn(seed: int, count: int, dimension: int, kind: str) -> np.ndarray:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((count, dimension)).astype(np.float32)
    if kind == "repeated":
        vectors = vectors[rng.integers(0, max(1, count // 4), count)]
    elif kind == "lopsided":
        vectors[:, 0] *= 1000
    elif kind == "tiny":
        vectors *= np.float32(1e-20)
    elif kind == "zeros":
        vectors[:: max(1, count // 3)] = 0
    return vectors


@given(
    seed=st.integers(0, 10_000),
    count=st.integers(1, 60),
    dimension=st.integers(1, 40),
    depth=st.integers(1, 70),
    kind=st.sampled_from(["plain", "repeated", "lopsided", "tiny", "zeros"]),
    similarity=st.sampled_from(["cosine", "dot"]),
)
def test_the_ranking_is_that_of_an_exact_search(
    seed: int, count: int, dimension: int, depth: int, kind: str, similarity: str
) -> None:
    vectors = prepared(drawn(seed, count, dimension, kind), similarity)
    queries = prepared(drawn(seed + 1, 3, dimension, "plain"), similarity)
    exact = dense.index(vectors, "exact", similarity).search(queries, depth)
    sketched = Dense(vectors, Sketch.of(vectors), similarity).search(queries, depth)
    assert sketched.chunks.tolist() == exact.chunks.tolist()
    assert sketched.scores.tolist() == exact.scores.tolist()


@pytest.mark.parametrize("kind", ["plain", "repeated", "lopsided", "tiny", "zeros"])
def test_a_product_lies_within_the_slack(kind: str) -> None:
    vectors, query = drawn(3, 500, 33, kind), drawn(4, 1, 33, "plain")[0]
    sketch = Sketch.of(vectors)
    near = (sketch.codes.astype(np.float32) * sketch.scales[:, None]) @ query
    true = vectors.astype(np.float64) @ query.astype(np.float64)
    slack = sketch.slacks.astype(np.float64) * np.linalg.norm(query.astype(np.float64))
    assert (np.abs(near - true) <= slack + 1e-30).all()
    assert sketch.size < vectors.nbytes


def test_few_are_proposed_of_many() -> None:
    vectors = prepared(drawn(5, 20_000, 64, "plain"), "cosine")
    starts, chunks = Sketch.of(vectors).contenders(vectors[:5], 10)
    assert (np.diff(starts) >= 10).all()
    assert len(chunks) < 5 * 200


def test_without_vectors_nothing_is_proposed() -> None:
    nothing = np.zeros((0, 4), dtype=np.float32)
    searched = Dense(nothing, Sketch.of(nothing)).search(np.ones((2, 4), dtype=np.float32), 3)
    assert searched.lengths.tolist() == [0, 0]
