"""Word files to text: paragraphs, headings as Markdown, tables a row a line. A .docx is a zip of
XML; nothing in it is run."""

import zipfile
import zlib
from pathlib import Path
from xml.etree import ElementTree

from lab.errors import CorpusError
from lab.sets.importing.formats.collection import Collection

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# Unpacked bytes of the text part; a larger one is a zip bomb rather than a document.
LARGEST = 200_000_000


def read(path: Path, into: Collection) -> None:
    """One Word file as one document; pictures, comments and tracked deletions are left out."""
    try:
        with zipfile.ZipFile(path) as archive:
            part = archive.getinfo("word/document.xml")
            if part.file_size > LARGEST:
                raise CorpusError(
                    f"{path}: its text unpacks to {part.file_size} bytes; at most {LARGEST} are "
                    "read"
                )
            into.budget.take(part.file_size, path)
            body = ElementTree.fromstring(archive.read(part)).find(f"{W}body")
    except (
        OSError,
        KeyError,
        zipfile.BadZipFile,
        zlib.error,
        ElementTree.ParseError,
        NotImplementedError,
        RuntimeError,
    ) as fault:
        raise CorpusError(
            f"{path}: not a Word file ({fault}); save it as .docx again, or as text"
        ) from None
    blocks = [] if body is None else [_block(element) for element in body]
    text = "\n\n".join(block for block in blocks if block)
    if not text:
        into.note(str(path), "suspicious", "empty page", "the file holds no text")
    into.add_document(str(path), into.name_of(path), text)


def _block(element: ElementTree.Element) -> str:
    if element.tag == f"{W}tbl":
        rows = (
            "\t".join(_paragraphs(cell) for cell in row.iter(f"{W}tc"))
            for row in element.iter(f"{W}tr")
        )
        return "\n".join(rows)
    return _paragraph(element) if element.tag == f"{W}p" else ""


def _paragraphs(cell: ElementTree.Element) -> str:
    return " ".join(filter(None, (_paragraph(paragraph) for paragraph in cell.iter(f"{W}p"))))


def _paragraph(element: ElementTree.Element) -> str:
    style = element.find(f"{W}pPr/{W}pStyle")
    name = "" if style is None else style.get(f"{W}val", "")
    level = int(name[7:]) if name.startswith("Heading") and name[7:] in tuple("123456") else 0
    words = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n"}
    text = "".join(
        e.text or "" if e.tag == f"{W}t" else words.get(e.tag, "") for e in element.iter()
    ).strip()
    return f"{'#' * level} {text}" if level and text else text
