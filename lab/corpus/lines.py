"""Reading text files line by line: always UTF-8, every bad line reported with file and number."""

import gzip
import json
import math
import zlib
from collections.abc import Iterator, Mapping
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
            record = read_json(line)
        except ValueError as fault:
            problems.append(f"{place}: {fault}; expected one object a line")
            continue
        if isinstance(record, dict):
            yield place, record
        else:
            problems.append(
                f'{place}: found a {type(record).__name__}, expected an object like {{"doc_id": '
                f"...}}"
            )


def read_json(text: str | bytes) -> Any:
    """JSON as its standard has it. Raises ValueError that says what is wrong: also for NaN and what
    is infinite, a key that an object has twice, and half of a surrogate pair."""
    try:
        value = _DECODER.decode(text if isinstance(text, str) else text.decode("utf-8"))
    except json.JSONDecodeError as fault:
        raise ValueError(f"not JSON ({fault.msg} at column {fault.colno})") from None
    except UnicodeDecodeError as fault:
        raise ValueError(f"not JSON (byte {fault.start} is not UTF-8)") from None
    except (ValueError, RecursionError) as fault:
        # A number of thousands of digits, or brackets nested a thousand deep.
        raise ValueError(f"not JSON that can be read ({fault})") from None
    if ("\\u" in text if isinstance(text, str) else b"\\u" in text) and not encodable(
        json.dumps(value, ensure_ascii=False)
    ):
        raise ValueError(
            "holds half of a surrogate pair (\\ud800 to \\udfff), which is no character; remove it"
        )
    return value


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:40]} is too large for a number")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key '{twice}' stands twice in one object")
    return value


_DECODER = json.JSONDecoder(
    parse_constant=_no_constant, parse_float=_finite, object_pairs_hook=_unique
)


def identifier(record: Mapping[str, Any], key: str, place: str, problems: list[str]) -> str | None:
    """The record's id as text (numbers are taken as written), or None and a problem."""
    value = record.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str) and value.strip():
        return value
    fault = "is missing" if key not in record else f"is {value!r}"
    problems.append(f"{place}: '{key}' {fault}; expected a non-empty string")
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


def optional_text(record: Mapping[str, Any], key: str, place: str, problems: list[str]) -> str:
    """Missing and null count as empty text; anything but text is a problem."""
    value = record.get(key)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    problems.append(f"{place}: '{key}' is a {type(value).__name__}; expected text")
    return ""
