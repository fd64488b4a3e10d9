"""Vectors are compared as a model's authors say, or as a setting does; rankings are those of
sentence-transformers' own `similarity`."""

from pathlib import Path

import numpy as np
import pytest

import lab
from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.errors import ConfigError, ModelError
from lab.retrieval.dense import INDEXES, build
from lab.retrieval.encoder import SentenceEncoder
from lab.retrieval.similarity import EXACT, prepared
from tests.given import corpus_of
from tests.retrieval.shapes import configure, tiny

TEXTS = {
    "d1": "the pump leaks water",
    "d2": "hot motor fuse valve red seal",
    "d3": "water : the valve . the valve",
    "d4": "red",
    "d5": "seal the pump seal the motor",
}
QUESTIONS = ["the pump leaks", "red fuse", "hot water valve", "motor", "seal : water"]


def chunked() -> Chunking:
    return chunk(corpus_of(TEXTS), ChunkConfig(strategy="document"))


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean", "manhattan"])
def test_rankings_and_scores_are_the_librarys(tmp_path: Path, similarity: str) -> None:
    folder = tiny(tmp_path / "model", normalize=False, similarity=similarity)
    encoder = SentenceEncoder(str(folder), device="cpu")
    assert encoder.similarity == similarity
    documents = encoder.model.encode(list(TEXTS.values()))
    questions = encoder.model.encode(QUESTIONS)
    expected = encoder.model.similarity(questions, documents).numpy()
    queries = [
        lab.Query(f"q{i}", text, evidence=(lab.Evidence("d1"),)) for i, text in enumerate(QUESTIONS)
    ]
    grid = lab.Grid(chunk_strategy="document", mode="dense", model=str(folder))
    run = lab.sweep(corpus_of(TEXTS), queries, grid, cache=tmp_path / "cache.sqlite")
    index = build(documents, "exact", chunked(), similarity)
    found = index.search(prepared(questions, similarity), 5)
    for row, scores in enumerate(expected):
        assert found.hits(row).tolist() == np.argsort(-scores, kind="stable").tolist()
        np.testing.assert_allclose(found.scores[row], np.sort(scores)[::-1], rtol=2e-5)
    assert run.manifest["identities"][f"similarity model of {folder}"] == similarity
    told = [note for note in run.notes if "its authors compare vectors" in note]
    assert len(told) == (similarity != "cosine")
    assert run.table()["similarity"].tolist() == ["model"]


def test_the_cosine_is_a_setting_and_another_system(tmp_path: Path) -> None:
    folder = tiny(tmp_path / "model", normalize=False, similarity="dot")
    queries = [
        lab.Query(f"q{i}", text, evidence=(lab.Evidence(f"d{i + 1}"),))
        for i, text in enumerate(QUESTIONS)
    ]
    grid = lab.Grid(
        chunk_strategy="document", mode="dense", model=str(folder), similarity=("model", "cosine")
    )
    measure = lab.Measure(metrics=("mrr",), select_by="mrr")
    run = lab.sweep(corpus_of(TEXTS), queries, grid, measure, cache=tmp_path / "cache.sqlite")
    assert run.table()["similarity"].tolist() == ["model", "cosine"]
    assert run.manifest["counts"]["texts computed"] == len(TEXTS) + len(
        QUESTIONS
    )  # compared twice, read once


def test_theoretical_normalisation_needs_a_least_value(tmp_path: Path) -> None:
    folder = tiny(tmp_path / "model", normalize=False, similarity="dot")
    query = lab.Query("q", "red", evidence=(lab.Evidence("d4"),))
    grid = lab.Grid(normalization="theoretical", model=str(folder), mode="hybrid")
    with pytest.raises(ConfigError, match=r"'theoretical' needs the cosine.*searched by 'dot'"):
        lab.sweep(corpus_of(TEXTS), [query], grid, cache=tmp_path / "cache.sqlite")


def test_an_unknown_similarity_is_refused_by_name(tmp_path: Path) -> None:
    folder = tiny(tmp_path / "model")
    configure(folder, similarity_fn_name="maxsim")
    with pytest.raises(ModelError, match="similarity_fn_name is 'maxsim'; expected one of cosine"):
        _ = SentenceEncoder(str(folder)).similarity


@pytest.mark.parametrize("kind", list(INDEXES))
@pytest.mark.parametrize("similarity", list(EXACT))
def test_every_index_finds_the_nearest_by_every_similarity(kind: str, similarity: str) -> None:
    draw = np.random.default_rng(0)
    vectors = draw.normal(size=(400, 8)).astype(np.float32) * draw.uniform(0.2, 9, (400, 1))
    texts = {f"d{i:03}": f"text {i}" for i in range(400)}
    chunking = chunk(corpus_of(texts), ChunkConfig(strategy="document"))
    vectors = prepared(vectors.astype(np.float32), similarity)
    queries = prepared(draw.normal(size=(20, 8)).astype(np.float32), similarity)
    wide = vectors.astype(np.float64)[None], queries.astype(np.float64)[:, None]
    literal = {
        "cosine": lambda d, q: (d * q).sum(axis=2),
        "dot": lambda d, q: (d * q).sum(axis=2),
        "euclidean": lambda d, q: -np.sqrt(((d - q) ** 2).sum(axis=2)),
        "manhattan": lambda d, q: -np.abs(d - q).sum(axis=2),
    }[similarity](*wide)
    found = build(vectors, kind, chunking, similarity).search(queries, 10)
    best = np.argsort(-literal, axis=1, kind="stable")[:, :10]
    held = [len(set(found.hits(row)) & set(best[row])) for row in range(20)]
    if kind == "exact":
        assert (found.chunks == best).all()
        np.testing.assert_allclose(found.scores, -np.sort(-literal, axis=1)[:, :10], rtol=1e-6)
    assert np.mean(held) >= 2  # by chance it were 0.25
