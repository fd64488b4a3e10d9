"""Tables with named columns as documents, questions or judgements: BEIR and MTEB folders, and most
of what people keep."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.corpus.values import GRADE, grade
from lab.errors import CorpusError
from lab.importing.formats.collection import Collection, Judgement, Question, Role, joined
from lab.importing.formats.names import NAMES, Cells
from lab.importing.formats.rows import records, told


def read(path: Path, into: Collection, role: Role, names: Mapping[str, str]) -> None:
    """Read a table as documents, questions or judgements. Raises CorpusError with every row that
    lacks what it needs."""
    problems: list[str] = []
    cells = Cells(names, into, problems)
    for number, (place, row) in enumerate(told(records(path, into), problems)):
        if number == 0:
            _needed(place, role, row, cells)
        if role == "documents":
            _document(place, row, into, cells, problems)
        elif role == "questions":
            _question(place, row, into, cells, problems)
        else:
            _judgement(place, row, into, cells, problems)
    if problems:
        raise CorpusError(problems)


NEEDED: dict[Role, tuple[str, ...]] = {
    "documents": ("doc_id", "text"),
    "questions": ("query_id", "question"),
    "judgements": ("query_id", "doc_id", "grade"),
}


def _needed(place: str, role: Role, row: Mapping[str, Any], cells: Cells) -> None:
    """Columns that are not there at all are told once, not a row at a time."""
    if role == "questions" and isinstance(row.get("evidence"), list):
        raise CorpusError(
            f"{place}: the questions have the lab's own form already; use them as they are, "
            "without import"
        )
    absent = [noun for noun in NEEDED[role] if cells.column(noun, row) is None]
    if "text" in absent and cells.column("title", row):
        absent.remove("text")
    if absent:
        raise CorpusError(
            f"{place}: no column holds {noun} ({', '.join(row)}); expected one called "
            f"{', '.join(NAMES[noun][:4])}, or --column {noun}=NAME"
            for noun in absent
        )


def _document(
    place: str, row: dict[str, Any], into: Collection, cells: Cells, problems: list[str]
) -> None:
    doc_id, title = cells.identifier(place, "doc_id", row), cells.text(place, "title", row)
    text = cells.text(place, "text", row)
    if not doc_id.strip():
        problems.append(f"{place}: the document has no id")
        return
    used = {cells.column(noun, row) for noun in ("doc_id", "text", "title")}
    rest = {key: value for key, value in row.items() if key not in used and _holds(value)}
    into.add_document(place, doc_id, joined(title, text), title, rest)


def _question(
    place: str, row: dict[str, Any], into: Collection, cells: Cells, problems: list[str]
) -> None:
    query_id = cells.identifier(place, "query_id", row)
    if not query_id.strip():
        problems.append(f"{place}: the question has no id")
        return
    used = {cells.column(noun, row) for noun in ("query_id", "question", "answer")}
    text, answer = cells.text(place, "question", row), cells.text(place, "answer", row)
    into.questions.append(Question(place, query_id, text, answer, tags_of(row, used)))


def tags_of(row: Mapping[str, Any], used: set[str | None]) -> dict[str, str]:
    """The cells of columns that nothing else uses, as tags; lists and objects as JSON writes
    them."""
    return {
        key: json.dumps(value, ensure_ascii=False, default=str)
        if isinstance(value, dict | list)
        else str(value)
        for key, value in row.items()
        if key not in used and _holds(value)
    }


def _holds(value: Any) -> bool:
    return not (value is None or value == "" or value == {} or value == [])


def _judgement(
    place: str, row: dict[str, Any], into: Collection, cells: Cells, problems: list[str]
) -> None:
    query_id, doc_id, said = (
        cells.identifier(place, noun, row) for noun in ("query_id", "doc_id", "grade")
    )
    value = grade(said)
    if not query_id or not doc_id or value is None:
        problems.append(
            f"{place}: question {query_id!r}, document {doc_id!r}, grade {said[:80]!r}; expected "
            f"two ids, and for the grade {GRADE.removeprefix('expected ')}"
        )
        return
    into.judgements.append(Judgement(place, query_id, doc_id, value))
