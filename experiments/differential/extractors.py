"""Readers of documents to compare, each a function of a path to its text; libraries are imported
when they are called."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

from lab.importing.formats import docx, html, pdf, workbook
from lab.importing.formats.collection import Collection
from lab.importing.formats.decode import decode, decoded, read_bytes
from lab.importing.formats.html import DECLARED
from lab.importing.formats.separated import header, rows

Extractor = Callable[[Path], str]


def joined(extract: Extractor) -> Extractor:
    """The same with words joined that line ends part, by the lab's rule: it is no reader's fault
    where another keeps the parts."""
    return lambda path: pdf.mended(extract(path).replace("\r\n", "\n"))[0]


def lab_of(read: Callable[[Path, Collection], None]) -> Extractor:
    """The lab's own reader of a format whose files are documents."""

    def extract(path: Path) -> str:
        into = Collection()
        read(path, into)
        return "\n".join(placed.document.text for placed in into.documents)

    return extract


def source_of(path: Path) -> str:
    """A page's source in the encoding that the lab takes."""
    into = Collection()
    content = read_bytes(path, into.budget)
    declared = DECLARED.search(content[:4000])
    return decoded(path, content, into, declared[1].decode("ascii") if declared else "")


def html_text(path: Path) -> str:
    import html_text

    return str(html_text.extract_text(source_of(path), guess_layout=True))


def inscriptis(path: Path) -> str:
    from inscriptis import get_text

    return str(get_text(source_of(path)))


def soup(path: Path) -> str:
    from bs4 import BeautifulSoup

    page = BeautifulSoup(source_of(path), "lxml")
    for element in page(["script", "style", "head", "template"]):
        element.decompose()
    return page.get_text(" ")


def selectolax(path: Path) -> str:
    from selectolax.lexbor import LexborHTMLParser

    page = LexborHTMLParser(source_of(path))
    page.strip_tags(["script", "style", "head", "template"])
    return page.text(separator="\n")


def trafilatura(path: Path) -> str:
    import trafilatura as library

    return library.extract(source_of(path), favor_recall=True) or ""


def python_docx(path: Path) -> str:
    import docx as library

    parts: list[str] = []

    def walk(container: object) -> None:
        for block in container.iter_inner_content():  # type: ignore[attr-defined]
            if hasattr(block, "rows"):
                # A merged cell stands in the row as often as it is wide or high.
                walked = {cell._tc: cell for row in block.rows for cell in row.cells}
                for cell in walked.values():
                    walk(cell)
            else:
                parts.append(block.text)

    walk(library.Document(str(path)))
    return "\n".join(parts)


def mammoth(path: Path) -> str:
    import mammoth as library

    with path.open("rb") as file:
        return str(library.extract_raw_text(file).value)


def docx2python(path: Path) -> str:
    from docx2python import docx2python as library

    with library(path, duplicate_merged_cells=False) as content:
        return "\n".join(
            run
            for part in (content.body, content.footnotes, content.endnotes)
            for table in part
            for row in table
            for cell in row
            for run in cell
        )


def pypdf(path: Path) -> str:
    from pypdf import PdfReader

    reader = PdfReader(path)
    if reader.is_encrypted:
        reader.decrypt("")
    return "\n".join(page.extract_text() for page in reader.pages)


def pypdfium2(path: Path) -> str:
    import pypdfium2 as library

    with library.PdfDocument(path) as document:
        return "\n".join(page.get_textpage().get_text_range() for page in document)


def pdfplumber(path: Path) -> str:
    import pdfplumber as library

    with library.open(path) as document:
        return "\n".join(page.extract_text(x_tolerance_ratio=0.15) or "" for page in document.pages)


def cells(path: Path) -> str:
    """The lab's own reader of workbooks."""
    sheets = workbook.filled(path, Collection())
    values = (workbook.plain(c) for _, rows_ in sheets for row in rows_ for c in row)
    return "\n".join(str(value) for value in values if value is not None)


def openpyxl(path: Path) -> str:
    import openpyxl as library

    book = library.load_workbook(path, read_only=True, data_only=True)
    values = (c for s in book.worksheets for row in s.iter_rows(values_only=True) for c in row)
    return "\n".join(_shown(value) for value in values if value is not None)


def pandas_excel(path: Path) -> str:
    import pandas

    sheets = pandas.read_excel(path, sheet_name=None, header=None, engine="openpyxl")
    values = (c for sheet in sheets.values() for row in sheet.values.tolist() for c in row)
    return "\n".join(_shown(value) for value in values if not pandas.isna(value))


def _shown(value: object) -> str:
    """Dates without a time of day and whole numbers as a reader writes them."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    written = value.isoformat() if hasattr(value, "isoformat") else str(value)
    return written.removesuffix("T00:00:00")


def table(path: Path) -> str:
    """The lab's own reader of CSV: the header and every row."""
    into = Collection()
    text = decode(path, into)
    values = (cell for _, row in rows(path, text, into) for cell in row.values())
    return "\n".join([*header(path, text), *values])


def csv_module(path: Path) -> str:
    text = decode(path, Collection())
    dialect = csv.Sniffer().sniff(text[:4000], ",;\t|")
    return "\n".join(c for row in csv.reader(io.StringIO(text, newline=""), dialect) for c in row)


def pandas_csv(path: Path) -> str:
    import pandas

    text = io.StringIO(decode(path, Collection()))
    frame = pandas.read_csv(text, header=None, dtype=str, sep=None, engine="python")
    return "\n".join(c for row in frame.values.tolist() for c in row if isinstance(c, str))


def polars_csv(path: Path) -> str:
    import polars

    text = decode(path, Collection())
    separator = csv.Sniffer().sniff(text[:4000], ",;\t|").delimiter
    frame = polars.read_csv(
        text.encode(), has_header=False, infer_schema=False, separator=separator
    )
    return "\n".join(c for row in frame.rows() for c in row if c is not None)


# By format, the lab's reader first; the others are what it is measured by.
EXTRACTORS: dict[str, dict[str, Extractor]] = {
    "html": {
        "lab (selectolax)": lab_of(html.read),
        "html-text": html_text,
        "inscriptis": inscriptis,
        "beautifulsoup4": soup,
        "selectolax": selectolax,
        "trafilatura": trafilatura,
    },
    "docx": {
        "lab": lab_of(docx.read),
        "python-docx": python_docx,
        "mammoth": mammoth,
        "docx2python": docx2python,
    },
    "pdf": {
        "lab (pypdfium2)": lab_of(pdf.read),
        "pypdf": joined(pypdf),
        "pypdfium2": joined(pypdfium2),
        "pdfplumber": joined(pdfplumber),
    },
    "xlsx": {
        "lab (python-calamine)": cells,
        "openpyxl": openpyxl,
        "pandas": pandas_excel,
    },
    "csv": {"lab": table, "csv": csv_module, "pandas": pandas_csv, "polars": polars_csv},
}
