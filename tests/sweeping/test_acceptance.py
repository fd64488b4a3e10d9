"""Figures on public data that published or independent implementations agree on; without ../shared
these are skipped."""

from pathlib import Path

import pytest

import lab
from lab.runs.run import Run

B = lab.Measure(metrics=("recall@5", "precision@3", "ndcg@10"))
PYSERINI = {
    "chunk_strategy": "document",
    "analyzer": "english",
    "variant": "lucene",
    "k1": 1.2,
    "b": 0.75,
}


def swept(corpus: Path, questions: Path, **grid: object) -> Run:
    read = lab.read_corpus(corpus)
    return lab.sweep(read, lab.read_diagnostics(questions, read), lab.Grid(**grid), B)


def test_scifact_bm25_is_pyserinis(shared: Path) -> None:
    """NDCG@10: Pyserini 0.679, an independent implementation here 0.686."""
    folder = shared / "bench" / "beir" / "scifact"
    result = swept(folder, folder, mode="bm25", **PYSERINI)
    assert result.tables.values.shape[1] == 300
    assert 0.675 <= result.scores(result.best).means()["ndcg@10"] <= 0.695


@pytest.mark.parametrize(
    ("size", "expected"),
    [(256, (0.438, 0.235, 0.379)), (512, (0.669, 0.278, 0.599)), (1024, (0.819, 0.311, 0.736))],
)
def test_chroma_bm25_is_the_slow_independent_implementations(
    shared: Path, size: int, expected: tuple[float, ...]
) -> None:
    folder = shared / "bench" / "spans" / "chroma"
    result = swept(folder, folder / "queries.jsonl", mode="bm25", chunk_size=size)
    assert result.tables.values.shape[1] == 472
    means = result.scores(result.best).means()
    assert [means[metric] for metric in B.metrics] == pytest.approx(list(expected), abs=0.02)


@pytest.mark.parametrize(
    ("name", "count", "least"), [("xquad-zh", 1190, 0.88), ("cmrc2018", 997, 0.87)]
)
def test_chinese_bm25_finds_what_peers_score_0_on(
    shared: Path, name: str, count: int, least: float
) -> None:
    folder = shared / "bench" / "spans" / name
    result = swept(folder, folder / "queries.jsonl", mode="bm25", chunk_size=200)
    assert result.tables.values.shape[1] == count
    assert result.scores(result.best).means()["recall@5"] >= least


@pytest.mark.slow
def test_scifact_dense_and_fusion(shared: Path) -> None:
    """NDCG@10: all-MiniLM-L6-v2 0.645 as published; the best weighted fusion above both legs, here
    0.736 at alpha 0.5."""
    folder = shared / "bench" / "beir" / "scifact"
    alpha = {"start": 0.1, "stop": 0.9, "step": 0.1}
    result = swept(
        folder,
        folder,
        mode=("bm25", "dense", "hybrid"),
        alpha=alpha,
        depth=100,
        normalization="min-max",
        **PYSERINI,
    )
    table = result.table().groupby("mode")["ndcg@10"].max()
    assert 0.640 <= table["dense"] <= 0.650
    assert table["hybrid"] >= 0.72
    assert table["hybrid"] > max(table["bm25"], table["dense"])
