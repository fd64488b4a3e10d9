"""Ties are broken once, by a stated rule, before any cut."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.retrieval.ranking import NONE, Ranking, project, rank, rank_rows, ranks_of

# Scores from a handful of values tie often; the last two are float noise apart.
SCORES = st.sampled_from([1.0, 0.5, 0.0, -2.0, 0.3, 0.3 + 4e-8])
HITS = st.dictionaries(st.integers(0, 30), SCORES, max_size=25)


def literal(hits: dict[int, float]) -> list[int]:
    return sorted(hits, key=lambda chunk: (-round(hits[chunk], 6), chunk))


@settings(max_examples=200, deadline=None)
@given(rows=st.lists(HITS, min_size=1, max_size=4), depth=st.integers(1, 30), data=st.data())
def test_order_is_score_then_index_whatever_the_insertion_order_and_the_depth(
    rows: list[dict[int, float]], depth: int, data: st.DataObject
) -> None:
    shuffled = [data.draw(st.permutations(sorted(hits))) for hits in rows]
    arrays = [
        (np.array(order, dtype=np.int64), np.array([hits[c] for c in order], dtype=np.float64))
        for order, hits in zip(shuffled, rows, strict=True)
    ]
    found = rank_rows(arrays, depth)
    for query, hits in enumerate(rows):
        expected = literal(hits)[:depth]
        assert found.hits(query).tolist() == expected
        assert found.scores[query, : len(expected)].tolist() == [hits[c] for c in expected]
    assert found.lengths.tolist() == [min(len(hits), depth) for hits in rows]


def test_b14_forty_equal_scores_at_two_depths() -> None:
    chunks, scores = np.arange(40)[::-1], np.ones(40)
    assert rank_rows([(chunks, scores)], 5).hits(0).tolist() == [0, 1, 2, 3, 4]
    assert rank_rows([(chunks, scores)], 10).hits(0).tolist() == list(range(10))
    assert rank(chunks[None], scores[None], 5).hits(0).tolist() == [0, 1, 2, 3, 4]


def test_b23_twenty_equal_scores_keep_the_order_of_their_ids() -> None:
    shuffled = np.random.default_rng(0).permutation(20)
    assert rank_rows([(shuffled, np.ones(20))], 20).hits(0).tolist() == list(range(20))


def test_no_hit_and_no_question() -> None:
    nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    assert rank_rows([nothing], 3).chunks.tolist() == [[NONE] * 3]
    assert len(rank_rows([], 3)) == 0
    assert rank(np.zeros((2, 0), dtype=np.int64), np.zeros((2, 0)), 3).chunks.shape == (2, 0)


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.lists(st.integers(0, 12), unique=True, max_size=10), min_size=1, max_size=4))
def test_ranks_of_and_project_against_loops(rows: list[list[int]]) -> None:
    chunks = np.full((len(rows), 10), NONE, dtype=np.int64)
    for query, row in enumerate(rows):
        chunks[query, : len(row)] = row
    ranking = Ranking(chunks, np.where(chunks == NONE, -np.inf, -np.arange(10.0)))
    queries, wanted = (part.ravel() for part in np.meshgrid(np.arange(len(rows)), np.arange(14), indexing="ij"))
    expected = [rows[q].index(c) + 1 if c in rows[q] else 0 for q, c in zip(queries, wanted, strict=True)]
    assert ranks_of(ranking, queries, wanted).tolist() == expected
    documents = project(ranking, np.arange(13) // 4)
    for query, row in enumerate(rows):
        assert documents.hits(query).tolist() == list(dict.fromkeys(c // 4 for c in row))


def test_b20_and_b26_a_document_stands_at_its_best_chunk_and_once() -> None:
    # Chunks 0, 2, 3 are doc1's, 1 is doc2's: the list doc1 doc2 doc1 doc1.
    documents = project(Ranking(np.array([[0, 1, 2, 3]]), np.array([[4.0, 3.0, 2.0, 1.0]])), np.array([0, 1, 0, 0]))
    assert documents.chunks.tolist() == [[0, 1]]
    assert documents.scores.tolist() == [[4.0, 3.0]]
