"""The text of WordprocessingML as its elements stream by: every run once, in order."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from lab.importing.formats.symbols import symbol

MAIN = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
MATH = (
    "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "http://purl.oclc.org/ooxml/officeDocument/math",
)
COMPATIBILITY = ("http://schemas.openxmlformats.org/markup-compatibility/2006",)
PREFIXES = {
    uri: prefix
    for prefix, uris in (("w", MAIN), ("m", MATH), ("mc", COMPATIBILITY))
    for uri in uris
}
# Elements that are characters. A soft hyphen is where a word may be parted and is shown only there.
CHARACTERS = {
    "w:tab": "\t",
    "w:ptab": "\t",
    "w:br": "\n",
    "w:cr": "\n",
    "w:noBreakHyphen": "-",
    "w:softHyphen": "",
}
# Settings, in which a `w:tab` is a tab stop, and what was deleted or moved away.
SETTINGS = frozenset(
    "w:rPr w:sectPr w:tblPr w:tblPrEx w:trPr w:tcPr w:sdtPr w:sdtEndPr w:tblGrid m:rPr".split()
)
DELETED = frozenset(("w:del", "w:moveFrom"))
HEADING = re.compile(r"Heading([1-6])")


def namespaced() -> expat.XMLParserType:
    """A parser that names elements `uri local`, and refuses a document type, by which entities
    grow."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = _refuse
    parser.buffer_text = True
    return parser


def _refuse(*_: object) -> None:
    raise ValueError("it declares a document type, which no Word file does")


@dataclass
class Note:
    """A footnote or endnote: its blocks are given out once, where it is first referred to."""

    blocks: list[str]
    given: bool = False

    def unused(self) -> list[str]:
        first, self.given = not self.given, True
        return self.blocks if first else []


@dataclass
class _Paragraph:
    """What an open paragraph holds; `after` are text boxes and notes that follow it, those of
    paragraphs inside it too."""

    level: int | None = None
    parts: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


