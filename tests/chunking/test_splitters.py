"""Adapters to other libraries' splitters: slices at the right offsets, in every unit, and one
account of what is lost."""

import itertools
import re
from typing import get_args

import pytest
from hypothesis import given, settings
from pydantic import ValidationError

from lab.chunking import splitters
from lab.chunking.anchor import Piece
from lab.chunking.chunk import Fault
from lab.chunking.config import NO_OVERLAP, ChunkConfig, Strategy
from lab.chunking.splitters import LIBRARIES, SPLITTERS
from lab.chunking.strategies import STRATEGIES, chunk
from lab.chunking.units import Units
from lab.config.grid import Grid
from lab.corpus.document import Corpus, Document
from lab.errors import ConfigError
from tests.chunking.test_chunkers import TEXTS, chunks_of

for module in LIBRARIES.values():
    pytest.importorskip(
        module, reason="other libraries' splitters are an extra: pip install '.[splitters]'"
    )

SENTENCES = (
    "The pump leaks. The valve hums loudly. Replace the seal PN-77310-B. "
    "The pump leaks. 水泵漏水。请检查阀门。\n\n"
)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a splitter asked the network")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)


def test_every_strategy_has_exactly_one_implementation() -> None:
    assert set(get_args(Strategy)) == STRATEGIES.keys() | SPLITTERS.keys()
    assert not STRATEGIES.keys() & SPLITTERS.keys()


@pytest.mark.parametrize(
    ("strategy", "unit"), list(itertools.product(SPLITTERS, ("characters", "words", "tokens")))
)
def test_repeated_text_is_cut_where_the_splitter_cut_it(strategy: str, unit: str) -> None:
    text, overlap = SENTENCES * 6, 0 if strategy in NO_OVERLAP else 10
    found = chunks_of(text, strategy=strategy, unit=unit, size=60, overlap=overlap)
    assert not any(fault.strings or fault.characters for fault in found.faults)
    covered = {i for c in found for i in range(c.start, c.end)}
    assert {i for i, character in enumerate(text) if not character.isspace()} <= covered
    assert len(found) > 2
    assert found.start.tolist() == sorted(set(found.start.tolist()))


@pytest.mark.parametrize("strategy", SPLITTERS)
@settings(max_examples=15, deadline=None)
@given(text=TEXTS)
def test_every_chunk_is_a_slice_and_every_character_is_held_or_told(
    strategy: str, text: str
) -> None:
    found = chunks_of(text, strategy=strategy, size=20)
    covered = {i for c in found for i in range(c.start, c.end)}
    visible = {i for i, character in enumerate(text) if not character.isspace()}
    assert len(visible - covered) == sum(fault.characters for fault in found.faults)
    assert all(
        text[c.start : c.end] == body and body.strip()
        for c, body in zip(found, found.texts, strict=True)
    )


def test_langchain_recursive_gives_its_own_chunks() -> None:
    text = "one two three\n\nfour five\n\nsix seven eight nine ten"
    found = chunks_of(text, strategy="langchain:recursive", size=16)
    # Paragraphs that fit are kept, the third is cut at blanks: RecursiveCharacterTextSplitter's
    # documented order.
    assert found.texts == ["one two three", "four five", "six seven eight", "nine ten"]
    assert found.start.tolist() == [0, 15, 26, 42]


def test_folded_paragraph_breaks_are_anchored() -> None:
    found = chunks_of("alpha\n\n\n\nbeta\n\ngamma", strategy="langchain:character", size=11)
    assert found.texts == ["alpha\n\n\n\nbeta", "gamma"]
    # The splitter counts "alpha", one break and "beta"; the document has two breaks there.
    assert found.faults == (Fault("d", oversized=1, largest=13),)


def test_chunks_above_their_size_are_counted_in_its_unit() -> None:
    text = "one two three four\n\nfive"
    found = chunks_of(text, strategy="langchain:character", unit="words", size=2)
    assert found.texts == ["one two three four", "five"]
    assert found.faults == (Fault("d", oversized=1, largest=4),)


def test_what_cannot_be_anchored_is_told_by_document(monkeypatch: pytest.MonkeyPatch) -> None:
    def shouting(size: int, overlap: int, units: Units) -> splitters.Split:
        return lambda text: [
            (part.upper() if "!" in part else part, None)
            for part in re.findall(r"[^.!]+[.!]", text)
        ]

    monkeypatch.setitem(splitters.SPLITTERS, "langchain:recursive", shouting)
    corpus = Corpus(
        [Document("a", "One. Two! Three! Four."), Document("b", "Five. Six."), Document("c", " \n")]
    )
    found = chunk(corpus, ChunkConfig(strategy="langchain:recursive"))
    assert [c.chunk_id for c in found] == ["a:0-4", "a:16-22", "b:0-5", "b:5-10"]
    assert found.faults == (Fault("a", 2, " TWO!", len("Two!Three!")),)
    assert found.blank == 1


def test_all_refused_documents_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def choosy(size: int, overlap: int, units: Units) -> splitters.Split:
        def split(text: str) -> list[Piece]:
            if "x" in text:
                raise ValueError("Single token exceeded chunk size")
            return [(text, None)]

        return split

    monkeypatch.setitem(splitters.SPLITTERS, "llama-index:token", choosy)
    corpus = Corpus([Document("a", "x"), Document("b", "y"), Document("c", "xx")])
    with pytest.raises(ConfigError) as caught:
        chunk(corpus, ChunkConfig(strategy="llama-index:token", size=9))
    assert [re.findall("document '(.)'", problem) for problem in caught.value.problems] == [
        ["a"],
        ["c"],
    ]
    assert "size 9" in caught.value.problems[0]


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitters, "find_spec", lambda name: None)
    with pytest.raises(
        ConfigError, match=r"chonkie; pip install 'retrieval-diagnostics-lab\[splitters\]'"
    ):
        chunk(Corpus([Document("a", "text")]), ChunkConfig(strategy="chonkie:token"))


def test_a_splitter_without_overlap_appears_once() -> None:
    systems, impossible = Grid(
        chunk_strategy=("chonkie:recursive", "chonkie:token"), overlap=(0, 50), mode="bm25"
    ).systems()
    assert [config.name for config in systems] == [
        "chonkie:recursive-400 bm25",
        "chonkie:token-400 bm25",
        "chonkie:token-400/50 bm25",
    ]
    assert not impossible
    with pytest.raises(ValidationError, match="knows no overlap"):
        ChunkConfig(strategy="chonkie:recursive", overlap=5)
