"""Reading text files line by line: always UTF-8, every bad line reported with file and number."""

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.corpus.budget import Budget
from lab.errors import LabError, encodable

BOM = "\ufeff"
PACKED = ".gz"


def read_text(path: Path, error: type[LabError], budget: Budget | None = None) -> str:
    """The file's text without a byte order mark; line ends stay as they are."""
    return "".join(_lines(path, error, budget))


def numbered_lines(
    path: Path, error: type[LabError], budget: Budget | None = None
) -> Iterator[tuple[int, str]]:
    """Physical line number from 1 and text of every line that is not blank."""
    for number, line in enumerate(_lines(path, error, budget), start=1):
        if line.strip():
            yield number, line.removesuffix("\n").rstrip("\r")


def _lines(path: Path, error: type[LabError], budget: Budget | None) -> Iterator[str]:
    """Lines with their ends, read one at a time and unpacked if it is .gz; a new budget if none is
    given."""
    budget, before = budget or Budget(), 0
    try:
        if path.exists() and not path.is_file():
            # A pipe or a device would be waited for without end.
            raise error(f"{path}: is a {_sort(path)}; expected a file")
        with gzip.open(path) if path.suffix == PACKED else path.open("rb") as file:
            while line := file.readline(max(budget.left, 0) + 1):
                budget.take(len(line), path)
                yield line.decode("utf-8") if before else line.decode("utf-8").removeprefix(BOM)
                before += len(line)
    except UnicodeDecodeError as fault:
        place, found = before + fault.start, fault.object[fault.start]
        raise error(
            f"{path}: byte {place} is not UTF-8 (found 0x{found:02x}); save the file as UTF-8"
        ) from None
    except (OSError, EOFError, zlib.error, ValueError) as fault:
        # A cut or damaged .gz, or a name that no file can have.
        reason = getattr(fault, "strerror", None) or fault
        raise error(f"{path}: cannot be read ({reason})") from None


def _sort(path: Path) -> str:
    return "folder" if path.is_dir() else "pipe" if path.is_fifo() else "device or socket"


def read_records(
    path: Path, problems: list[str], error: type[LabError], budget: Budget | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place (`file:line`) and object of every line of a JSONL file; what is no object goes to
    `problems`."""
    for number, line in numbered_lines(path, error, budget):
        place = f"{path}:{number}"
        try:
            record = json.loads(line)
        except json.JSONDecodeError as fault:
            problems.append(
                f"{place}: not JSON ({fault.msg} at column {fault.colno}); expected one object a "
                "line"
            )
            continue
        except (ValueError, RecursionError) as fault:
            # A number of thousands of digits, or brackets nested a thousand deep.
            problems.append(
                f"{place}: not JSON that can be read ({fault}); expected one object a line"
            )
            continue
        if "\\u" in line and not encodable(json.dumps(record, ensure_ascii=False)):
            problems.append(
                f"{place}: holds half of a surrogate pair (\\ud800 to \\udfff), which is no "
                "character; remove it"
            )
        elif isinstance(record, dict):
            yield place, record
        else:
            problems.append(
                f'{place}: found a {type(record).__name__}, expected an object like {{"doc_id": '
                f"...}}"
            )


def identifier(record: dict[str, Any], key: str, place: str, problems: list[str]) -> str | None:
    """The record's id as text (numbers are taken as written), or None and a problem."""
    value = record.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and value.strip():
        return value
    found = "is missing" if key not in record else f"is {value!r}"
    problems.append(f"{place}: '{key}' {found}; expected a non-empty string")
    return None


def note_repeat(
    place: str, key: str, value: str, seen: dict[str, str], problems: list[str]
) -> None:
    """Remember where an id stood first and report a second use with both places; a file read twice
    is a second use."""
    if value in seen:
        problems.append(
            f"{place}: {key} '{value}' was already used at {seen[value]}; ids must be unique"
        )
    else:
        seen[value] = place


def optional_text(record: dict[str, Any], key: str, place: str, problems: list[str]) -> str:
    """Missing and null count as empty text; anything but text is a problem."""
    value = record.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    problems.append(f"{place}: '{key}' is a {type(value).__name__}; expected text")
    return ""
