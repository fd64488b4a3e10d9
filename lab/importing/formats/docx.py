"""Word files to text: paragraphs, headings as Markdown, tables a row a line, notes after the
paragraph that refers to them. A .docx is a zip of XML; nothing in it is run.

The XML is read as a stream, so that memory follows the text and not the tags; of the libraries
tried (experiments/README.md) none does, and each loses text that this reader keeps.
"""

import posixpath
import zipfile
from collections import Counter
from pathlib import Path
from xml.parsers import expat

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection
from lab.importing.formats.unpacked import FAULTS, blocks
from lab.importing.formats.word_xml import Note, WordText, namespaced

# Parts that a document's relations name by the end of their type.
NOTES = ("footnotes", "endnotes")
LEFT_OUT = {"header": "page headers", "footer": "page footers", "comments": "comments"}
# What is no text of the document, though it may hold some.
UNREAD = {
    "chart": "charts",
    "chartEx": "charts",
    "diagramData": "diagrams (SmartArt)",
    "aFChunk": "embedded documents (altChunk)",
    "oleObject": "embedded objects",
    "package": "embedded files",
}


def read(path: Path, into: Collection) -> None:
    """One Word file as one document. Page headers and footers, comments and tracked deletions are
    left out, and told."""
    try:
        with zipfile.ZipFile(path) as archive:
            text, title = _document(_Parts(path, archive, into), into)
    except (*FAULTS, expat.ExpatError) as fault:
        raise CorpusError(
            f"{path}: not a Word file ({fault}); save it as .docx again, or as text"
        ) from None
    if not text:
        into.note(str(path), "suspicious", "empty page", "the file holds no text")
    into.add_document(str(path), into.name_of(path), text, title)


class _Parts:
    """The parts of one Word file: parsed as streams, counted against the budget."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, into: Collection) -> None:
        self.path, self._archive, self._into = path, archive, into
        self._names = set(archive.namelist())
        self.main = next(iter(self.related("").get("officeDocument", ())), "word/document.xml")

    def related(self, part: str) -> dict[str, list[str]]:
        """Names of the parts that a part refers to, by the last word of their type."""
        folder, name = posixpath.split(part)
        by_kind: dict[str, list[str]] = {}

        def begin(tag: str, attributes: dict[str, str]) -> None:
            kind = attributes.get("Type", "").rpartition("/")[2]
            if attributes.get("TargetMode") != "External" and "Target" in attributes:
                target = posixpath.normpath(posixpath.join("/", folder, attributes["Target"]))
                by_kind.setdefault(kind, []).append(target.lstrip("/"))

        relations = posixpath.join(folder, "_rels", f"{name}.rels")
        if relations in self._names:
            parser = namespaced()
            parser.StartElementHandler = begin
            self.feed(relations, parser)
        return by_kind

    def feed(self, part: str, parser: expat.XMLParserType) -> None:
        for block in blocks(self.path, self._archive, part, self._into.budget):
            parser.Parse(block, False)
        parser.Parse(b"", True)

    def read(self, part: str, levels: dict[str, int], notes: dict[str, Note]) -> WordText:
        """The text of a part; headings by the levels of their styles."""
        text = WordText(levels, notes)
        self.feed(part, text.parser())
        return text

    def __contains__(self, part: str) -> bool:
        return part in self._names


def _document(parts: _Parts, into: Collection) -> tuple[str, str]:
    related = {
        kind: [name for name in names if name in parts]
        for kind, names in parts.related(parts.main).items()
    }
    levels = _levels(parts, related.get("styles", []))
    notes: dict[str, Note] = {}
    for kind in NOTES:
        for part in related.get(kind, []):
            notes |= parts.read(part, levels, {}).notes(kind.removesuffix("s"))
    body = parts.read(parts.main, levels, notes)
    text = [*body.blocks, *(block for note in notes.values() for block in note.unused())]
    left = Counter(body.left_out)
    for kind, what in LEFT_OUT.items():
        for part in related.get(kind, []):
            left[what] += len(" ".join(parts.read(part, levels, {}).words()).split())
    unread = Counter[str]()
    for kind, what in UNREAD.items():
        unread[what] += len(set(related.get(kind, ())))
    for what, count in unread.items():
        if count:
            into.note(str(parts.path), "dropped", what, f"not read: {count}; save them as text")
    for what, words in left.items():
        if words:
            into.note(str(parts.path), "dropped", what, f"not part of the text (words: {words})")
    return "\n\n".join(text), body.title


def _levels(parts: _Parts, styles: list[str]) -> dict[str, int]:
    """Heading level by style id: ids are the writer's language's, names are not."""
    levels: dict[str, int] = {}
    style = ""

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal style
        given = {name.rpartition(" ")[2]: value for name, value in attributes.items()}
        kind = tag.rpartition(" ")[2]
        if kind == "style":
            style = given.get("styleId", "")
        elif kind == "name" and style:
            name, _, level = given.get("val", "").lower().partition(" ")
            if name == "heading" and level in tuple("123456"):
                levels[style] = int(level)
            elif (name, level) == ("title", ""):
                levels[style] = 0

    for part in styles:
        parser = namespaced()
        parser.StartElementHandler = begin
        parts.feed(part, parser)
    return levels
