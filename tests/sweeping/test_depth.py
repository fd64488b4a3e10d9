"""Depth counts chunks: the run says which metrics look past it."""

from pathlib import Path

import pytest

from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.document import Corpus, Document
from lab.corpus.read import read_corpus
from lab.relevance.query import Evidence, Query
from lab.relevance.read import read_diagnostics
from lab.sweeping.sweep import sweep

# Six documents of four chunks each, all of which share the question's word.
CORPUS = Corpus(Document(f"d{i}", "pump oil. " * 4) for i in range(6))


def notes_of(metrics: tuple[str, ...], evidence: tuple[Evidence, ...], depth: int) -> list[str]:
    result = sweep(
        CORPUS,
        [Query("q", "pump", evidence=evidence)],
        Grid(mode="bm25", chunk_size=10, depth=depth),
        Measure(metrics=metrics, select_by=metrics[0]),
    )
    return [note for note in result.notes if note.startswith("retrieve.depth")]


def test_recall_of_more_documents_than_the_chunks_hold_is_named() -> None:
    evidence = (Evidence("d0"), Evidence("d5"))
    (note,) = notes_of(("recall@5", "recall@1"), evidence, depth=8)
    assert note.startswith("retrieve.depth cuts recall@5: depth 8 counts chunks")
    assert "under 1 of 1 systems hold fewer documents than it reads for up to 1 of 1" in note
    assert notes_of(("recall@5",), evidence, depth=24) == []


def test_a_metric_without_a_cut_is_cut_where_a_piece_is_missing() -> None:
    every = tuple(Evidence(f"d{i}") for i in range(6))
    assert [n.split()[2] for n in notes_of(("map", "mrr"), every, depth=8)] == ["map:"]
    assert notes_of(("map", "mrr"), every, depth=24) == []


def test_spans_and_token_budgets() -> None:
    spans = (Evidence("d0", 0, 5), Evidence("d5", 0, 5))
    assert [n.split()[2] for n in notes_of(("recall@9", "recall@8"), spans, 8)] == ["recall@9:"]
    cut = notes_of(("recall@500tok", "recall@3tok"), spans, depth=8)
    assert [note.split()[2] for note in cut] == ["recall@500tok:"]


@pytest.mark.slow
def test_cranfield_recall_at_100_is_cut_by_depth_100(shared: Path, cache: Path) -> None:
    folder = shared / "bench" / "beir" / "cranfield"
    corpus = read_corpus(folder)
    queries = read_diagnostics(folder, corpus)
    values = {}
    for depth in (100, 1000):
        measure = Measure(metrics=("recall@100", "map", "ndcg@10"), select_by="ndcg@10")
        grid = Grid(mode="bm25", chunk_size=400, depth=depth)
        result = sweep(corpus, queries, grid, measure, cache=cache)
        values[depth] = result.scores(result.best).means()
        cut = [n.split()[2].rstrip(":") for n in result.notes if n.startswith("retrieve.depth")]
        assert cut == (["recall@100", "map"] if depth == 100 else ["map"])
    assert values[100]["ndcg@10"] == values[1000]["ndcg@10"]
    assert values[100]["recall@100"] < values[1000]["recall@100"]
