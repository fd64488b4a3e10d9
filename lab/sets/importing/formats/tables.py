"""Tables with named columns: CSV, TSV, JSONL, a JSON list and Parquet, for documents, questions or
judgements.

BEIR and MTEB folders are made of such tables. Column names are looked up in `NAMES`; `columns`
overrides them.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lab.corpus.budget import Budget
from lab.errors import CorpusError
from lab.sets.importing.formats.collection import Collection, Judgement, Question, Role, joined
from lab.sets.importing.formats.decode import decode, placed_lines

Record = tuple[str, dict[str, Any]]
# Rows of a Parquet file that are in memory at a time.
ROWS = 64

NAMES: dict[str, tuple[str, ...]] = {
    "doc_id": (
        "doc_id",
        "corpus-id",
        "corpus_id",
        "docid",
        "docno",
        "document_id",
        "doc",
        "_id",
        "id",
    ),
    "text": ("text", "contents", "content", "body", "passage", "abstract", "document"),
    "title": ("title", "headline"),
    "query_id": ("query_id", "query-id", "qid", "question_id", "_id", "id"),
    "question": ("question", "query", "user_input", "claim", "question_text", "text"),
    "answer": ("answer", "ground_truth", "ground_truths", "reference"),
    "grade": ("grade", "score", "relevance", "rel", "label"),
}
# One literal of a NumPy array of strings written as text.
LITERAL = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
ARRAY = re.compile(r"\[\s*(?:(?:" + LITERAL.pattern + r")\s*)+\]", re.DOTALL)


def records(path: Path, into: Collection) -> Iterator[Record]:
    """Place and columns of every row. Raises CorpusError with every row that is no record."""
    kind = path.name.removesuffix(".gz").rpartition(".")[2].lower()
    if kind == "parquet":
        return _parquet(path, into.budget)
    text = decode(path, into)
    if kind in ("csv", "tsv"):
        return _separated(path, text, "\t" if kind == "tsv" else ",")
    return _json_list(path, text) if text.lstrip()[:1] == "[" else _json_lines(path, text)


def _json_lines(path: Path, text: str) -> Iterator[Record]:
    problems = []
    for place, line in placed_lines(path, text):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as fault:
            problems.append(f"{place}: not JSON ({fault}); expected one object a line")
            continue
        if isinstance(row, dict):
            yield place, row
        else:
            problems.append(f"{place}: found a {type(row).__name__}, expected an object")
    if problems:
        raise CorpusError(problems)


def _json_list(path: Path, text: str) -> Iterator[Record]:
    for number, row in enumerate(parse_json(path, text), start=1):
        if not isinstance(row, dict):
            raise CorpusError(
                f"{path}: entry {number} is a {type(row).__name__}, expected an object"
            )
        yield f"{path}[{number}]", row


def _separated(path: Path, text: str, separator: str) -> Iterator[Record]:
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    problems: list[str] = []
    try:
        header = [name.strip() for name in next(reader, [])]
        before = reader.line_num
        for row in reader:
            place, before = f"{path}:{before + 1}", reader.line_num
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(header):
                problems.append(f"{place}: {len(row)} columns, the header has {len(header)}")
            else:
                yield place, dict(zip(header, row, strict=True))
    except csv.Error as fault:
        problems.append(f"{path}:{reader.line_num}: not a table ({fault})")
    if problems:
        raise CorpusError(problems)


def _parquet(path: Path, budget: Budget) -> Iterator[Record]:
    """Rows a few at a time. What a file says it unpacks to is believed where that is too much
    already; as repeated texts stay in their dictionary until they are a row, and rows are counted,
    a file that says less than the truth is stopped too."""
    import pyarrow
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            groups = (file.metadata.row_group(group) for group in range(file.num_row_groups))
            said = sum(
                group.column(column).total_uncompressed_size
                for group in groups
                for column in range(group.num_columns)
            )
            if said > budget.left:
                budget.take(said, path)
            texts = [
                column.name
                for column in file.schema_arrow
                if pyarrow.types.is_string(column.type)
                or pyarrow.types.is_large_string(column.type)
            ]
        with pyarrow.parquet.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(ROWS):
                for row in batch.to_pylist():
                    budget.take(_size(row), path)
                    number += 1
                    yield f"{path}[{number}]", row
    except (OSError, ValueError) as fault:
        raise CorpusError(f"{path}: not a Parquet file ({fault})") from None


def _size(value: Any) -> int:
    """What a cell or row takes in memory, roughly: the characters of its texts, and for anything
    else what Python takes."""
    if isinstance(value, dict):
        value = list(value.values())
    return (
        sum(map(_size, value))
        if isinstance(value, list)
        else len(value)
        if isinstance(value, str | bytes)
        else 32
    )


def parse_json(path: Path, text: str) -> Any:
    """The value of a JSON file; raises CorpusError with line and column."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as fault:
        raise CorpusError(
            f"{path}:{fault.lineno}: not JSON ({fault.msg} at column {fault.colno})"
        ) from None
    except (ValueError, RecursionError) as fault:
        raise CorpusError(f"{path}: not JSON that can be read ({fault})") from None


