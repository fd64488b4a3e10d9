"""Semantic breakpoints: distances worked on paper, cuts between sentences, sizes kept."""

from collections.abc import Sequence

import numpy as np
import pytest
from pydantic import ValidationError

from lab.arrays import Vectors
from lab.chunking.config import ChunkConfig
from lab.chunking.context import deliver
from lab.chunking.semantic import breaks_of, far_apart
from lab.chunking.strategies import chunk
from lab.corpus.document import Corpus, Document
from lab.errors import ConfigError

TEXT = "Pumps leak. Pumps hum. Pumps stop. Cats sleep. Cats purr. Cats eat."
EAST, NORTH, BETWEEN = (1.0, 0.0), (0.0, 2.0), (1.0, 1.0)


def by_topic(texts: Sequence[str]) -> Vectors:
    """East for pumps, north for cats, between where a window holds both."""
    rows = [
        BETWEEN if "Pumps" in t and "Cats" in t else EAST if "Pumps" in t else NORTH for t in texts
    ]
    return np.array(rows, dtype=np.float32).reshape(-1, 2)


def corpus_of(*texts: str) -> Corpus:
    return Corpus(Document(f"d{i}", text) for i, text in enumerate(texts))


def test_a_break_lies_above_the_percentile_of_the_distances() -> None:
    # Distances 0, 1 - cos 45° = 0.2929, 0.2929, 0; the 50th percentile is 0.1464, the 75th 0.2929,
    # which none exceeds.
    vectors = np.array([EAST, EAST, BETWEEN, NORTH, NORTH], dtype=np.float32)
    assert far_apart(vectors, 50) == [1, 2]
    assert far_apart(vectors, 60) == [1, 2]
    assert far_apart(vectors, 75) == []
    assert far_apart(vectors, 0) == [1, 2]
    assert far_apart(vectors, 100) == []


@pytest.mark.parametrize(
    "vectors", [np.zeros((0, 2)), np.ones((1, 2)), np.zeros((4, 2)), np.ones((5, 2))]
)
def test_nothing_stands_out_where_all_is_alike(vectors: Vectors) -> None:
    assert far_apart(vectors.astype(np.float32), 50) == []


def test_float_noise_moves_no_cut() -> None:
    vectors = np.array([(1, 0), (1, 1e-4), (1, 0), (1, -1e-4)], dtype=np.float32)
    assert far_apart(vectors, 10) == []


def test_sentences_are_embedded_with_their_neighbours_in_one_call() -> None:
    asked: list[list[str]] = []

    def embed(texts: Sequence[str]) -> Vectors:
        asked.append(list(texts))
        return by_topic(texts)

    found = breaks_of(corpus_of("One. Two. Three.\n", "", "Alone."), 95, embed)
    assert asked == [["One. Two.", "One. Two. Three.", "Two. Three.", "Alone."]]
    assert found == [[], [], []]


def test_chunks_end_where_the_topic_changes() -> None:
    # Windows: P P PPC->both, CCP->both, C C: the distances rise into and out of the two mixed
    # windows.
    config = ChunkConfig(strategy="semantic", size=400, embedder="m", percentile=50)
    found = chunk(corpus_of(TEXT), config, embed=by_topic)
    assert found.texts == [
        "Pumps leak. Pumps hum. ",
        "Pumps stop. Cats sleep. ",
        "Cats purr. Cats eat.",
    ]
    whole = chunk(corpus_of(TEXT), config.model_copy(update={"percentile": 100.0}), embed=by_topic)
    assert whole.texts == [TEXT]


def test_no_chunk_exceeds_the_size_or_a_break() -> None:
    found = chunk(
        corpus_of(TEXT),
        ChunkConfig(strategy="semantic", size=12, embedder="m", percentile=50),
        embed=by_topic,
    )
    assert [text.strip() for text in found.texts] == [
        part.strip() + "." for part in TEXT.split(".")[:-1]
    ]
    words = ChunkConfig(strategy="semantic", size=3, unit="words", embedder="m", percentile=50)
    assert [len(text.split()) for text in chunk(corpus_of(TEXT), words, embed=by_topic).texts] == [
        2
    ] * 6


def test_parents_of_semantic_chunks_are_semantic() -> None:
    config = ChunkConfig(strategy="semantic", size=12, embedder="m", percentile=50)
    found = deliver(
        chunk(corpus_of(TEXT), config, embed=by_topic), config, "parent(100)", embed=by_topic
    )
    assert found.spans.texts == [
        "Pumps leak. Pumps hum. ",
        "Pumps stop. Cats sleep. ",
        "Cats purr. Cats eat.",
    ]
    assert found.span_of.tolist() == [0, 0, 1, 1, 2, 2]


def test_the_embedder_is_named_and_given() -> None:
    with pytest.raises(ValidationError, match="needs an embedder"):
        ChunkConfig(strategy="semantic")
    with pytest.raises(ValidationError, match="only it does"):
        ChunkConfig(embedder="m")
    with pytest.raises(ConfigError, match="needs the vectors of a model"):
        chunk(corpus_of(TEXT), ChunkConfig(strategy="semantic", embedder="m"))
