"""Numbers of a workbook as the sheet shows them, where that says more than the number."""

import re
import zipfile
from pathlib import Path

import pytest

from lab.importing.formats.number_formats import shown_by
from lab.importing.formats.read import read_collection
from tests.importing.given_files import workbook


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("0000", 42, "0042"),
        ("0000", 123456, "123456"),
        ("00000", -7, "-00007"),
        ("000-0000", 425512, "042-5512"),
        ('"SKU-"0000', 42, "SKU-0042"),
        ("\\E\\R\\R-0000", 42, "ERR-0042"),
        ("[Red]0000;-0000", 42, "0042"),
        ("0%", 0.5, "50%"),
        ("0.00%", 0.1234, "12.34%"),
        ("0.0%", 1, "100.0%"),
        ("(000) 000-0000", 5551234567, "(555) 123-4567"),
        ('0 "mm"', 12, "12 mm"),
    ],
)
def test_formats_that_say_more_are_applied(code: str, value: float, shown: str) -> None:
    found = shown_by(code)
    assert found is not None
    assert found.of(value) == shown


@pytest.mark.parametrize(
    "code",
    ["General", "0", "0.00", "#,##0", "#,##0.00", "yyyy-mm-dd", "@", "0.00E+00", "# ?/?", ""],
)
def test_formats_that_say_no_more_are_left(code: str) -> None:
    assert shown_by(code) is None


def test_a_fraction_under_zeros_stays_what_it_is() -> None:
    found = shown_by("0000")
    assert found is not None
    assert found.of(4.5) is None


STYLES = """<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<numFmts count="2"><numFmt numFmtId="164" formatCode="0000"/>
<numFmt numFmtId="165" formatCode="#,##0.00"/></numFmts>
<cellStyleXfs count="1"><xf numFmtId="9"/></cellStyleXfs>
<cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="9"/><xf numFmtId="165"/>
</cellXfs></styleSheet>"""


def styled(path: Path, styles: dict[str, int]) -> Path:
    """The workbook with these cells in these styles."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/styles.xml"] = STYLES.encode()
    for name in parts:
        if name.startswith("xl/worksheets/"):
            text = parts[name].decode()
            for cell, style in styles.items():
                text = re.sub(rf'<c r="{cell}"', f'<c r="{cell}" s="{style}"', text)
            parts[name] = text.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_ids_and_shares_of_a_question_sheet_are_read_as_shown(tmp_path: Path) -> None:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "a.md").write_text("Half of the pumps leak at the seal.")
    rows: list[list[object]] = [
        ["query_id", "question", "source", "quote", "share", "price"],
        [42, "what leaks?", "a.md", "pumps leak", 0.5, 1234.5],
        [7, "where?", "a.md", "at the seal", 0.125, 2],
    ]
    sheet = workbook(tmp_path / "q.xlsx", {"Questions": rows})
    styled(sheet, {"A2": 1, "A3": 1, "E2": 2, "E3": 2, "F2": 3, "F3": 3})
    read = read_collection(documents, questions=[str(sheet)])
    assert [question.query_id for question in read.questions] == ["0042", "0007"]
    tags = [dict(question.tags) for question in read.questions]
    assert [tag["share"] for tag in tags] == ["50%", "12%"]
    assert [tag["price"] for tag in tags] == ["1234.5", "2"]


def test_a_workbook_without_styles_is_read_as_before(tmp_path: Path) -> None:
    sheet = workbook(tmp_path / "q.xlsx", {"S": [["question"], ["what leaks?"]]})
    (tmp_path / "a.md").write_text("the pump")
    read = read_collection(tmp_path, questions=[str(sheet)])
    assert [question.text for question in read.questions] == ["what leaks?"]
