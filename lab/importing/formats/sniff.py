"""Which format a file is in: told by its content, by its name only where the content could be two
things."""

import re
from collections.abc import Mapping
from pathlib import Path

from lab.corpus.values import grade
from lab.errors import CorpusError, TooMuchTextError
from lab.importing.formats.collection import Collection, Role
from lab.importing.formats.decode import decoded, read_bytes
from lab.importing.formats.names import role_of
from lab.importing.formats.rows import TABLES, columns_of, kind_of
from lab.importing.formats.sheets import brings_passages, is_sheet

TEXTS = {
    ".md": "text",
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".docx": "docx",
    ".pdf": "pdf",
}
ASKING = re.compile("quer|qry|topic|question")
HEAD = 20_000
HEADERS = frozenset(("query-id", "query_id", "qid", "topic"))
# Told by their names alone, as their text can speak of any format.
MARKUP = (".md", ".html", ".htm", ".xhtml")
# The two last columns of SMART's judgements: `0 0`, or `0 0.000000`.
ZERO = re.compile(r"0(\.0+)?")


def sniff(path: Path, role: Role | None, columns: Mapping[str, str]) -> str | None:
    """The key of the file's format in `choose.ROLES_OF`, None when nothing there knows it. `role`
    is what the user says it holds. Raises CorpusError when the file cannot be read, though its name
    says what it is."""
    name = path.name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    if suffix in (".docx", ".pdf"):
        return TEXTS[suffix]
    kind = kind_of(path)
    if kind in ("parquet", "xlsx"):
        return _table(path, role, columns)
    quiet = Collection()
    try:
        text = decoded(path, read_bytes(path, quiet.budget), quiet)
    except TooMuchTextError:
        if role or kind in TABLES or suffix in TEXTS:
            # A film beside the documents is none of them; a table larger than memory is.
            raise
        return None
    except CorpusError:
        if role or kind in TABLES or suffix in TEXTS or path.suffix == ".gz":
            raise
        return None
    if suffix in MARKUP and role in (None, "documents"):
        return TEXTS[suffix]
    head = text[:HEAD]
    if kind in ("csv", "tsv") and (format_name := _table(path, role, columns, sure=True)):
        return format_name
    format_name = _marked(head, name, role) or _by_columns(head, name, role)
    if format_name:
        return format_name
    if kind in TABLES:
        return "squad" if _holds(head, '"paragraphs"', '"context"') else _table(path, role, columns)
    return TEXTS.get(suffix)


def _marked(head: str, name: str, role: Role | None) -> str | None:
    """Formats that carry their own marks."""
    if re.search(r"^\.I\s+\S+\s*$", head, re.MULTILINE) and re.search(
        r"^\.W\s*$|^\.T\s*$", head, re.MULTILINE
    ):
        return (
            "smart questions" if role == "questions" or ASKING.search(name) else "smart documents"
        )
    if re.search(r"<top>", head, re.IGNORECASE):
        return "trec topics"
    if re.search(r"<docno>", head, re.IGNORECASE):
        return (
            "trec documents as questions"
            if role == "questions" or ASKING.search(name)
            else "trec documents"
        )
    if _holds(head, '"document_id"', '"tasks"') or _holds(head, '"models"', '"filters"'):
        return "mtrag"
    return None


def _by_columns(head: str, name: str, role: Role | None) -> str | None:
    """Plain columns: judgements, runs, and `id<tab>text`."""
    if head.lstrip()[:1] in ("{", "[", ""):
        return None
    lines = [line for line in head.split("\n") if line.strip() and not line.startswith("#")][:50]
    # The head may end in the middle of a line.
    lines = lines[:-1] if len(head) == HEAD and len(lines) > 1 else lines
    if not lines:
        return None
    rows = [line.split() for line in lines]
    judged = _judged(lines, rows)
    if judged:
        return judged
    if all(len(row) == 6 and row[1].upper() in ("Q0", "QO", "0") for row in rows):
        return "trec run"
    tabs = all(len(line.split("\t")) == 2 for line in lines) or (
        role == "questions" and not name.endswith((".csv", ".jsonl"))
    )
    asked = role == "questions" or (role is None and ASKING.search(name))
    plain = not name.endswith((".md", ".txt", ".html", ".csv", ".xml", ".trec"))
    if tabs and (asked or (plain and "\t" in lines[0])):
        return "columns questions" if asked else "columns documents"
    return None


def _judged(lines: list[str], rows: list[list[str]]) -> str | None:
    """Judgements in three or four columns, with or without BEIR's header."""
    if rows[0][0].lower() in HEADERS and len(rows) > 1:
        lines, rows = lines[1:], rows[1:]
    widths = {len(row) for row in rows}
    by_tab = {len(line.split("\t")) for line in lines}
    graded = all(grade(row[-1]) is not None for row in rows)
    if widths == {4} and all(ZERO.fullmatch(cell) for row in rows for cell in row[2:]):
        return "smart judgements"
    if widths == {3} and all(re.fullmatch(r"-?\d+", cell) for row in rows for cell in row):
        return "smart judgements"
    if graded and (widths in ({3}, {4}) or by_tab in ({3}, {4})):
        return "trec qrels"
    if widths == {3} and all(row[1] in ("0", "Q0") for row in rows):
        return "trec pairs"
    return None


def _table(
    path: Path, role: Role | None, columns: Mapping[str, str], sure: bool = False
) -> str | None:
    """The format of a table by its columns; if `sure`, only where they are known ones."""
    row = columns_of(path)
    if row is None:
        return f"table {role}" if role and not sure else None
    present = set(row)
    for name, keys in SHAPES.items():
        if keys <= present:
            return name
    shown = role_of(path, row, columns)
    shape = (shown and role) if sure else role
    shape = shape or shown
    sheet = is_sheet(row, columns)
    passages = sheet and brings_passages(row, columns)
    if shape == "questions" and sheet:
        return "sheet with passages" if passages else "sheet"
    if role == "documents" and passages:
        return "sheet with passages"
    return f"table {shape}" if shape else None


# Tables known by their columns.
SHAPES = {
    "chroma": {"question", "references", "corpus_id"},
    "cuad": {"Filename", "Parties", "Parties-Answer"},
    "hotpot": {"question_id", "question_text", "contexts"},
    "rgb": {"query", "positive", "negative"},
}


def _holds(head: str, *marks: str) -> bool:
    return all(mark in head for mark in marks)