def column(noun: str, names: Mapping[str, str], present: Mapping[str, Any]) -> str | None:
    """The column that holds a noun: the one the user named, else the first known spelling that is
    present."""
    if noun in names:
        return names[noun] if names[noun] in present else None
    return next((name for name in NAMES[noun] if name in present), None)


def role_of(path: Path, row: Mapping[str, Any], names: Mapping[str, str]) -> Role | None:
    """What a table holds, by its columns and, where id and text could be either, by its name."""
    judged = {"query-id", "query_id", "qid"} & set(row) and {
        "corpus-id",
        "corpus_id",
        "doc_id",
        "docid",
        "docno",
    } & set(row)
    if judged and column("grade", names, row):
        return "judgements"
    asks = {"question", "query", "user_input", "claim", "question_text"} & set(row)
    if {"query_id", "qid"} & set(row) and column("question", names, row):
        return "questions"
    if asks or ("question" in names and names["question"] in row):
        return "questions"
    if column("doc_id", names, row) and column("text", names, row):
        return (
            "questions"
            if re.search("quer|topic|question", path.as_posix().rpartition("/")[2].lower())
            else "documents"
        )
    return None


def read(path: Path, into: Collection, role: Role, names: Mapping[str, str]) -> None:
    """Read a table as documents, questions or judgements. Raises CorpusError with every row that
    lacks what it needs."""
    problems: list[str] = []
    for place, row in records(path, into):
        if role == "documents":
            _document(place, row, into, names, problems)
        elif role == "questions":
            if isinstance(row.get("evidence"), list):
                raise CorpusError(
                    f"{place}: the questions have the lab's own form already; use them as they "
                    "are, without import"
                )
            _question(place, row, into, names, problems)
        else:
            _judgement(place, row, into, names, problems)
    if problems:
        raise CorpusError(problems)


def _document(
    place: str, row: dict[str, Any], into: Collection, names: Mapping[str, str], problems: list[str]
) -> None:
    doc_id, text = cell(row, "doc_id", names), cell(row, "text", names)
    if not doc_id.strip():
        problems.append(
            f"{place}: no document id; expected a column like {', '.join(NAMES['doc_id'][:4])}, or "
            "--column doc_id=NAME"
        )
        return
    title = cell(row, "title", names)
    if ARRAY.fullmatch(text.strip()):
        text = array_text(text)
        into.note(
            place,
            "mended",
            "array text",
            "the text is a printed NumPy array of strings; its strings are joined by one blank",
        )
    used = {column(noun, names, row) for noun in ("doc_id", "text", "title")}
    rest = {
        key: value for key, value in row.items() if key not in used and value not in (None, "", {})
    }
    into.add_document(place, doc_id, joined(title, text), title, rest)


def _question(
    place: str, row: dict[str, Any], into: Collection, names: Mapping[str, str], problems: list[str]
) -> None:
    query_id = cell(row, "query_id", names)
    if not query_id.strip():
        problems.append(
            f"{place}: no question id; expected a column like {', '.join(NAMES['query_id'][:4])}, "
            "or --column query_id=NAME"
        )
        return
    into.questions.append(
        Question(place, query_id, cell(row, "question", names), cell(row, "answer", names))
    )


def _judgement(
    place: str, row: dict[str, Any], into: Collection, names: Mapping[str, str], problems: list[str]
) -> None:
    query_id, doc_id, grade = (
        cell(row, "query_id", names),
        cell(row, "doc_id", names),
        cell(row, "grade", names),
    )
    try:
        value = float(grade)
    except ValueError:
        value = float("nan")
    if not query_id or not doc_id or value != value or value != int(value):
        problems.append(
            f"{place}: question {query_id!r}, document {doc_id!r}, grade {grade!r}; expected two "
            "ids and a whole number"
        )
        return
    into.judgements.append(Judgement(place, query_id, doc_id, int(value)))


def cell(row: Mapping[str, Any], noun: str, names: Mapping[str, str]) -> str:
    """A cell as text; missing and null are empty, a list is its first entry."""
    value = row.get(column(noun, names, row) or "")
    if isinstance(value, list):
        value = value[0] if value else None
    return "" if value is None else str(value)


def array_text(text: str) -> str:
    """Read the string literals of a printed array one by one: evaluating it would glue neighbours
    together."""
    parts = (
        match[1] if match[1] is not None else match[2]
        for match in LITERAL.finditer(text.strip()[1:-1])
    )
    return " ".join(re.sub(r"\\(.)", _unescaped, part, flags=re.DOTALL) for part in parts)


def _unescaped(match: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t", "r": "\r"}.get(match[1], match[1])
