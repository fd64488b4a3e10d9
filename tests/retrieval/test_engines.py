"""Other engines compute a model's vectors: near to torch's, alike in every batch, made once."""

from pathlib import Path

import numpy as np
import pytest

import lab
from lab.errors import ConfigError, ModelError
from lab.pipeline.resources import Resources
from lab.retrieval import engines
from lab.retrieval.config import DenseConfig
from lab.retrieval.encoder import SentenceEncoder
from lab.storage.cache import Cache
from tests.given import corpus_of
from tests.retrieval.shapes import tiny

TEXTS = [
    "the pump leaks",
    "red",
    "seal motor fuse valve water hot",
    "hot hot water",
    "the pump " * 9,
]
# Least cosine with torch in float32. Random weights are the worst that int8 can meet.
LEAST = {
    ("onnx", "float32"): 1 - 1e-6,
    ("openvino", "float32"): 1 - 1e-6,
    ("openvino", "bfloat16"): 0.99,
    ("onnx", "int8"): 0.9,
}
for name in ("onnx", "onnxruntime", "openvino"):
    pytest.importorskip(name, reason=f"{name} is not installed (extras onnx, openvino)")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache.sqlite"))


def encoded(encoder: SentenceEncoder, texts: list[str]) -> np.ndarray:
    return encoder.encode(texts, "passage", lambda done: None)


def converted(folder: Path) -> list[Path]:
    return sorted((folder / engines.FOLDER).iterdir())


@pytest.mark.parametrize("architecture", ["bert", "roberta", "distilbert"])
def test_vectors_are_the_models_and_no_batchs(tmp_path: Path, architecture: str) -> None:
    folder = str(tiny(tmp_path / "model", architecture=architecture, prompts={"passage": "the "}))
    plain = SentenceEncoder(folder, device="cpu")
    expected = encoded(plain, TEXTS)
    for (backend, dtype), least in LEAST.items():
        other = SentenceEncoder(folder, dtype, "auto", backend)  # type: ignore[arg-type]
        vectors = encoded(other, TEXTS)
        assert np.sum(vectors * expected, axis=1).min() >= least, (backend, dtype)
        alone = np.concatenate([encoded(other, [text]) for text in TEXTS])
        assert alone.tobytes() == vectors.tobytes(), (backend, dtype)
        assert other.identity != plain.identity
        assert other.max_tokens == plain.max_tokens
    # One file for both engines, and one in eight bits; nothing half-written.
    assert len(converted(tmp_path)) == 2


def test_a_model_is_converted_once_and_known_by_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny(tmp_path / "model")
    first = encoded(SentenceEncoder(str(folder), backend="onnx"), TEXTS)
    (kept,) = converted(tmp_path)
    made = kept.stat().st_mtime_ns
    copy = folder.rename(tmp_path / "moved")
    monkeypatch.setattr(engines, "_convert", lambda *_: pytest.fail("converted again"))
    again = encoded(SentenceEncoder(str(copy), backend="onnx"), TEXTS)
    assert again.tobytes() == first.tobytes()
    assert kept.stat().st_mtime_ns == made
    monkeypatch.undo()
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache.sqlite"))
    encoded(SentenceEncoder(str(tiny(tmp_path / "other", seed=1)), backend="onnx"), TEXTS)
    assert len(converted(tmp_path)) == 2


def test_a_conversion_that_computes_otherwise_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny(tmp_path / "model")
    monkeypatch.setattr(engines, "NEAR", 0.0)
    with pytest.raises(ModelError, match="converted model differs"):
        encoded(SentenceEncoder(str(folder), backend="onnx"), TEXTS)
    assert converted(tmp_path) == []


def test_engines_are_an_axis_of_a_sweep(tmp_path: Path) -> None:
    folder = tiny(tmp_path / "model")
    grid = lab.Grid(
        chunk_strategy="document",
        mode="dense",
        model=str(folder),
        backend=("torch", "onnx", "openvino"),
        dtype=("float32", "bfloat16", "int8"),
    )
    systems, impossible = grid.systems()
    assert len(systems) == 6
    assert len(impossible) == 3
    assert any("'onnx' computes in float32 or int8, not in 'bfloat16'" in why for why in impossible)
    queries = [
        lab.Query(f"q{i}", text, evidence=(lab.Evidence(f"d{i}"),)) for i, text in enumerate(TEXTS)
    ]
    corpus = corpus_of({f"d{i}": text for i, text in enumerate(TEXTS)})
    run = lab.sweep(corpus, queries, grid, ["recall@1"], progress=False)
    assert run.table()["backend"].value_counts().to_dict() == {"torch": 2, "onnx": 2, "openvino": 2}
    # Every engine's vectors are its own.
    assert run.manifest["counts"]["texts computed"] == 6 * len(TEXTS)


def test_what_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    assert "[openvino]'" in engines.missing_engine("openvino")
    queries = [lab.Query("q", "red", evidence=(lab.Evidence("d"),))]
    with pytest.raises(ConfigError, match=r"'onnx' needs onnx and onnxruntime; pip install"):
        lab.sweep(
            corpus_of({"d": "red"}),
            queries,
            {"mode": "dense", "model": str(tiny(tmp_path / "model")), "backend": "onnx"},
            progress=False,
        )


def test_a_name_says_how_a_model_computes(tmp_path: Path) -> None:
    folder = str(tiny(tmp_path / "model"))
    config = DenseConfig(model=folder, backend="onnx", dtype="int8")
    encoder = Resources(Cache(None)).encoder(config.encoder)
    assert encoder == SentenceEncoder(folder, "int8", "auto", "onnx")
    assert DenseConfig(model=folder).encoder == folder
