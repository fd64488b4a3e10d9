"""Phase: where the first cut falls, and what stays as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig, Strategy
from lab.chunking.phase import phased
from lab.chunking.splitters import missing_library
from lab.chunking.strategies import chunk
from lab.corpus.document import Corpus, Document
from tests.given import corpus_of

SENTENCES = "The pump leaks. A valve opens. Seals wear out early. The motor hums. Oil drips down. "


def spans(chunking: Chunking) -> list[tuple[int, int]]:
    return list(zip(chunking.start.tolist(), chunking.end.tolist(), strict=True))


def cut(text: str, **config: object) -> list[tuple[int, int]]:
    return spans(chunk(corpus_of({"a": text}), ChunkConfig(**config)))


def test_the_first_cut_falls_at_a_share_of_the_distance_of_cuts() -> None:
    text = "x" * 100
    assert cut(text, size=40, phase=0.25) == [(0, 10), (10, 50), (50, 90), (90, 100)]
    # Windows of 40 begin every 30: a phase of a third is 10 of these, behind the overlap.
    assert cut(text, size=40, overlap=10, phase=1 / 3)[:3] == [(0, 20), (10, 50), (40, 80)]
    assert cut(text, size=40, phase=0.0) == cut(text, size=40)
    assert cut("x" * 8, size=40, phase=0.25) == [(0, 8)]


def test_all_phases_together_cut_everywhere_once() -> None:
    text, size = "x" * 200, 20
    cuts = [
        start
        for place in range(size)
        for start, _ in cut(text, size=size, phase=place / size)
        if size < start < 180
    ]
    assert sorted(cuts) == list(range(size + 1, 180))


def test_sentences_and_units_keep_their_rules() -> None:
    text = SENTENCES * 6
    for phase in (0.2, 0.5, 0.8):
        for start, end in cut(text, strategy="sentences", size=100, phase=phase):
            assert end - start <= 100
            assert text[end - 1] in " ."
            assert text[start].isupper()
    words = cut(text, size=10, unit="words", phase=0.3)
    assert len(text[slice(*words[0])].split()) == 3
    assert all(len(text[slice(*span)].split()) == 10 for span in words[1:-1])


@pytest.mark.parametrize(
    "strategy",
    [
        "fixed",
        "sentences",
        "structure",
        "langchain:recursive",
        "llama-index:sentence",
        "chonkie:recursive",
        "chonkie:token",
    ],
)
@pytest.mark.parametrize("phase", [0.0, 0.37, 0.9])
def test_every_character_stays_in_a_chunk_and_none_is_too_large(
    strategy: Strategy, phase: float
) -> None:
    if missing := missing_library(strategy):
        pytest.skip(missing)
    text = "# Pumps\n\n" + SENTENCES * 4 + "\n\n## Valves\n\n" + SENTENCES * 3
    made = cut(text, strategy=strategy, size=120, phase=phase)
    held = {place for start, end in made for place in range(start, end)}
    assert {place for place, mark in enumerate(text) if not mark.isspace()} <= held
    assert all(end - start <= 120 for start, end in made)


@given(st.text(alphabet="ab \n😀e\u0301", max_size=60), st.integers(1, 9), st.floats(0, 0.99))
def test_windows_tile_the_text_at_every_phase(text: str, size: int, phase: float) -> None:
    from lab.chunking.fixed import by_characters

    windows = phased(lambda part, size: by_characters(part, size, 0), text, size, 0, phase)
    assert "".join(text[start:end] for start, end in windows) == text


def test_phase_is_read_where_cuts_follow_a_count() -> None:
    whole = ChunkConfig(strategy="document", phase=0.5)
    assert "phase" in whole.unread
    assert "phase" in ChunkConfig(strategy="semantic", embedder="m").unread
    assert ChunkConfig(size=400, phase=0.25).label == "fixed-400@0.25"
    corpus = Corpus([Document("a", "x" * 50)])
    assert spans(chunk(corpus, whole)) == [(0, 50)]
    with pytest.raises(ValidationError, match="a phase of 1 is one of 0"):
        ChunkConfig(phase=1.0)
    with pytest.raises(ValidationError):
        ChunkConfig(phase=-0.1)
