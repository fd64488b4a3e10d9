"""Which format a file is in: told by its content, by its name only where the content could be two
things."""

import re
from collections.abc import Mapping
from pathlib import Path

from lab.errors import CorpusError, TooMuchTextError
from lab.sets.importing.formats.collection import Collection, Role
from lab.sets.importing.formats.decode import decode
from lab.sets.importing.formats.tables import records, role_of

TEXTS = {
    ".md": "text",
    ".txt": "text",
    ".html": "html",
    ".htm": "html",
    ".docx": "docx",
    ".pdf": "pdf",
}
TABLES = ("csv", "tsv", "jsonl", "json", "parquet")
ASKING = re.compile("quer|qry|topic|question")
HEAD = 20_000


def sniff(path: Path, role: Role | None, columns: Mapping[str, str]) -> str | None:
    """The key of the file's format in `FORMATS`, None when nothing there knows it. `role` is what
    the user says it holds."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".docx", ".pdf")):
        return TEXTS[Path(name).suffix]
    kind = name.rpartition(".")[2]
    if kind == "parquet":
        return _table(path, role, columns)
    try:
        text = decode(path, Collection())
    except TooMuchTextError:
        if role or kind in TABLES or Path(name).suffix in TEXTS:
            # A film beside the documents is none of them; a table larger than memory is.
            raise
        return None
    except CorpusError:
        return None
    head = text[:HEAD]
    found = _marked(head, name, role) or _by_columns(head, name, role)
    if found:
        return found
    if kind in TABLES:
        return "squad" if _holds(head, '"paragraphs"', '"context"') else _table(path, role, columns)
    return TEXTS.get(Path(name).suffix)


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
    rows = [line.split() for line in lines]
    last_is_number = all(re.fullmatch(r"-?\d+", row[-1]) for row in rows)
    widths = {len(row) for row in rows}
    if widths == {4} and all(row[2:] == ["0", "0"] for row in rows):
        return "smart judgements"
    if (widths == {4} or all(len(line.split("\t")) == 4 for line in lines)) and last_is_number:
        return "trec qrels"
    if widths == {3} and all(re.fullmatch(r"-?\d+", cell) for row in rows for cell in row):
        return "smart judgements"
    if widths == {3} and all(row[1] in ("0", "Q0") for row in rows):
        return "trec pairs"
    if widths == {6} and all(row[1].upper() in ("Q0", "QO", "0") for row in rows):
        return "trec run"
    tabs = all(len(line.split("\t")) == 2 for line in lines) or (
        role == "questions" and not name.endswith((".csv", ".jsonl"))
    )
    asked = role == "questions" or (role is None and ASKING.search(name))
    plain = not name.endswith((".md", ".txt", ".html", ".csv", ".xml", ".trec"))
    if tabs and (asked or (plain and "\t" in lines[0])):
        return "columns questions" if asked else "columns documents"
    return None


def _table(path: Path, role: Role | None, columns: Mapping[str, str]) -> str | None:
    try:
        row = next((row for _, row in records(path, Collection())), None)
    except TooMuchTextError:
        raise
    except CorpusError:
        row = None
    if row is None:
        return f"table {role}" if role else None
    present = set(row)
    for name, keys in SHAPES.items():
        if keys <= present:
            return name
    asks = {"question", "user_input"} & present
    if asks and {"contexts", "retrieved_contexts", "reference_contexts"} & present:
        return "ragas"
    found = role or role_of(path, row, columns)
    return f"table {found}" if found else None


# Tables known by their columns.
SHAPES = {
    "chroma": {"question", "references", "corpus_id"},
    "cuad": {"Filename", "Parties", "Parties-Answer"},
    "hotpot": {"question_id", "question_text", "contexts"},
    "rgb": {"query", "positive", "negative"},
}


def _holds(head: str, *marks: str) -> bool:
    return all(mark in head for mark in marks)
