"""Ties are broken once, by a stated rule, before any cut."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.arrays import NONE
from lab.retrieval.ranking import Ranking, project, rank_lists, ranks_of
from tests.given import ranking_of

# Scores from a handful of values tie often; the last two are float noise apart.
SCORES = st.sampled_from([1.0, 0.5, 0.0, -2.0, 0.3, 0.3 + 4e-8])
HITS = st.dictionaries(st.integers(0, 30), SCORES, max_size=25)


def literal(hits: dict[int, float]) -> list[int]:
    return sorted(hits, key=lambda chunk: (-round(hits[chunk], 6), chunk))


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(HITS, min_size=1, max_size=4),
    depth=st.integers(1, 30),
    scale=st.sampled_from([1, 1e9]),
    data=st.data(),
)
def test_order_is_score_then_index_whatever_the_insertion_order_and_the_depth(
    rows: list[dict[int, float]], depth: int, scale: float, data: st.DataObject
) -> None:
    rows = [{chunk: scale * score for chunk, score in hits.items()} for hits in rows]
    found = ranking_of(
        [{c: hits[c] for c in data.draw(st.permutations(sorted(hits)))} for hits in rows], depth
    )
    starts = np.cumsum([0, *map(len, rows)])
    chunks, scores = (
        np.array([value for hits in rows for value in part(hits)], dtype=kind)
        for part, kind in ((list, np.int64), (dict.values, np.float64))
    )
    assert (
        rank_lists(starts, chunks, scores, depth).chunks[:, : found.chunks.shape[1]].tolist()
        == found.chunks.tolist()
    )
    for query, hits in enumerate(rows):
        expected = literal(hits)[:depth]
        assert found.hits(query).tolist() == expected
        assert found.scores[query, : len(expected)].tolist() == [hits[c] for c in expected]
    assert found.lengths.tolist() == [min(len(hits), depth) for hits in rows]


def test_b14_forty_equal_scores_at_two_depths() -> None:
    reverse = dict.fromkeys(range(39, -1, -1), 1.0)
    assert ranking_of([reverse], 5).hits(0).tolist() == [0, 1, 2, 3, 4]
    assert ranking_of([reverse], 10).hits(0).tolist() == list(range(10))


def test_b23_twenty_equal_scores_keep_the_order_of_their_ids() -> None:
    shuffled = dict.fromkeys(np.random.default_rng(0).permutation(20).tolist(), 1.0)
    assert ranking_of([shuffled], 20).hits(0).tolist() == list(range(20))


def test_no_hit_and_no_question() -> None:
    assert ranking_of([{}, {}], 3).lengths.tolist() == [0, 0]
    assert ranking_of([{}, {4: 1.0}], 3).lengths.tolist() == [0, 1]
    assert len(ranking_of([], 3)) == 0


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.lists(st.integers(0, 12), unique=True, max_size=10), min_size=1, max_size=4)
)
def test_ranks_of_and_project_against_loops(rows: list[list[int]]) -> None:
    chunks = np.full((len(rows), 10), NONE, dtype=np.int64)
    for query, row in enumerate(rows):
        chunks[query, : len(row)] = row
    ranking = Ranking(chunks, np.where(chunks == NONE, -np.inf, -np.arange(10.0)))
    queries, wanted = (
        part.ravel() for part in np.meshgrid(np.arange(len(rows)), np.arange(14), indexing="ij")
    )
    expected = [
        rows[q].index(c) + 1 if c in rows[q] else 0 for q, c in zip(queries, wanted, strict=True)
    ]
    assert ranks_of(ranking, queries, wanted).tolist() == expected
    documents = project(ranking, np.arange(13) // 4)
    for query, row in enumerate(rows):
        assert documents.hits(query).tolist() == list(dict.fromkeys(c // 4 for c in row))


def test_b20_and_b26_a_document_stands_at_its_best_chunk_and_once() -> None:
    # Chunks 0, 2, 3 are doc1's, 1 is doc2's: the list doc1 doc2 doc1 doc1.
    documents = project(
        Ranking(np.array([[0, 1, 2, 3]]), np.array([[4.0, 3.0, 2.0, 1.0]])), np.array([0, 1, 0, 0])
    )
    assert documents.chunks.tolist() == [[0, 1]]
    assert documents.scores.tolist() == [[4.0, 3.0]]
