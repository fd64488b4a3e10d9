"""CSV and TSV with a header line, read strictly: an open quote is an error, not a cell that
swallows the rows after it."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection
from lab.importing.formats.names import named, repeated, tell_nameless

# Characters among which the header ends.
HEAD = 20_000
SEPARATORS = ",;\t|"
# A line that spreadsheet programs write above the header to name the separator.
NAMED = re.compile(r"sep=(.)\r?\n")
Line = tuple[int, list[str]]


class OpenQuoteError(ValueError):
    """A quote that is not closed, or has text after it; `line` is where its row begins."""

    def __init__(self, line: int, reason: object) -> None:
        super().__init__(str(reason))
        self.line = line


def header(path: Path, text: str) -> list[str]:
    """The names of the columns, blanks around them put aside; empty where they cannot be read."""
    body, separator, _ = _opened(path, text)
    try:
        first = next(_lines(body, separator), (0, []))
    except OpenQuoteError:
        return []
    return [name.strip() for name in first[1]]


def rows(path: Path, text: str, into: Collection) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and cells by column of every row that is not blank. Raises CorpusError with every row
    that has another width than the header, and with the line on which a quote is opened that is
    not closed."""
    body, separator, above = _opened(path, text)
    problems: list[str] = []
    lines = _read(path, body, separator, above, into)
    if not lines:
        return
    names = [name.strip() for name in lines[0][1]]
    repeated(f"{path}:{above + lines[0][0]}", names)
    nameless: set[str] = set()
    good = []
    for number, row in lines[1:]:
        place = f"{path}:{above + number}"
        if len(row) != len(names):
            problems.append(f"{place}: {len(row)} columns, the header has {len(names)}")
            continue
        _swallowed(place, row, separator, into)
        cells = dict(zip(named(names), row, strict=True))
        without = [n for n, given in zip(cells, names, strict=True) if not given]
        nameless.update(n for n in without if cells[n].strip())
        good.append((place, cells))
    if problems:
        raise CorpusError(problems)
    tell_nameless(str(path), nameless, into)
    empty = {n for n, given in zip(named(names), names, strict=True) if not given} - nameless
    yield from ((place, {n: c for n, c in row.items() if n not in empty}) for place, row in good)


def _read(path: Path, body: str, separator: str, above: int, into: Collection) -> list[Line]:
    try:
        return list(_lines(body, separator))
    except OpenQuoteError as fault:
        place = f"{path}:{above + fault.line}"
        plain = _unquoted(body) if separator == "\t" else []
        if not plain:
            raise CorpusError(
                f"{place}: not a table: a quote that begins in this row is not closed, or has text "
                f"after it ({fault}); close it, and double a quote inside a quoted cell"
            ) from None
        into.note(
            place,
            "mended",
            "quotes are text",
            f"{fault}; cut at its tabs alone every line has the header's columns, so quotes are "
            "read as they stand",
        )
        return plain


def _opened(path: Path, text: str) -> tuple[str, str, int]:
    """The text from its header on, the separator, and how many lines stand above the header."""
    named = NAMED.match(text)
    if named:
        return text[named.end() :], named[1], 1
    first = re.sub(r'"[^"]*"', "", text[:HEAD].lstrip("\r\n")).split("\n", 1)[0]
    if "\t" in first and path.name.lower().removesuffix(".gz").endswith(".tsv"):
        return text, "\t", 0
    # The first of equals: a header without any separator is one column.
    return text, max(SEPARATORS, key=first.count), 0


def _lines(body: str, separator: str) -> Iterator[Line]:
    """First line and cells of every row that is not blank."""
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=separator, strict=True)
    before = 0
    try:
        for row in reader:
            line, before = before + 1, reader.line_num
            if any(cell.strip() for cell in row):
                yield line, row
    except csv.Error as fault:
        raise OpenQuoteError(before + 1, fault) from None


def _unquoted(body: str) -> list[Line]:
    """Lines cut at tabs, where all are as wide as the first; else none."""
    lines = [
        (number, line.split("\t"))
        for number, line in enumerate(re.split(r"\r\n|\n|\r", body), start=1)
        if line.strip()
    ]
    return lines if len({len(row) for _, row in lines}) == 1 else []


def _swallowed(place: str, row: list[str], separator: str, into: Collection) -> None:
    """A cell of several lines of which one looks like a row itself, as wide as the others and with
    an id in front: a quote may be one too many."""
    for cell in row:
        if any(_is_row(line, len(row), separator) for line in cell.splitlines()[1:]):
            into.note(
                place,
                "suspicious",
                "rows inside a cell",
                "a quoted cell of several lines holds what looks like further rows; is a quote "
                "missing?",
            )


def _is_row(line: str, width: int, separator: str) -> bool:
    cells = line.split(separator)
    return 1 < width == len(cells) and bool(re.fullmatch(r"\S{1,60}", cells[0]))
