"""JSON as import reads it: a key given twice is an error rather than its last value, and NaN, which
pandas writes for nothing, is nothing."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection
from lab.importing.formats.decode import placed_lines

SURROGATE = "\\u"


def json_lines(path: Path, text: str, into: Collection) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and object of every line; raises CorpusError at the end with every line that is
    none."""
    problems = []
    for place, line in placed_lines(path, text):
        try:
            row = loads(line)
        except (ValueError, RecursionError) as fault:
            problems.append(f"{place}: not JSON ({fault}); expected one object a line")
            continue
        if not isinstance(row, dict):
            problems.append(f"{place}: found a {type(row).__name__}, expected an object")
        elif SURROGATE in line:
            yield place, _whole(place, row, into)
        else:
            yield place, row
    if problems:
        raise CorpusError(problems)


def json_list(path: Path, text: str, into: Collection) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place (`file[number]`) and object of every entry of a list."""
    rows = parse_json(path, text, into)
    wrong = [
        f"{path}: entry {number} is a {type(row).__name__}, expected an object"
        for number, row in enumerate(rows, start=1)
        if not isinstance(row, dict)
    ]
    if wrong:
        raise CorpusError(wrong)
    yield from ((f"{path}[{number}]", row) for number, row in enumerate(rows, start=1))


def parse_json(path: Path, text: str, into: Collection) -> Any:
    """The value of a JSON file; raises CorpusError with line and column."""
    try:
        value = loads(text)
        return _whole(str(path), value, into) if SURROGATE in text else value
    except json.JSONDecodeError as fault:
        raise CorpusError(
            f"{path}:{fault.lineno}: not JSON ({fault.msg} at column {fault.colno})"
        ) from None
    except (ValueError, RecursionError) as fault:
        raise CorpusError(f"{path}: not JSON that can be read ({fault})") from None


def loads(text: str) -> Any:
    """The value of a JSON text. Raises ValueError, also for a key twice in one object and for
    infinite numbers."""
    return json.loads(
        text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_finite
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key '{twice}' stands twice in one object")
    return row


def _constant(name: str) -> None:
    if name != "NaN":
        raise ValueError(f"{name} is no number that JSON knows")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:40]} is too large for a number")
    return value


def whole(value: Any) -> Any:
    """The value without halves of surrogate pairs, which JSON can name but no UTF-8 file can
    hold; each becomes '?'."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [whole(item) for item in value]
    if isinstance(value, dict):
        return {whole(key): whole(item) for key, item in value.items()}
    return value


def _whole(place: str, value: Any, into: Collection) -> Any:
    fresh = whole(value)
    if fresh != value:
        into.note(
            place, "mended", "lone surrogate", "half a character stands in it; replaced by '?'"
        )
    return fresh
