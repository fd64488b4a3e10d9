"""The sheet: pairs of a question and a text, to be labelled, as CSV, and what comes back in it."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.errors import DiagnosticsError, nearest

# What a person is shown, then what they fill in, then which run it is of.
GIVEN = ("query_id", "question", "doc_id", "title", "start", "end", "text")
FILLED = ("grade", "quote", "evidence_start", "evidence_end", "counts", "annotator", "reason")
COLUMNS = (*GIVEN, *FILLED, "run")
NEEDED = ("query_id", "doc_id", "grade")
# How new evidence counts beside what the question has: instead of it, or as a further piece.
COUNTS = ("alternative", "needed")
# Spreadsheets take cells that begin so for formulas; a quotation mark before them says text.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
SHOWN = 4000
SHEET, PAGE = "sheet.csv", "label.html"


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and a document, or a span [start, end) of it, whose label is asked for."""

    query_id: str
    question: str
    doc_id: str
    title: str
    text: str
    start: int | None = None
    end: int | None = None

    @property
    def shown(self) -> str:
        """What is judged: the span, or the document."""
        return self.text if self.start is None else self.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Label:
    """One label: the pair, its `grade` (0: not relevant), the evidence marked in it by offsets or
    by `quote`, how it `counts`, who said so and why. `place` is its file and row."""

    place: str
    query_id: str
    doc_id: str
    start: int | None
    end: int | None
    grade: int
    evidence: tuple[int, int] | None = None
    quote: str = ""
    counts: str = ""
    annotator: str = ""
    reason: str = ""
    run: str = ""

    @property
    def item(self) -> str:
        """What was judged, as agreement compares it: a document, or `doc_id:start-end`."""
        return self.doc_id if self.start is None else f"{self.doc_id}:{self.start}-{self.end}"


def sheet(pairs: Iterable[Pair], run: str) -> str:
    """The sheet as CSV, a row a pair, with empty cells for the label. Long documents are shown by
    their beginning."""
    rows = (
        [
            pair.query_id,
            pair.question,
            pair.doc_id,
            pair.title,
            "" if pair.start is None else str(pair.start),
            "" if pair.end is None else str(pair.end),
            pair.shown[:SHOWN],
            *[""] * len(FILLED),
            run,
        ]
        for pair in pairs
    )
    return _csv(rows)


def write_sheet(folder: Path, text: str, page: str) -> None:
    """Write `sheet.csv` and `label.html`. Raises DiagnosticsError when a sheet is there already,
    for somebody may have filled it."""
    if (folder / SHEET).exists():
        raise DiagnosticsError(
            f"{folder / SHEET}: exists, and may hold labels; name another folder with --out"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PAGE).write_text(page, "utf-8")
        (folder / SHEET).write_text(text, "utf-8")
    except OSError as fault:
        raise DiagnosticsError(f"{folder}: cannot be written ({fault.strerror})") from None


def labels_csv(labels: Iterable[Label]) -> str:
    """Labels in the columns of the sheet; texts are left out."""
    rows = (
        [
            label.query_id,
            "",
            label.doc_id,
            "",
            *("" if n is None else str(n) for n in (label.start, label.end)),
            "",
            str(label.grade),
            label.quote,
            *(("", "") if label.evidence is None else map(str, label.evidence)),
            label.counts,
            label.annotator,
            label.reason,
            label.run,
        ]
        for label in labels
    )
    return _csv(rows)


def _csv(rows: Iterable[list[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_guarded(cell) for cell in row] for row in rows)
    return out.getvalue()


def _guarded(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def _plain(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(FORMULA) else cell


def is_sheet(path: Path) -> bool:
    """Whether a file is a sheet of labels, by its first line."""
    if path.suffix != ".csv" or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return {"query_id", "doc_id", "grade"} <= set(next(csv.reader(file), []))


def read_labels(path: Path) -> tuple[Label, ...]:
    """The labelled rows of a sheet; rows without a grade are not labelled yet. Raises
    DiagnosticsError with every row that is wrong."""
    problems: list[str] = []
    try:
        text = path.read_text("utf-8-sig")
    except OSError as fault:
        raise DiagnosticsError(f"{path}: cannot be read ({fault.strerror})") from None
    except UnicodeDecodeError as fault:
        raise DiagnosticsError(f"{path}: not UTF-8 ({fault.reason}); save it as UTF-8") from None
    labels = tuple(_rows(path, text, problems))
    if problems:
        raise DiagnosticsError(problems)
    return labels


def _rows(path: Path, text: str, problems: list[str]) -> Iterator[Label]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = list(reader.fieldnames or ())
        problems.extend(
            f"{path}: no column '{column}'; expected the columns of the sheet that `lab pool` wrote"
            for column in NEEDED
            if column not in columns
        )
        problems.extend(
            f"{path}: unknown column '{column}'{nearest(column, COLUMNS)}"
            for column in columns
            if column not in COLUMNS
        )
        if problems:
            return
        for row in reader:
            cells = {key: _plain(cell or "") for key, cell in row.items() if key is not None}
            label = _label(cells, f"{path}:{reader.line_num}", problems)
            if label is not None:
                yield label
    except csv.Error as fault:
        problems.append(f"{path}:{reader.line_num}: not CSV ({fault})")


def _label(cells: dict[str, str], place: str, problems: list[str]) -> Label | None:
    grade = cells["grade"].strip()
    if not grade:
        return None
    before = len(problems)
    value = _number(grade, "grade", place, problems)
    offsets = [
        _number(cells.get(name, ""), name, place, problems)
        for name in ("start", "end", "evidence_start", "evidence_end")
    ]
    counts = cells.get("counts", "").strip()
    if counts and counts not in COUNTS:
        problems.append(f"{place}: counts is {counts!r}; expected one of {', '.join(COUNTS)}")
    for name, pair in (("start and end", offsets[:2]), ("evidence", offsets[2:])):
        if (pair[0] is None) != (pair[1] is None):
            problems.append(f"{place}: of {name} one is missing; expected both or neither")
    if len(problems) > before or value is None:
        return None
    start, end, first, last = offsets
    return Label(
        place=place,
        query_id=cells["query_id"],
        doc_id=cells["doc_id"],
        start=start,
        end=end,
        grade=value,
        evidence=None if first is None or last is None else (first, last),
        quote=cells.get("quote", ""),
        counts=counts,
        annotator=cells.get("annotator", "").strip(),
        reason=cells.get("reason", "").strip(),
        run=cells.get("run", ""),
    )


def _number(cell: str, name: str, place: str, problems: list[str]) -> int | None:
    """A whole number from 0; None for an empty cell, or for a wrong one, which is a problem."""
    cell = cell.strip()
    if not cell:
        return None
    if not (cell.isascii() and cell.isdigit() and len(cell) < 10):
        problems.append(f"{place}: {name} is {cell!r}; expected a whole number from 0")
        return None
    return int(cell)
