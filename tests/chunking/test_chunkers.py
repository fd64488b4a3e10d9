"""Every strategy, unit and size: slices that cover the text, end, and part no grapheme."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from lab.arrays import Vectors
from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.fixed import by_characters, by_spans
from lab.chunking.strategies import STRATEGIES, chunk
from lab.chunking.units import inside_clusters, words
from lab.config.grid import Grid
from lab.corpus.document import Corpus, Document
from lab.errors import ConfigError
from tests.given import hashed

PIECES = [
    *"ab .\n-|#`",
    "word ",
    "end.Next",
    "Dr. No",
    "。",
    "水泵",
    "ポ",
    "e\u0301",
    "\U0001f469\u200d\U0001f527",
    "\r\n",
    "\u00a0",
]
PIECES += [
    "\n# Head\n\n",
    "\n```\ncode\n```\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "- item\n",
    "ERR-4042",
    "\u2028",
    "\x00",
    "한국",
    "नि",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=60)


def halves(text: str) -> list[tuple[int, int]]:
    """Tokens of a made-up model that cuts runs without blanks every two characters and passes over
    punctuation."""
    return [
        (s, min(s + 2, m.end()))
        for m in regex.finditer(r"[\w]+", text)
        for s in range(m.start(), m.end(), 2)
    ]


def chunks_of(text: str, **config: object) -> Chunking:
    config = {"tokenizer": "halves", **config} if config.get("unit") == "tokens" else config
    config = {"embedder": "hashed", **config} if config.get("strategy") == "semantic" else config
    return chunk(Corpus([Document("d", text)]), ChunkConfig.model_validate(config), halves, embed)


def embed(texts: Sequence[str]) -> Vectors:
    return np.array([hashed(text) for text in texts], dtype=np.float32).reshape(len(texts), 16)


def texts_of(text: str, **config: object) -> list[str]:
    return chunks_of(text, **config).texts


@pytest.mark.parametrize(
    ("strategy", "unit"), list(itertools.product(STRATEGIES, ("characters", "words", "tokens")))
)
@settings(max_examples=40, deadline=None)
@given(
    text=TEXTS, size=st.sampled_from([1, 2, 3, 7, 20, 200]), share=st.sampled_from([0.0, 0.3, 0.9])
)
def test_chunks_cover_every_visible_character_and_part_no_grapheme(
    strategy: str, unit: str, text: str, size: int, share: float
) -> None:
    overlap = min(int(size * share), size - 1)
    found = chunks_of(text, strategy=strategy, unit=unit, size=size, overlap=overlap)
    covered = {i for c in found for i in range(c.start, c.end)}
    assert {i for i, character in enumerate(text) if not character.isspace()} <= covered
    borders = {match.start() for match in regex.finditer(r"\X", text)} | {len(text)}
    for c, body in zip(found, found.texts, strict=True):
        assert text[c.start : c.end] == body
        assert body.strip()
        assert {c.start, c.end} <= borders
    assert all(
        a.start <= b.start and (a.start, a.end) != (b.start, b.end)
        for a, b in itertools.pairwise(found)
    )


@settings(max_examples=200, deadline=None)
@given(text=TEXTS, size=st.integers(1, 12), overlap=st.integers(0, 11))
def test_fixed_windows_keep_to_the_size_and_each_adds_something_new(
    text: str, size: int, overlap: int
) -> None:
    spans = by_characters(text, size, min(overlap, size - 1))
    ends = [end for _, end in spans]
    assert ends == sorted(set(ends))
    for start, end in spans:
        assert end - start <= size or regex.fullmatch(r"\X", text[start:end])
    if text:
        assert (spans[0][0], spans[-1][1]) == (0, len(text))


@settings(max_examples=100, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 9), min_size=1, max_size=20),
    size=st.integers(1, 12),
    overlap=st.integers(0, 11),
)
def test_windows_over_spans_each_add_a_span_and_repeat_at_most_the_overlap(
    lengths: list[int], size: int, overlap: int
) -> None:
    ends = list(itertools.accumulate(lengths))
    spans = list(zip([0, *ends], ends, strict=False))
    windows = by_spans(spans, size, min(overlap, size - 1), lambda span: span[1] - span[0])
    assert windows[0][0] == 0
    assert windows[-1][1] == ends[-1]
    for (_, first_end), (start, end) in itertools.pairwise(windows):
        assert first_end - min(overlap, size - 1) <= start <= first_end < end


def test_b02_an_empty_document_is_no_chunk_and_is_counted() -> None:
    found = chunk(
        Corpus([Document("d1", ""), Document("d2", "pump alpha"), Document("d3", " \n\t")]),
        ChunkConfig(),
    )
    assert [c.chunk_id for c in found] == ["d2:0-10"]
    assert found.blank == 2


def test_b32_windows_end_without_a_tail() -> None:
    found = chunks_of("abcdefghij", size=4, overlap=2)
    assert list(zip(found.start, found.texts, strict=True)) == [
        (0, "abcd"),
        (2, "cdef"),
        (4, "efgh"),
        (6, "ghij"),
    ]
    assert texts_of("abcdefghij", size=4, overlap=0) == ["abcd", "efgh", "ij"]
    assert texts_of("abcd", size=4, overlap=2) == ["abcd"]
    assert texts_of("abc", size=4, overlap=2) == ["abc"]


@pytest.mark.parametrize(("size", "overlap"), [(4, 4), (4, 5), (0, 0), (4, -1)])
def test_b32_impossible_sizes_are_refused_before_any_text_is_read(size: int, overlap: int) -> None:
    with pytest.raises(ValidationError):
        ChunkConfig(size=size, overlap=overlap)
    with pytest.raises(ConfigError):
        Grid(chunk_size=size, overlap=overlap).systems()


def test_b32_a_grid_reports_its_invalid_cells_and_runs_the_others() -> None:
    systems, impossible = Grid(chunk_size=(4, 8), overlap=(0, 4), mode="bm25").systems()
    assert [(c.chunk.size, c.chunk.overlap) for c in systems] == [(4, 0), (8, 0), (8, 4)]
    assert impossible == ("impossible cell: overlap 4 must be smaller than size 4",)


def test_b33_offsets_of_repeated_words_are_their_own() -> None:
    text = "pump pump pump valve pump pump pump valve pump"
    found = chunks_of(text, unit="words", size=4, overlap=2)
    assert [(c.start, c.end) for c in found] == [(0, 20), (10, 30), (21, 41), (31, 46)]


def test_b34_no_cut_inside_an_emoji_or_before_an_accent() -> None:
    text = "ab\U0001f469\u200d\U0001f527cd e\u0301f"
    assert texts_of(text, size=3) == ["ab", "\U0001f469\u200d\U0001f527", "cd ", "e\u0301f"]
    for strategy, size in itertools.product(("fixed", "sentences", "structure"), (1, 2, 3)):
        pieces = texts_of(text, strategy=strategy, size=size)
        assert not any(piece[0] in "\u200d\u0301" for piece in pieces)
        assert "".join(pieces).replace(" ", "") == text.replace(" ", "")


def test_a_long_grapheme_after_an_overlap_makes_no_window_inside_another() -> None:
    emoji = "\U0001f469\u200d\U0001f527"
    assert [f"abc{emoji}d"[s:e] for s, e in by_characters(f"abc{emoji}d", 4, 2)] == [
        "abc",
        f"c{emoji}",
        "d",
    ]


def test_a_word_over_the_border_of_two_sentences_is_not_lost() -> None:
    # The sentences are "end." and "Next ..."; the word "end.Next" belongs to the first by its
    # start.
    assert texts_of("end.Next one two three four five", strategy="sentences", unit="words", size=3)[
        1
    ].startswith("Next")


def test_words_of_chinese_are_characters() -> None:
    assert [text for s, e in words("水泵ERR-4042 报警") if (text := "水泵ERR-4042 报警"[s:e])] == [
        "水",
        "泵",
        "ERR-4042",
        "报",
        "警",
    ]


def test_structure_keeps_what_fits_whole() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    code = "```\nfirst\n\nsecond\n```\n"
    text = f"# One\n\nShort.\n\n{table}\n# Two\n\n{code}"
    found = texts_of(text, strategy="structure", size=60)
    assert any(table in piece for piece in found)
    assert any(code.strip() in piece for piece in found)
    assert [piece for piece in found if piece.startswith("# ")] == [
        found[0],
        next(p for p in found if p.startswith("# Two")),
    ]


def test_sentences_stay_whole_where_they_fit() -> None:
    text = "The pump leaks. The valve hums loudly. Call Dr. No. 水泵漏水。请检查。"
    assert [piece.strip() for piece in texts_of(text, strategy="sentences", size=24)] == [
        "The pump leaks.",
        "The valve hums loudly.",
        "Call Dr. No. 水泵漏水。请检查。",
    ]


def test_several_sizes_are_indexed_together_whatever_their_order() -> None:
    one, other = ChunkConfig(size=(4, 8)), ChunkConfig(size=(8, 4, 8))
    assert one == other
    assert texts_of("abcdefghij", size=(4, 8)) == ["abcd", "abcdefgh", "efgh", "ij"]
    assert chunks_of("abcdefghij", size=(4, 8)).level.tolist() == [0, 1, 0, 0]
    assert ChunkConfig(size=(4,)) == ChunkConfig(size=4)
    with pytest.raises(ValidationError, match="expected a whole number from 1"):
        ChunkConfig(size=())


def test_unit_tokens_counts_the_models_tokens() -> None:
    assert texts_of("abcdef gh", unit="tokens", size=2) == ["abcd", "ef gh"]
    with pytest.raises(ValidationError, match="tokenizer"):
        ChunkConfig(unit="tokens")
    with pytest.raises(ConfigError, match="token offsets"):
        chunk(Corpus([Document("d", "abc")]), ChunkConfig(unit="tokens", tokenizer="m"))


def test_document_keeps_it_whole() -> None:
    assert texts_of(" a\n\nb. c ", strategy="document") == [" a\n\nb. c "]


@settings(max_examples=400, deadline=None)
@given(
    text=st.text(
        st.sampled_from(
            "a1 \r\n\u0301\u200d\U0001f469\U0001f527\U0001f1e9\u0600水é\u1100\u1161\x00"
        ),
        max_size=12,
    )
)
def test_the_inside_of_graphemes_is_unicodes(text: str) -> None:
    spans = [match.span() for match in regex.finditer(r"\X", text)]
    assert inside_clusters(text) == {
        position for start, end in spans for position in range(start + 1, end)
    }
