"""Vectors are those that a model's authors mean, whatever shape the model was saved in."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.pipeline.resources import Resources
from lab.retrieval.encoder import SentenceEncoder
from lab.retrieval.prompts import Prompts, Role
from lab.storage.cache import Cache
from tests.conftest import ROOT
from tests.retrieval.shapes import configure, minilm, tiny

TEXTS = [
    "the pump leaks",
    "water",
    "the seal of the hot motor leaks water . the red fuse",
    "",
    "the valve : " * 20,
    "a red seal",
]
E5 = {"query": "query : ", "passage": "passage : "}

SHAPES: dict[str, dict[str, Any]] = {
    "plain": {},
    "prompts": {"prompts": E5},
    "default prompt": {"prompts": E5, "default": "query"},
    "search prompts": {
        "prompts": {"search_query": "search query : ", "search_document": "search document : "}
    },
    "prompt of one role": {"prompts": {"s2p_query": "query : "}},
    "default alone": {"prompts": {"custom": "search : "}, "default": "custom"},
    "prompt left out of the mean": {"prompts": E5, "include_prompt": False},
    "left padding": {"left": True, "prompts": E5},
    "left padding, prompt left out": {"left": True, "prompts": E5, "include_prompt": False},
    "last token": {"pooling": "lasttoken", "left": True},
    "cls": {"pooling": "cls"},
    "max": {"pooling": "max"},
    "not normalised": {"normalize": False, "similarity": "dot"},
    "own length": {"most": 12},
    "tokenizer's length": {"most": None, "tokens": 20},
    "model's length": {"most": None, "tokens": None, "positions": 24},
    "positions behind padding": {
        "architecture": "roberta",
        "most": None,
        "tokens": None,
        "positions": 24,
    },
    "length above the positions": {"most": 64, "positions": 30},
}


def test_the_published_table_has_every_shape() -> None:
    published = (ROOT / "experiments/README.md").read_text("utf-8")
    for name in SHAPES:
        assert f"\n| {name} | " in published


@pytest.fixture(scope="module", params=list(SHAPES))
def shape(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("models") / "model", **SHAPES[request.param])


def expected(encoder: SentenceEncoder, text: str, role: Role, **wanted: Any) -> Any:
    """What the library gives one text under the prompt's name, or without one."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(encoder.folder), device="cpu", local_files_only=True)
    model.max_seq_length = min(model.max_seq_length, encoder.model.max_seq_length)
    name = encoder.prompts.name(role)
    prompt = {"prompt": ""} if name is None else {"prompt_name": name}
    return model.encode(text, show_progress_bar=False, **prompt, **wanted)


@pytest.mark.parametrize("role", ["query", "passage"])
def test_vectors_are_the_models_own(shape: Path, role: Role) -> None:
    encoder = SentenceEncoder(str(shape), device="cpu")
    found = Resources(Cache(None), encoders={"m": encoder}).embed("m", role, TEXTS)
    for text, vector in zip(TEXTS, found, strict=True):
        own = expected(encoder, text, role).astype(np.float64)
        cosine = vector @ own / np.linalg.norm(vector) / np.linalg.norm(own)
        assert cosine == pytest.approx(1, abs=1e-6), text


@pytest.mark.parametrize("role", ["query", "passage"])
def test_token_vectors_are_the_models_own(shape: Path, role: Role) -> None:
    encoder = SentenceEncoder(str(shape), device="cpu")
    for text, rows in zip(TEXTS, encoder.token_vectors(TEXTS, role), strict=True):
        own = expected(encoder, text, role, output_value="token_embeddings").numpy()
        own = own / np.linalg.norm(own, axis=1, keepdims=True)
        assert rows.shape == own.shape, text
        assert (rows * own).sum(axis=1) == pytest.approx(np.ones(len(own)), abs=1e-6)


def test_the_length_is_what_the_library_reads(shape: Path) -> None:
    encoder = SentenceEncoder(str(shape), device="cpu")
    read = encoder.model.preprocess(["the pump " * 60])["input_ids"].shape[1]
    assert encoder.max_tokens + 2 == read == encoder.model.max_seq_length


@pytest.mark.parametrize(("role", "prompt"), [("query", "query: "), ("passage", "passage: ")])
@pytest.mark.parametrize("default", ["query", "passage", None])
def test_minilm_with_prompts_and_a_default(
    tmp_path: Path, role: Role, prompt: str, default: str | None
) -> None:
    prompts = {"query": "query: ", "passage": "passage: "}
    folder = minilm(tmp_path / "model", prompts=prompts, default_prompt_name=default)
    encoder = SentenceEncoder(str(folder), device="cpu")
    text = "The pump primes itself."
    own = expected(encoder, text, role)
    assert encoder.prompt(role) == prompt
    assert float(encoder.encode([text], role, ignore)[0] @ own) == pytest.approx(1, abs=1e-6)
    plain = SentenceEncoder("all-MiniLM-L6-v2", device="cpu")
    assert float(plain.encode([prompt + text], role, ignore)[0] @ own) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("names", "query", "passage"),
    [
        (("query", "passage"), "query", "passage"),
        (("query", "document"), "query", "document"),
        (("search_query", "search_document", "clustering"), "search_query", "search_document"),
        (
            ("retrieval.query", "retrieval.passage", "separation", "text-matching"),
            "retrieval.query",
            "retrieval.passage",
        ),
        (("s2s_query", "s2p_query"), "s2p_query", None),
        (("sts_query", "web_search_query"), "web_search_query", None),
        (
            ("Bitext", "Retrieval-query", "Retrieval-document"),
            "Retrieval-query",
            "Retrieval-document",
        ),
        (("STS", "query", "document", "Retrieval-query"), "query", "document"),
        (("question", "context"), "question", "context"),
        (("queryPrompt", "corpusPrompt"), "queryPrompt", "corpusPrompt"),
        (("classification", "mine"), None, None),
    ],
)  # fmt: skip
def test_names_of_many_families_fit_their_roles(
    names: tuple[str, ...], query: str | None, passage: str | None
) -> None:
    prompts = Prompts({name: f"{name}: " for name in names})
    assert (prompts.name("query"), prompts.name("passage")) == (query, passage)
    assert set(prompts.unused) == set(names) - {query, passage}


def test_an_empty_prompt_is_one_and_a_default_stands_for_what_has_none() -> None:
    saved = Prompts({"query": "", "document": "", "passage": "p: "}, default="query")
    assert (saved.text("query"), saved.text("passage")) == ("", "p: ")
    assert saved.borrowed == ()
    alone = Prompts({"custom": "c: "}, default="custom")
    assert (alone.text("query"), alone.text("passage")) == ("c: ", "c: ")
    assert alone.borrowed == ("query", "passage")
    assert alone.unused == ()


def test_a_folder_changed_on_disk_is_another_model(tmp_path: Path) -> None:
    import os

    folder = tiny(tmp_path / "model", seed=0)
    other = tiny(tmp_path / "other", seed=1)
    resources = Resources(Cache(None), encoders={})
    first = resources.embed(str(folder), "passage", ["the pump"])
    identity = resources.encoder(str(folder)).identity
    weights = folder / "model.safetensors"
    times = weights.stat()
    shutil.copyfile(other / "model.safetensors", weights)
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
    changed = Resources(resources.cache)
    assert changed.encoder(str(folder)).identity != identity
    assert (changed.embed(str(folder), "passage", ["the pump"]) != first).any()
    configure(folder, prompts=E5)
    assert (
        Resources(Cache(None)).encoder(str(folder)).identity
        != changed.encoder(str(folder)).identity
    )


def ignore(steps: int) -> None:
    return None
