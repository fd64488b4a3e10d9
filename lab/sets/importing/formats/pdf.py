"""PDF files to text, page by page (extra `pdf`); pages that are only pictures are named."""

from pathlib import Path

from lab.errors import CorpusError
from lab.sets.importing.formats.collection import Collection


def read(path: Path, into: Collection) -> None:
    """One PDF as one document, its pages joined by an empty line. Pages without a text layer are
    findings, not silence."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ImportError:
        raise CorpusError(
            f"{path}: reading PDF needs the extra 'pdf'; pip install "
            "'retrieval-diagnostics-lab[pdf]'"
        ) from None
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise CorpusError(f"{path}: the PDF is locked by a password; save it without one")
        pages = []
        for page in reader.pages:
            pages.append(page.extract_text().strip())
            into.budget.take(len(pages[-1]), path)
    except (
        PyPdfError,
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
        NotImplementedError,
    ) as fault:
        # pypdf lets many of Python's own errors out when a file is damaged.
        raise CorpusError(f"{path}: not a readable PDF ({type(fault).__name__}: {fault})") from None
    for number, text in enumerate(pages, start=1):
        if not text:
            into.note(
                str(path),
                "suspicious",
                "no text layer",
                f"page {number} holds no text; it may be a scan that needs OCR",
            )
    into.add_document(str(path), into.name_of(path), "\n\n".join(text for text in pages if text))
