"""What `lab watch` leaves: questions to label as a set, and its finding in the folder of a run."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lab.corpus.lines import read_json
from lab.errors import RunError, UsageError
from lab.usage.watch import Watched

# File in a run folder.
DRIFT = "drift.json"
# The tag that says where a question comes from, as in the project's own sets.
ORIGIN = "log"


def question_line(text: str, **tags: str) -> str:
    """A line of a set: a question of a log that nobody has labelled yet, under an id that its text
    gives."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    record = {"query_id": f"log-{digest}", "text": text, "tags": {"origin": ORIGIN, **tags}}
    return json.dumps(record, ensure_ascii=False) + "\n"


def write_new(path: Path, lines: Iterable[str]) -> None:
    """Write a new file. Raises UsageError when it exists, for it may hold somebody's work."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.writelines(lines)
    except FileExistsError:
        raise UsageError(f"{path}: exists; name a new file") from None
    except OSError as fault:
        raise UsageError(f"{path}: cannot be written ({fault.strerror})") from None


def write_gaps(path: Path, watched: Watched) -> int:
    """Write the questions of all gaps, each tagged with its gap's number, and say how many."""
    lines = [
        question_line(text, gap=str(number))
        for number, gap in enumerate(watched.gaps, start=1)
        for text in gap.questions
    ]
    write_new(path, lines)
    return len(lines)


def drift_record(watched: Watched) -> dict[str, Any]:
    """The finding as plain values: fields of Watched, with `drifted`, and `told` beside every
    comparison and feature."""
    record = asdict(watched) | {"drifted": watched.drifted}
    for key, rows in (("comparisons", watched.comparisons), ("features", watched.features)):
        record[key] = [asdict(row) | {"told": row.told} for row in rows]
    for key in ("first", "last"):
        record[key] = None if record[key] is None else record[key].isoformat()
    return record


def write_drift(run: Path, watched: Watched) -> None:
    """Keep the finding in a run folder, in place of an earlier one. Raises RunError when it cannot
    be written."""
    fresh = run / f".{DRIFT}.new"
    try:
        text = json.dumps(drift_record(watched), ensure_ascii=False, indent=1)
        fresh.write_text(text + "\n", "utf-8")
        fresh.replace(run / DRIFT)
    except OSError as fault:
        raise RunError(f"{run}: cannot be written ({fault.strerror or fault})") from None


def read_drift(run: Path) -> Watched | None:
    """The finding that a run folder keeps; None if it keeps none."""
    from pydantic import TypeAdapter, ValidationError

    file = run / DRIFT
    if not file.is_file():
        return None
    try:
        return TypeAdapter(Watched).validate_python(read_json(file.read_bytes()))
    except (OSError, ValueError) as fault:
        wrong = f"{fault.error_count()} values" if isinstance(fault, ValidationError) else fault
        raise RunError(
            f"{file}: cannot be read as what `lab watch --into` writes ({wrong}); remove it"
        ) from None
