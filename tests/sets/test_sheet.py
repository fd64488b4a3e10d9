"""The sheet goes out and comes back the same, and what is wrong in it is told by row."""

import csv
import io
from pathlib import Path

import pytest

from lab.errors import DiagnosticsError
from lab.sets.annotators import read_annotators
from lab.sets.pool.sheet import Label, Pair, is_sheet, labels_csv, read_labels, sheet, write_sheet

PAIRS = (
    Pair("q1", 'the "pump", leaks?', "a/b.md", "=title", "first\nsecond line", 0, 5),
    Pair("-q2", "=1+1", "@doc", "", "x" * 5000),
)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_sheet_shows_what_is_judged_and_no_formula() -> None:
    first, second = rows_of(sheet(PAIRS, "runs/x"))
    assert (first["query_id"], first["question"], first["text"]) == (
        "q1", 'the "pump", leaks?', "first")  # fmt: skip
    assert first["title"] == "'=title"
    assert second["question"] == "'=1+1"
    assert len(second["text"]) == 4000
    assert second["start"] == second["grade"] == ""
    assert not {name for name in first if "system" in name or "rank" in name}


def test_labels_come_back_as_they_went_out(tmp_path: Path) -> None:
    labels = (
        Label("", "-q2", "@doc", None, None, 0, annotator="ann", reason="=no, really", run="r"),
        Label("", "q1", "a/b.md", 0, 5, 3, (1, 4), 'ir"s,\nt', "needed", "bob"),
    )
    file = tmp_path / "labels.csv"
    file.write_text(labels_csv(labels), "utf-8")
    assert is_sheet(file)
    read = read_labels(file)
    assert [one.place for one in read] == [f"{file}:2", f"{file}:4"]
    blank = [Label("", *(getattr(one, n) for n in Label.__slots__[1:])) for one in read]
    assert tuple(blank) == labels


def test_rows_without_a_grade_are_open(tmp_path: Path) -> None:
    file = tmp_path / "sheet.csv"
    file.write_text(sheet(PAIRS, "r"), "utf-8")
    assert read_labels(file) == ()


def test_every_wrong_row_is_told(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text(
        "query_id,doc_id,grade,evidence_start,evidence_end,counts\n"
        "q,d,yes,,,\nq,d,1,3,,\nq,d,1,,,maybe\nq,d,-1,,,\nq,d,2,,,\n"
    )
    with pytest.raises(DiagnosticsError) as told:
        read_labels(file)
    assert list(told.value.problems) == [
        f"{file}:2: grade is 'yes'; expected a whole number from 0",
        f"{file}:3: of evidence one is missing; expected both or neither",
        f"{file}:4: counts is 'maybe'; expected one of alternative, needed",
        f"{file}:5: grade is '-1'; expected a whole number from 0",
    ]
    file.write_text("query_id,doc_id,grade,annotater\nq,d,1,x\n")
    with pytest.raises(DiagnosticsError, match="unknown column 'annotater'; did you mean"):
        read_labels(file)


def test_a_sheet_that_may_hold_labels_is_not_replaced(tmp_path: Path) -> None:
    write_sheet(tmp_path / "pool", "one", "page")
    with pytest.raises(DiagnosticsError, match="exists, and may hold labels"):
        write_sheet(tmp_path / "pool", "two", "page")
    assert (tmp_path / "pool" / "sheet.csv").read_text() == "one"


def test_two_sheets_are_two_annotators(tmp_path: Path) -> None:
    head = "query_id,doc_id,start,end,grade\n"
    (tmp_path / "a.csv").write_text(head + "q,d,0,5,2\nq,d,5,9,0\n")
    (tmp_path / "b.csv").write_text(head + "q,d,0,5,2\nq,e,,,1\n")
    read = read_annotators(tmp_path / "a.csv", tmp_path / "b.csv", None)
    assert read.unit == "span"
    assert read.a == {("q", "d:0-5"): 2, ("q", "d:5-9"): 0}
    assert read.b == {("q", "d:0-5"): 2, ("q", "e"): 1}
