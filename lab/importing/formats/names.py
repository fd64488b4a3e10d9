"""What the columns of a table are called: one table of spellings, and cells as text."""

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lab.errors import CorpusError
from lab.importing.formats.collection import Collection, Role

# Spellings by noun, the likeliest first; letter case, blanks and hyphens do not count.
NAMES: dict[str, tuple[str, ...]] = {
    "doc_id": tuple("doc_id corpus_id docid docno document_id doc _id id".split()),
    "text": tuple("text contents content body passage abstract document".split()),
    "title": ("title", "headline"),
    "query_id": tuple("query_id qid question_id _id id".split()),
    "question": tuple("question query user_input claim question_text text".split()),
    "answer": tuple("answer ground_truth ground_truths reference reference_answer".split()),
    "grade": tuple("grade score relevance rel label".split()),
    "source": tuple(
        "doc_id corpus_id docid docno document_id doc source source_file file filename file_name "
        "document source_document path".split()
    ),
    "quote": tuple(
        "quote passage reference_contexts reference_context context evidence excerpt "
        "ground_truth_context ground_truth_contexts gold_context source_text".split()
    ),
}
# Columns that only a table of questions has.
ASKING = frozenset("question query user_input claim question_text".split())
# One literal of a printed list or NumPy array of strings.
LITERAL = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
ARRAY = re.compile(r"\[\s*(?:(?:" + LITERAL.pattern + r")(?:\s*,)?\s*)+\]", re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def folded(name: str) -> str:
    """A column's name without what spellings differ in."""
    return re.sub(r"[\s\-]+", "_", name.strip().lower())


def column(noun: str, names: Mapping[str, str], present: Iterable[str]) -> str | None:
    """The column that holds a noun: the one the user named, else the first known spelling that is
    present."""
    if noun in names:
        return names[noun] if names[noun] in present else None
    spelt = {folded(name): name for name in reversed(list(present))}
    return next((spelt[name] for name in NAMES[noun] if name in spelt), None)


def repeated(place: str, names: list[str]) -> None:
    """Raises CorpusError for columns of one name, of which the last would win in silence."""
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise CorpusError(
            f"{place}: column '{name}' stands {names.count(name)} times; rename or remove one"
            for name in twice
        )


def named(names: list[str]) -> list[str]:
    """The names of columns; one without a name is called by its place, `column 3`."""
    called = (f"column {number}" for number in range(1, len(names) + 1))
    return [
        name or (place if place not in names else f"{place} without a name")
        for name, place in zip(names, called, strict=True)
    ]


def tell_nameless(place: str, columns: set[str], into: Collection) -> None:
    """Say what columns without a name are called that hold something."""
    if columns:
        shown = ", ".join(sorted(columns))
        into.note(place, "read", "column without a name", f"kept as {shown}")


def role_of(path: Path, row: Mapping[str, Any], names: Mapping[str, str]) -> Role | None:
    """What a table holds, by its columns and, where id and text could be either, by its name."""
    spelt = {folded(name) for name in row}
    judged = {"query_id", "qid"} & spelt and {"corpus_id", "doc_id", "docid", "docno"} & spelt
    asks = bool(ASKING & spelt) or names.get("question") in row
    if judged and not asks and column("grade", names, row):
        return "judgements"
    if asks or ({"query_id", "qid"} & spelt and column("question", names, row)):
        return "questions"
    if column("doc_id", names, row) and column("text", names, row):
        asked = re.search("quer|topic|question", path.name.lower())
        return "questions" if asked else "documents"
    return None


class Cells:
    """The cells of one table's rows by noun, as text; what is no text is a problem of its row."""

    def __init__(self, names: Mapping[str, str], into: Collection, problems: list[str]) -> None:
        self._names, self._into, self._problems = names, into, problems

    def column(self, noun: str, row: Mapping[str, Any]) -> str | None:
        return column(noun, self._names, row)

    def text(self, place: str, noun: str, row: Mapping[str, Any]) -> str:
        """The cell as text: missing and null are empty, several texts are joined by one blank."""
        name = self.column(noun, row)
        value = row.get(name) if name else None
        if isinstance(value, str) and ARRAY.fullmatch(value.strip()):
            self._note(place, "array text", f"{name} is a printed array of strings")
            return array_text(value)
        if isinstance(value, list) and all(isinstance(part, str) or part is None for part in value):
            if len(value) > 1:
                self._note(place, "list of texts", f"{name} is a list of {len(value)} texts")
            return " ".join(part for part in value if part)
        return plain(value, f"{place}: {name}", self._problems)

    def identifier(self, place: str, noun: str, row: Mapping[str, Any]) -> str:
        """The cell as an id, empty where there is none."""
        name = self.column(noun, row)
        return plain(row.get(name) if name else None, f"{place}: {name}", self._problems)

    def _note(self, place: str, rule: str, message: str) -> None:
        self._into.note(place, "mended", rule, f"{message}; they are joined by one blank")


def plain(value: Any, what: str, problems: list[str]) -> str:
    """A text, or a number as written; empty for nothing. Anything else is a problem."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        problems.append(f"{what} is {str(value)[:60]!r} ({type(value).__name__}); expected text")
        return ""
    return str(value)


def array_text(text: str) -> str:
    """Read the string literals of a printed array one by one: evaluating it would glue neighbours
    together."""
    return " ".join(array_texts(text))


def array_texts(text: str) -> list[str]:
    """The string literals of a printed list or array, without their escapes."""
    parts = (
        match[1] if match[1] is not None else match[2]
        for match in LITERAL.finditer(text.strip()[1:-1])
    )
    return [re.sub(r"\\(.)", _unescaped, part, flags=re.DOTALL) for part in parts]


def _unescaped(match: re.Match[str]) -> str:
    return ESCAPES.get(match[1], match[1])
