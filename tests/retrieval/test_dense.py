"""Dense search: exact scores decide whatever faiss proposes; cases B10-B12, B14, B22."""

import faiss
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.errors import ModelError
from lab.retrieval.dense import INDEXES, build, check_finite
from lab.retrieval.similarity import unit
from tests.given import corpus_of

Hits = list[tuple[str, float]]


def chunking_of(ids: list[str]) -> Chunking:
    return chunk(
        corpus_of({doc_id: f"text of {doc_id}" for doc_id in ids}), ChunkConfig(strategy="document")
    )


def search(
    vectors: dict[str, list[float]], question: list[float], depth: int, kind: str = "exact"
) -> Hits:
    """Documents and scores, best first; vectors by document id."""
    chunking = chunking_of(list(vectors))
    index = build(np.array([vectors[c.doc_id] for c in chunking], dtype=np.float32), kind, chunking)
    found = index.search(unit(np.array([question], dtype=np.float32)), depth)
    return [
        (chunking[int(i)].doc_id, float(s))
        for i, s in zip(found.hits(0), found.scores[0], strict=False)
    ]


def agree(found: Hits, expected: Hits) -> None:
    assert [doc for doc, _ in found] == [doc for doc, _ in expected]
    assert [score for _, score in found] == pytest.approx(
        [score for _, score in expected], abs=1e-6
    )


@pytest.mark.parametrize("kind", sorted(INDEXES))
def test_b10_k_larger_than_the_index(kind: str) -> None:
    found = search({"doc-a": [1, 0], "doc-b": [0, 1], "doc-c": [0.6, 0.8]}, [1, 0], 5, kind)
    agree(found, [("doc-a", 1.0), ("doc-c", 0.6), ("doc-b", 0.0)])


@pytest.mark.parametrize("kind", sorted(INDEXES))
def test_b10_an_empty_index_finds_nothing(kind: str) -> None:
    blank = chunk(corpus_of({"d": " "}), ChunkConfig())
    index = build(np.zeros((0, 2), dtype=np.float32), kind, blank)
    assert index.search(np.array([[1, 0]], dtype=np.float32), 2).lengths.tolist() == [0]


def test_b11_the_inner_product_is_of_unit_vectors() -> None:
    for question in ([1, 0], [10, 0]):
        agree(
            search({"n1": [0.9, 0.1], "n2": [5, 5]}, question, 5),
            [("n1", 0.993884), ("n2", 0.707107)],
        )


def test_b11_a_text_is_1_to_itself_within_float_noise() -> None:
    vectors = unit(np.random.default_rng(0).normal(size=(2000, 24)).astype(np.float32))
    chunking = chunking_of([f"d{i:04}" for i in range(2000)])
    found = build(vectors, "exact", chunking).search(vectors, 1)
    assert found.chunks[:, 0].tolist() == list(range(2000))
    assert found.scores[:, 0] == pytest.approx(np.ones(2000), abs=1e-5)


def test_b12_a_vector_with_nan_or_infinity_is_an_error_that_names_its_chunk() -> None:
    chunking = chunking_of(["z1", "z2", "z3", "z4"])
    vectors = np.array([[0, 0], [np.nan, 0], [0.5, 0.5], [np.inf, 0]], dtype=np.float32)
    with pytest.raises(ModelError) as error:
        build(vectors, "exact", chunking)
    assert [problem.split(":")[0] for problem in error.value.problems] == ["chunk 'z2", "chunk 'z4"]
    with pytest.raises(ModelError, match="question 1"):
        check_finite(vectors[:2], lambda i: f"question {i}")


def test_b12_a_zero_vector_stays_zero_and_scores_0() -> None:
    agree(search({"z1": [0, 0], "z3": [0.5, 0.5]}, [1, 0], 5), [("z3", 0.707107), ("z1", 0.0)])


@pytest.mark.parametrize("kind", sorted(INDEXES))
def test_b14_forty_equal_vectors_come_in_the_order_of_their_ids(kind: str) -> None:
    ids = [f"c{i:02}" for i in range(40)]
    for order in (ids, ids[::-1]):
        vectors = {doc_id: [1.0, 0.0] for doc_id in order}
        assert [doc for doc, _ in search(vectors, [1, 0], 5, kind)] == ids[:5]
        assert [doc for doc, _ in search(vectors, [1, 0], 10, kind)] == ids[:10]


def test_b22_the_best_two_of_ten() -> None:
    similarity = [0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.5, 0.0]
    vectors = {f"d{i}": [s, (1 - s * s) ** 0.5] for i, s in enumerate(similarity)}
    agree(search(vectors, [1, 0], 2), [("d1", 0.9), ("d3", 0.8)])


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 120),
    distinct=st.integers(1, 40),
    depth=st.integers(1, 30),
)
def test_exact_search_is_brute_force_with_ties_by_id(
    seed: int, size: int, distinct: int, depth: int
) -> None:
    """Repeated vectors make long ties, which faiss cuts anywhere."""
    draw = np.random.default_rng(seed)
    vectors = unit(draw.normal(size=(distinct, 4)).astype(np.float32))[
        draw.integers(distinct, size=size)
    ]
    questions = unit(draw.normal(size=(3, 4)).astype(np.float32))
    chunking = chunking_of([f"d{i:03}" for i in range(size)])
    index = build(vectors, "exact", chunking)
    found = index.search(questions, depth)
    for query, question in enumerate(questions):
        scores = (index.vectors.astype(np.float64) * question).sum(axis=1)
        expected = np.lexsort((np.arange(size), -np.round(scores, 6)))[:depth]
        assert found.hits(query).tolist() == expected.tolist()
        everything = np.arange(size)[None]
        np.testing.assert_allclose(index.scores(question[None], everything)[0], scores, atol=1e-12)


@pytest.mark.parametrize("kind", ["hnsw", "ivf"])
@pytest.mark.parametrize("size", [1, 2, 38, 200])
def test_approximate_indexes_serve_small_corpora_and_repeat_themselves(
    kind: str, size: int
) -> None:
    vectors = unit(np.random.default_rng(1).normal(size=(size, 8)).astype(np.float32))
    chunking = chunking_of([f"d{i:03}" for i in range(size)])
    exact = build(vectors, "exact", chunking).search(vectors, 5)
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(4)
    try:
        first, second = (build(vectors, kind, chunking).search(vectors, 5) for _ in range(2))
    finally:
        faiss.omp_set_num_threads(threads)
    assert first.chunks.tolist() == second.chunks.tolist()
    assert first.chunks[:, 0].tolist() == exact.chunks[:, 0].tolist()
    assert (first.lengths > 0).all()
