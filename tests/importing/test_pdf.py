"""PDF files: pages in order, words parted at line ends joined, what cannot be read told."""

from pathlib import Path

import pytest

from lab.errors import CorpusError
from lab.importing.formats.pdf import mended
from lab.importing.formats.pdf_letters import Glyph, _kept, suspicious
from lab.importing.formats.read import read_collection
from tests.importing.given_files import pdf_file, rules, texts

pytest.importorskip("pypdfium2", reason="the extra 'pdf' is not installed")


def test_words_parted_at_a_line_end_are_joined_and_told(tmp_path: Path) -> None:
    lines = ("Drain the accu-", "mulator after code ERR-", "4042 of the PX-", "Pump.")
    pdf_file(tmp_path / "a.pdf", lines, ("Second page",))
    read = read_collection(tmp_path)
    text = texts(read)["a.pdf"]
    assert " ".join(text.split()) == (
        "Drain the accumulator after code ERR-4042 of the PX-Pump. Second page"
    )
    assert [(f.rule, f.message) for f in read.findings] == [
        ("word parted at a line end", "joined: accumulator, ERR-4042, PX-Pump")
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("accu-\nmulator", "accumulator"),
        ("accu\ufffemulator", "accumulator"),
        ("accu\u00ad\nmulator", "accumulator"),
        ("high-\npressure pump, high and pressure", "high-pressure pump, high and pressure"),
        ("well-\nknown; it is well-known", "well-known; it is well-known"),
        ("on-\nline; an online form", "online; an online form"),
        ("v2-\nbeta", "v2-beta"),
        ("range 5-\n7 and a -\n b", "range 5-7 and a -\n b"),
        ("x\x00\x02y\ttab", "xy\ttab"),
    ],
)
def test_the_hyphen_stays_where_the_word_has_it(text: str, expected: str) -> None:
    assert mended(text)[0] == expected


def test_pages_without_text_and_locked_or_damaged_files_are_told(tmp_path: Path) -> None:
    pdf_file(tmp_path / "a.pdf", ("text",), ())
    read = read_collection(tmp_path)
    assert (texts(read), rules(read)) == ({"a.pdf": "text"}, ["no text layer"])
    assert read.readers[0].startswith("pypdfium2 ")
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4 cut")
    with pytest.raises(CorpusError, match=r"b\.pdf: not a readable PDF"):
        read_collection(tmp_path)


def test_a_blank_no_wider_than_the_gaps_in_its_word_is_none() -> None:
    assert suspicious("a b c d e f g")
    assert not suspicious("see page 12 of the manual for a list of its seals and valves")
    glyphs = [Glyph(c, 10.0 * n, 10.0 * n + 5, c == " ") for n, c in enumerate("ab cd")]
    # The blank is as wide as two letters with their gaps: it stays.
    assert "".join(glyph.character for glyph in _kept(glyphs)) == "ab cd"
    glyphs = [Glyph(c, 10.0 * n, 10.0 * n + 5, made=False) for n, c in enumerate("abc")]
    glyphs.insert(2, Glyph(" ", 15.0, 15.0, made=True))
    assert "".join(glyph.character for glyph in _kept(glyphs)) == "abc"
    glyphs[2] = Glyph(" ", 15.0, 15.0, made=False)
    assert "".join(glyph.character for glyph in _kept(glyphs)) == "ab c"
