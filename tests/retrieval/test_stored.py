"""Vectors as an index would store them: what is kept, how it is compared, and what it costs."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.arrays import Vectors
from lab.errors import ConfigError
from lab.retrieval.config import DEFAULT_MODEL
from lab.retrieval.dense import index, stored_by
from lab.retrieval.similarity import unit
from lab.retrieval.stored import as_asked, as_stored, bytes_each
from tests.conftest import ROOT
from tests.given import GivenEncoder, corpus_of


def vectors(rows: int, dimension: int, seed: int = 0) -> Vectors:
    return np.random.default_rng(seed).normal(size=(rows, dimension)).astype(np.float32)


def test_worked_on_paper() -> None:
    text = np.array([[0.6, -0.8, 0.0, 0.1]], dtype=np.float32)
    assert as_stored(text, 2, "float32", "cosine").tolist() == text[:, :2].tolist()
    # Of length 1 by its first two numbers; 0.8 is 127 steps, 0.6 95.25 of them.
    np.testing.assert_allclose(
        as_stored(text, 2, "int8", "cosine"), [[95 * 0.8 / 127, -0.8]], rtol=1e-6
    )
    signs = as_stored(text, 0, "binary", "cosine")
    assert signs.tolist() == [[0.5, -0.5, -0.5, 0.5]], "0 is not above 0"
    question = np.array([[0.1, 0.1, -9.0, 5.0]], dtype=np.float32)
    # One of four signs differs: 1 - 2/4.
    product = (as_asked(question, 0, "binary", "cosine") @ signs.T).item()
    assert product == pytest.approx(0.5)
    # Rescored, the question keeps its numbers.
    product = (as_asked(question, 0, "binary+rescore(4)", "cosine") @ signs.T).item()
    assert product == pytest.approx(0.5 * (0.1 - 0.1 + 9 + 5) / np.linalg.norm(question))
    zero = np.zeros((1, 4), dtype=np.float32)
    assert not as_stored(zero, 0, "binary", "cosine").any()


@pytest.mark.parametrize(
    ("storage", "each"),
    [("float32", 1536), ("int8", 388), ("binary", 48), ("binary+rescore(4)", 48)],
)
def test_bytes_of_384_dimensions(storage: str, each: int) -> None:
    assert bytes_each(384, storage) == each
    built = stored_by(index(unit(vectors(10, 384)), "exact"), storage)
    assert built.size == 10 * each or storage == "float32"


@given(st.integers(0, 1000), st.integers(2, 65))
def test_int8_is_near_and_scales_nothing(seed: int, dimension: int) -> None:
    text = vectors(3, dimension, seed)
    kept = as_stored(text, 0, "int8", "cosine")
    whole = unit(text)
    step = np.abs(whole).max(axis=1, keepdims=True) / 127
    assert (np.abs(kept - whole) <= step / 2 + 1e-6).all()
    one_by_one = np.concatenate([as_stored(row[None], 0, "int8", "cosine") for row in text])
    assert one_by_one.tobytes() == kept.tobytes(), "a vector does not depend on those beside it"


def test_signs_rank_as_faiss_does_by_hamming_distance() -> None:
    import faiss

    texts, questions = vectors(300, 64), vectors(20, 64, seed=1)
    built = stored_by(index(as_stored(texts, 0, "binary", "cosine"), "exact"), "binary")
    found = built.search(unit(as_asked(questions, 0, "binary", "cosine")), 10)
    binary = faiss.IndexBinaryFlat(64)
    binary.add(np.packbits(texts > 0, axis=1))
    distances, _ = binary.search(np.packbits(questions > 0, axis=1), 10)
    np.testing.assert_allclose((1 - found.scores) / 2 * 64, distances, atol=1e-4)


def test_rescoring_orders_what_signs_propose() -> None:
    texts, questions = vectors(300, 64), vectors(20, 64, seed=1)
    signs = unit(as_stored(texts, 0, "binary", "cosine"))
    built = stored_by(index(signs, "exact"), "binary+rescore(3)")
    asked = unit(as_asked(questions, 0, "binary+rescore(3)", "cosine"))
    found = built.search(asked, 5)
    for row, question in enumerate(asked):
        by_signs = signs @ unit(np.sign(question)[None])[0]
        proposed = np.flatnonzero(by_signs >= np.sort(by_signs)[-15] - 1e-6)
        best = proposed[np.argsort(-(signs[proposed] @ question), kind="stable")][:5]
        assert found.hits(row).tolist() == best.tolist()


TEXTS = {f"d{n}": f"text number {n}" for n in range(40)}
QUERIES = [
    lab.Query(f"q{n}", f"question {n}", evidence=(lab.Evidence(f"d{n}"),)) for n in range(40)
]


def near(dimension: int = 32) -> GivenEncoder:
    """A question's vector is its text's and some noise: some are found, some are not."""
    texts, noise = vectors(40, dimension), vectors(40, dimension, seed=2)
    of_text = {text: texts[n].tolist() for n, text in enumerate(TEXTS.values())}
    of_question = {q.text: (texts[n] + 1.1 * noise[n]).tolist() for n, q in enumerate(QUERIES)}
    return GivenEncoder(of_text | of_question)


def test_what_coarse_vectors_lose_is_quantised_and_proved(tmp_path: Path) -> None:
    grid = lab.Grid(
        chunk_strategy="document",
        mode="dense",
        model="given",
        dims=(0, 8),
        storage=("float32", "int8", "binary", "binary+rescore(2)"),
    )
    run = lab.sweep(
        corpus_of(TEXTS),
        QUERIES,
        grid,
        ["recall@1"],
        cache=tmp_path / "cache.sqlite",
        encoders={"given": near()},
        progress=False,
    )
    table = run.table().set_index(["dims", "storage"])
    bytes_of = table["vector_bytes"].to_dict()
    assert bytes_of[0, "float32"] == 128
    assert bytes_of[8, "binary+rescore(2)"] == 1
    whole, coarse = table.loc[(0, "float32"), "system"], table.loc[(8, "binary"), "system"]
    causes = run.causes()
    lost = causes[causes["system"] == coarse]
    assert (lost["cause"] == "quantised").sum() > 5
    by_whole = {query.query_id for query in QUERIES}
    by_whole -= set(causes[causes["system"] == whole]["query_id"])
    proved = lost[lost["cause"] == "quantised"]
    assert proved["verified"].all()
    assert proved["remedy"].str.startswith("vectors").all()
    assert set(lost["query_id"]) & by_whole <= set(proved["query_id"])
    assert "quantised" not in set(causes[causes["system"] == whole]["cause"])
    assert "vector_bytes" in run.plot.cost().table


def test_cells_that_cannot_be_are_told() -> None:
    for settings, told in (
        ({"storage": "int4"}, "expected float32, int8, binary or binary.rescore"),
        ({"storage": "binary+rescore(0)"}, "expected float32"),
        ({"dims": -1}, "from 0"),
        ({"storage": "binary+rescore(4)", "index": "hnsw", "mode": "dense"}, "expected index"),
    ):
        with pytest.raises(ConfigError, match=told):
            lab.Grid(**settings).systems()
    queries = lab.read_diagnostics(
        ROOT / "diagnostic_sets/devices", lab.read_corpus(ROOT / "corpora/devices")
    )
    with pytest.raises(ConfigError, match=r"dense.dims 512.*have 384 numbers"):
        lab.sweep(
            ROOT / "corpora/devices",
            queries,
            {"mode": "dense", "model": DEFAULT_MODEL, "dims": 512},
            progress=False,
        )


def test_a_kept_index_ranks_as_its_run(tmp_path: Path) -> None:
    for storage in ("int8", "binary", "binary+rescore(2)"):
        settings = {"chunk_strategy": "document", "mode": "dense", "model": "given"}
        run = lab.sweep(
            corpus_of(TEXTS),
            QUERIES,
            lab.Grid(**settings, dims=16, storage=storage),
            ["recall@5"],
            cache=tmp_path / "cache.sqlite",
            encoders={"given": near()},
            progress=False,
        )
        lab.index(run, tmp_path / storage, encoders={"given": near()})
        kept = lab.load(tmp_path / storage, encoders={"given": near()})
        fresh = lab.load(run, encoders={"given": near()})
        for query in QUERIES[:10]:
            assert kept.search(query.text, 5) == fresh.search(query.text, 5)
