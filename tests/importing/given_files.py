"""Files that tests of import give: folders from a few lines, Word files from their body."""

import html
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.importing.formats.collection import Collection
from lab.importing.formats.read import read_collection

NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGES = "http://schemas.openxmlformats.org/package/2006/relationships"


def folder_of(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """The folder, with these files in it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def texts(collection: Collection) -> dict[str, str]:
    return {placed.document.doc_id: placed.document.text for placed in collection.documents}


def rules(collection: Collection) -> list[str]:
    return [finding.rule for finding in collection.findings]


def word_file(path: Path, body: str, **parts: str) -> Path:
    """A Word file with this body, and further parts (footnotes, styles, header1 ...) by name."""
    kinds = {name: name.rstrip("0123456789") for name in parts}
    related = "".join(
        f'<Relationship Id="{name}" Type="{RELATIONS}/{kind}" Target="{name}.xml"/>'
        for name, kind in kinds.items()
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{PACKAGES}"><Relationship Id="r" '
            f'Type="{RELATIONS}/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr(
            "word/_rels/document.xml.rels",
            f'<Relationships xmlns="{PACKAGES}">{related}</Relationships>',
        )
        archive.writestr(
            "word/document.xml",
            f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>",
        )
        for name, content in parts.items():
            archive.writestr(f"word/{name}.xml", content)
    return path


def word_text(folder: Path, body: str, **parts: str) -> str:
    """What import reads from a Word file with this body."""
    word_file(folder / "a.docx", body, **parts)
    return texts(read_collection(folder))["a.docx"]


def run(text: str) -> str:
    """A run of WordprocessingML: its text, or elements as they are."""
    return f"<w:r>{text if text.startswith('<') else f'<w:t>{text}</w:t>'}</w:r>"


def paragraph(*runs: str, style: str = "") -> str:
    """A paragraph of runs (texts or elements)."""
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}{''.join(map(run, runs))}</w:p>"


def table(*rows: tuple[str, ...]) -> str:
    """A table of cells, which are elements."""
    lines = (f"<w:tr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in row)}</w:tr>" for row in rows)
    return f"<w:tbl>{''.join(lines)}</w:tbl>"


def workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
    """A workbook (.xlsx) of these rows by sheet; numbers are numbers, None is no cell."""
    sheet_ns = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        listed = "".join(
            f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1)
        )
        related = "".join(
            f'<Relationship Id="r{n}" Type="{RELATIONS}/worksheet" '
            f'Target="worksheets/sheet{n}.xml"/>'
            for n, _ in enumerate(sheets, 1)
        )
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{PACKAGES}"><Relationship Id="r" '
            f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{sheet_ns}" xmlns:r="{RELATIONS}">'
            f"<sheets>{listed}</sheets></workbook>",
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{PACKAGES}">{related}</Relationships>',
        )
        for n, rows in enumerate(sheets.values(), 1):
            lines = "".join(
                f"<row r='{y}'>{''.join(_cell(x, y, value) for x, value in enumerate(row))}</row>"
                for y, row in enumerate(rows, 1)
            )
            archive.writestr(
                f"xl/worksheets/sheet{n}.xml",
                f'<worksheet xmlns="{sheet_ns}"><sheetData>{lines}</sheetData></worksheet>',
            )
    return path


def _cell(x: int, y: int, value: object) -> str:
    place = f"{chr(ord('A') + x)}{y}"
    if value is None:
        return ""
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    text = html.escape(str(value))
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def pdf_file(path: Path, *pages: Sequence[str]) -> Path:
    """A PDF of these lines by page."""
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    kids = []
    for lines in pages:
        drawn = " ".join(f"({line}) Tj 0 -16 Td" for line in lines)
        stream = f"BT /F1 12 Tf 40 700 Td {drawn} ET"
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
        content = len(objects)
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {content} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {len(kids)}>>"
    file, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(file))
        file += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    path.write_text(
        f"{file}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(file)}\n%%EOF\n",
        "latin-1",
    )
    return path
