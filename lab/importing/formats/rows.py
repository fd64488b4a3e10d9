"""Rows with named columns, whatever they are kept in: CSV, TSV, JSONL, a JSON list, Parquet or a
workbook."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.errors import CorpusError, TooMuchTextError
from lab.importing.formats import parquet, separated, workbook
from lab.importing.formats.collection import Collection
from lab.importing.formats.decode import decode
from lab.importing.formats.json_rows import json_lines, json_list

Record = tuple[str, dict[str, Any]]
TABLES = ("csv", "tsv", "jsonl", "json", "parquet", "xlsx")


def kind_of(path: Path) -> str:
    """The file's extension in lower case without its dot, `.gz` put aside."""
    return path.name.lower().removesuffix(".gz").rpartition(".")[2]


def records(path: Path, into: Collection) -> Iterator[Record]:
    """Place and columns of every row. Raises CorpusError with every row that is no record."""
    kind = kind_of(path)
    if kind == "parquet":
        into.read_by("pyarrow")
        return parquet.rows(path, into.budget)
    if kind == "xlsx":
        return workbook.rows(path, into)
    text = decode(path, into)
    if kind in ("csv", "tsv"):
        return separated.rows(path, text, into)
    return json_list(path, text, into) if text.lstrip()[:1] == "[" else json_lines(path, text, into)


def told(rows: Iterator[Record], problems: list[str]) -> Iterator[Record]:
    """The rows, and what is amiss with the file at `problems`, beside what is amiss with them."""
    try:
        yield from rows
    except TooMuchTextError:
        raise
    except CorpusError as fault:
        problems.extend(fault.problems)


def columns_of(path: Path) -> dict[str, Any] | None:
    """The first record, by which a table is known; of a file with a header line its columns alone,
    so that a broken row does not hide what the file is. None where it has no rows."""
    quiet = Collection()
    kind = kind_of(path)
    if kind in ("csv", "tsv"):
        return dict.fromkeys(separated.header(path, decode(path, quiet)), "") or None
    if kind == "xlsx":
        return dict.fromkeys(workbook.header(path, quiet), "") or None
    return next((row for _, row in records(path, quiet)), None)
