"""With the real encoder: how batches are made up never parts two scores that are further apart than
1e-5."""

import itertools
import json

import numpy as np
import pytest

import lab
from lab.arrays import Vectors
from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.retrieval.config import DEFAULT_MODEL
from lab.retrieval.dense import build
from lab.retrieval.encoder import SentenceEncoder
from lab.retrieval.ranking import Ranking
from lab.retrieval.similarity import unit
from tests.conftest import ROOT

CLOSE = 1e-5


def ignore(steps: int) -> None:
    return None


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder(DEFAULT_MODEL)


@pytest.fixture(scope="module")
def chunking() -> Chunking:
    documents = list(lab.read_corpus(ROOT / "corpora" / "devices"))[:1]
    return chunk(lab.Corpus(documents), ChunkConfig(size=90))


def encoded(encoder: SentenceEncoder, texts: list[str], order: list[int], batch: int) -> Vectors:
    """Vectors of the texts in their own order, encoded in another one and in batches of another
    size."""
    vectors: dict[int, np.ndarray] = {}
    for first in range(0, len(order), batch):
        some = order[first : first + batch]
        vectors.update(
            zip(some, encoder.encode([texts[i] for i in some], "passage", ignore), strict=True)
        )
    return np.array([vectors[i] for i in range(len(texts))])


def test_no_two_scores_further_apart_than_1e_5_change_places(
    encoder: SentenceEncoder, chunking: Chunking
) -> None:
    texts, draw = chunking.texts, np.random.default_rng(0)
    questions = [
        json.loads(line)["text"]
        for file in sorted((ROOT / "diagnostic_sets" / "devices").glob("*.jsonl"))
        for line in file.read_text("utf-8").splitlines()[:2]
    ]
    by_length = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    runs: list[Ranking] = []
    for order, batch in ((by_length, 32), (draw.permutation(len(texts)).tolist(), 5)):
        index = build(encoded(encoder, texts, order, batch), "exact", chunking)
        asked = unit(encoded(encoder, questions, draw.permutation(len(questions)).tolist(), batch))
        runs.append(index.search(asked, len(texts)))
    one, other = runs
    assert len(texts) > 20
    np.testing.assert_allclose(np.sort(other.scores), np.sort(one.scores), atol=1e-6)
    for query in range(len(questions)):
        score = dict(zip(one.hits(query).tolist(), one.scores[query].tolist(), strict=True))
        for before, after in itertools.pairwise(other.hits(query).tolist()):
            assert score[before] > score[after] - CLOSE


def test_the_model_is_the_one_that_was_tested_and_its_vectors_are_unit(
    encoder: SentenceEncoder,
) -> None:
    vectors = encoder.encode(["a pump", ""], "passage", ignore)
    assert vectors.shape == (2, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert encoder.encode([], "query", ignore).shape[0] == 0
    assert encoder.max_tokens == 254