class WordText:
    """Blocks of text of one part, its title and what was left out (words by name)."""

    def __init__(self, levels: dict[str, int], notes: dict[str, Note]) -> None:
        self._levels, self._notes = levels, notes
        self.blocks: list[str] = []
        self.title = ""
        self.left_out: Counter[str] = Counter()
        self._read: dict[str, Note] = {}
        self._open: list[_Paragraph] = []
        self._rows: list[str] = []
        self._cells: list[str] = []
        self._cell: list[str] = []
        # Open tables, and how many paragraphs were open where the outermost begins: rows are its
        # alone, so that text in tables in tables is taken once.
        self._tables = self._base = 0
        self._skipped = 0
        self._skipping = ""
        self._text = False
        self._choices: list[bool] = []
        self._reading: list[str] = []
        self._in_reading = False
        self._note: str | None = None

    def parser(self) -> expat.XMLParserType:
        parser = namespaced()
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        return parser

    def notes(self, kind: str) -> dict[str, Note]:
        """Notes by `kind id`, where the part holds notes."""
        return {name: note for name, note in self._read.items() if name.startswith(kind)}

    def words(self) -> Iterator[str]:
        """Every block, those of notes (or comments) too."""
        yield from self.blocks
        yield from (block for note in self._read.values() for block in note.blocks)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        name = _short(tag)
        if self._skipped:
            self._skipped += 1
            if name == "w:delText":
                self._text = True
            return
        given = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        if name in SETTINGS or name in DELETED or self._is_fallback(name):
            self._skipped, self._skipping = 1, name
        elif name in CHARACTERS:
            self._put(CHARACTERS[name])
        elif name in ("w:t", "m:t"):
            self._text = True
        elif name == "w:sym":
            self._put(symbol(given.get("font", ""), given.get("char", "")))
        else:
            self._begin_part(name, given)

    def _begin_part(self, name: str, given: dict[str, str]) -> None:
        """An element that holds others: a paragraph, a table, a note, a choice, a reading."""
        if name == "w:p":
            self._open.append(_Paragraph())
        elif name == "w:pStyle" and self._open:
            self._open[-1].level = self._level(given.get("val", ""))
        elif name == "w:tbl":
            self._base = self._base if self._tables else len(self._open)
            self._tables += 1
        elif name in ("w:footnoteReference", "w:endnoteReference"):
            self._refer(f"{name[2:].removesuffix('Reference')} {given.get('id')}")
        elif name in ("w:footnote", "w:endnote", "w:comment"):
            self._begin_note(name, given)
        elif name == "mc:AlternateContent":
            self._choices.append(False)
        elif name == "w:rt":
            self._in_reading = True

    def _end(self, tag: str) -> None:
        name = _short(tag)
        if self._skipped:
            self._skipped -= 1
            self._text = False
            return
        if name in ("w:t", "m:t"):
            self._text = False
        elif name == "w:p":
            self._close_paragraph()
        elif name == "w:tc" and self._tables == 1:
            self._cells.append(" ".join(self._cell).replace("\n", " "))
            self._cell = []
        elif name == "w:tr" and self._tables == 1:
            self._rows.append("\t".join(self._cells))
            self._cells = []
        elif name == "w:tbl":
            self._close_table()
        elif name in ("w:footnote", "w:endnote", "w:comment"):
            self._note = None
        elif name == "mc:AlternateContent" and self._choices:
            self._choices.pop()
        elif name == "mc:Choice" and self._choices:
            self._choices[-1] = True
        elif name == "w:rt":
            self._in_reading = False
        elif name == "w:ruby":
            # The reading stands before its base in the file, and above it on the page.
            reading, self._reading = "".join(self._reading).strip(), []
            self._put(f"({reading})" if reading else "")

    def _characters(self, data: str) -> None:
        if not self._text:
            return
        if self._skipped:
            if self._skipping == "w:del":
                self.left_out["tracked deletions"] += len(data.split())
        else:
            self._put(data)

    def _is_fallback(self, name: str) -> bool:
        """What older programs show in place of a choice that was read already."""
        again = name in ("mc:Fallback", "mc:Choice")
        return again and bool(self._choices) and self._choices[-1]

    def _put(self, text: str) -> None:
        if self._in_reading:
            self._reading.append(text)
        elif self._open:
            self._open[-1].parts.append(text)
        elif text.strip():
            self._blocks().append(text)

    def _level(self, style: str) -> int | None:
        known = HEADING.fullmatch(style)
        return self._levels.get(style, int(known[1]) if known else None)

    def _refer(self, name: str) -> None:
        note = self._notes.get(name)
        if note is not None and len(self._open) > self._base:
            self._open[self._base].after.extend(note.unused())

    def _begin_note(self, name: str, given: dict[str, str]) -> None:
        # Notes with a type are the lines that part notes from the page.
        if given.get("type", "normal") == "normal":
            self._note = f"{name[2:]} {given.get('id')}"
            self._read[self._note] = Note([])
        else:
            self._skipped, self._skipping = 1, name

    def _close_paragraph(self) -> None:
        if not self._open:
            return
        closed = self._open.pop()
        text = "".join(closed.parts).strip()
        if text and closed.level is not None:
            if not self.title and closed.level <= 1:
                self.title = " ".join(text.split())
            text = f"{'#' * max(closed.level, 1)} {text}"
        if len(self._open) > self._base:
            self._open[self._base].after.extend(filter(None, (text,)))
        else:
            self._blocks().extend(filter(None, (text, *closed.after)))

    def _close_table(self) -> None:
        self._tables -= 1
        if self._tables:
            return
        # Text of a table without rows is text all the same.
        rest = [*self._cells, *self._cell]
        text = "\n".join([*self._rows, *rest])
        self._rows, self._cells, self._cell, self._base = [], [], [], 0
        if text.strip():
            (self._open[0].after if self._open else self._blocks()).append(text)

    def _blocks(self) -> list[str]:
        """Where a block goes that stands in no paragraph: the outermost table's cell, the note, or
        the part itself."""
        if self._tables:
            return self._cell
        return self.blocks if self._note is None else self._read[self._note].blocks


def _short(tag: str) -> str:
    uri, _, local = tag.rpartition(" ")
    return f"{PREFIXES.get(uri, '')}:{local}"
