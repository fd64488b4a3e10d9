"""Small to big: what is handed to the reader for a hit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from lab.arrays import NONE
from lab.chunking.config import ChunkConfig
from lab.chunking.context import Delivery, deliver
from lab.chunking.strategies import chunk
from lab.config.config import Config
from lab.corpus.document import Corpus, Document
from lab.retrieval.ranking import Ranking, project
from tests.given import corpus_of

CORPUS = Corpus([Document("a", "0123456789"), Document("b", "abcdef")])


def delivered(how: str, **config: object) -> tuple[list[str], Delivery]:
    """Chunk ids of what is delivered for every chunk in order."""
    cut = ChunkConfig.model_validate(config)
    found = deliver(chunk(CORPUS, cut), cut, how)
    return [found.spans[int(i)].chunk_id for i in found.span_of], found


def test_chunk_is_the_chunk() -> None:
    assert delivered("chunk", size=4)[0] == ["a:0-4", "a:4-8", "a:8-10", "b:0-4", "b:4-6"]


def test_window_stays_in_its_document() -> None:
    assert delivered("window(1)", size=4)[0] == ["a:0-8", "a:0-10", "a:4-10", "b:0-6", "b:0-6"]
    ids, found = delivered("window(9)", size=4)
    assert ids == ["a:0-10"] * 3 + ["b:0-6"] * 2
    assert len(found.spans) == 2


def test_window_of_several_sizes_counts_neighbours_of_its_own_size() -> None:
    # Chunks in order: a:0-2, a:0-5, a:2-4, a:4-6, a:5-10, ...; the neighbour of a:0-5 is a:5-10.
    ids, _ = delivered("window(1)", size=(2, 5))
    assert ids[:5] == ["a:0-4", "a:0-10", "a:0-6", "a:2-8", "a:0-10"]


def test_parent_is_the_larger_chunk_that_shares_most() -> None:
    assert delivered("parent(5)", size=3)[0] == [
        "a:0-5",
        "a:0-5",
        "a:5-10",
        "a:5-10",
        "b:0-5",
        "b:0-5",
    ]
    assert delivered("parent(100)", size=4)[0] == ["a:0-10"] * 3 + ["b:0-6"] * 2


def test_a_delivered_span_stands_at_the_best_rank_of_its_chunks() -> None:
    _, found = delivered("parent(100)", size=4)
    ranking = Ranking(np.array([[4, 1, 0, 3]]), np.array([[4.0, 3.0, 2.0, 1.0]]))
    shown = project(ranking, found.span_of)
    assert [found.spans[int(i)].chunk_id for i in shown.hits(0)] == ["b:0-6", "a:0-10"]
    assert shown.scores.tolist() == [[4.0, 3.0]]


@pytest.mark.parametrize(
    "how", ["", "window", "window(0)", "window(-1)", "parent()", "parents(3)", "chunk(1)"]
)
def test_unknown_ways_are_refused(how: str) -> None:
    with pytest.raises(ValidationError, match="window"):
        Config(deliver=how)


def test_a_parent_no_larger_than_the_chunks_is_impossible() -> None:
    with pytest.raises(ValidationError, match="must be larger"):
        Config(chunk=ChunkConfig(size=400), deliver="parent(400)")


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(alphabet="ab .\n水", min_size=1, max_size=80),
    size=st.integers(1, 9),
    overlap=st.integers(0, 8),
    how=st.sampled_from(["window(1)", "window(3)", "parent(20)"]),
    strategy=st.sampled_from(["fixed", "sentences", "structure"]),
)
def test_what_is_delivered_holds_its_chunk_or_shares_text_with_it(
    text: str, size: int, overlap: int, how: str, strategy: str
) -> None:
    config = ChunkConfig.model_validate(
        {"strategy": strategy, "size": size, "overlap": min(overlap, size - 1)}
    )
    chunking = chunk(Corpus([Document("d", text)]), config)
    found = deliver(chunking, config, how)
    for i, c in enumerate(chunking):
        span = found.spans[int(found.span_of[i])]
        assert max(span.start, c.start) < min(span.end, c.end)
        if how.startswith("window"):
            assert span.start <= c.start
            assert c.end <= span.end
    assert NONE not in found.span_of


def test_a_window_reaches_over_a_span_that_a_smaller_size_cuts_too() -> None:
    text = ("word " * 87)[:434]
    chunking = chunk(corpus_of({"d": text}), config := ChunkConfig(size=(64, 192)))
    delivery = deliver(chunking, config, "window(1)")
    spans = dict(zip(chunking.spans, delivery.span_of.tolist(), strict=True))
    window = delivery.spans.spans[spans[0, 192, 384]]
    assert window == (0, 0, 434)
    assert (0, 384, 434) in spans  # of both sizes
    assert chunking.level[chunking.spans.index((0, 384, 434))] == 0
