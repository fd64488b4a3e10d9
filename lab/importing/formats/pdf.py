"""PDF files to text, page by page, through PDFium (extra `pdf`); pages that are only pictures are
named, and words that a line end parts are joined."""

import re
from collections import Counter
from pathlib import Path

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection
from lab.importing.formats.pdf_letters import suspicious, text_of

# PDFium's sign for a hyphen at a line end that parts a word; others are left as hyphen and line
# end, or are soft hyphens.
PARTED = re.compile(r"(\w+)(?:\ufffe|[-\u00ad\u2010]\n)(?=(\w+))")
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
WORD = re.compile(r"\w+(?:-\w+)*")
# Parts of a word that are shorter than this stand as words of their own too often to tell.
SHORT = 3
SHOWN = 5


def read(path: Path, into: Collection) -> None:
    """One PDF as one document, its pages joined by an empty line. Pages without a text layer or
    that cannot be read, and words that were joined, are findings."""
    try:
        import pypdfium2
    except ImportError:
        raise CorpusError(
            f"{path}: reading PDF needs the extra 'pdf'; pip install "
            "'retrieval-diagnostics-lab[pdf]'"
        ) from None
    into.read_by("pypdfium2")
    try:
        with pypdfium2.PdfDocument(path) as document:
            pages = [_page(document, number, path, into) for number in range(len(document))]
    except (pypdfium2.PdfiumError, OSError, ValueError) as fault:
        locked = "password" in str(fault).lower()
        reason = "it is locked by a password; save it without one" if locked else fault
        raise CorpusError(f"{path}: not a readable PDF ({reason})") from None
    text, joined = mended("\n\n".join(page for page in pages if page))
    if joined:
        shown = ", ".join(joined[:SHOWN]) + (", ..." if len(joined) > SHOWN else "")
        into.note(
            str(path),
            "mended",
            "word parted at a line end",
            f"joined: {shown}" + (f" ({len(joined)} words)" if len(joined) > SHOWN else ""),
        )
    into.add_document(str(path), into.name_of(path), text)


def _page(document: "object", number: int, path: Path, into: Collection) -> str:
    """The text of a page, empty where it has none or cannot be read."""
    import pypdfium2

    try:
        page = document[number]  # type: ignore[index]
        textpage = page.get_textpage()
        text = str(textpage.get_text_range())
        if suspicious(text):
            text = text_of(textpage)
    except pypdfium2.PdfiumError as fault:
        message = f"page {number + 1} cannot be read ({fault})"
        into.note(str(path), "dropped", "unreadable page", message)
        return ""
    into.budget.take(len(text), path)
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    if not text:
        into.note(
            str(path),
            "suspicious",
            "no text layer",
            f"page {number + 1} holds no text; it may be a scan that needs OCR",
        )
    return text


def mended(text: str) -> tuple[str, list[str]]:
    """The text with the words joined that a hyphen at a line end parts, and those words.

    The hyphen stays before a digit or a capital (`ERR-4042`), where the document has the word with
    it elsewhere, or where both parts are words of the document (`high-pressure`); else it goes
    (`accumulator`).
    """
    known = Counter(word.lower() for word in WORD.findall(PARTED.sub(" ", text)))
    joined: list[str] = []

    def join(match: re.Match[str]) -> str:
        left, right = match[1], match[2]
        hyphen = "-" if _keeps_hyphen(left, right, known) else ""
        joined.append(f"{left}{hyphen}{right}")
        return f"{left}{hyphen}"

    return CONTROLS.sub("", PARTED.sub(join, text)), joined


def _keeps_hyphen(left: str, right: str, known: Counter[str]) -> bool:
    if not (left[-1].isalpha() and right[0].islower()):
        return True
    whole, parted = f"{left}{right}".lower(), f"{left}-{right}".lower()
    if known[whole] or known[parted]:
        return known[parted] > known[whole]
    words = left.lower() in known and right.lower() in known
    return words and min(len(left), len(right)) >= SHORT
