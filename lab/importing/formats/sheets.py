"""Question sheets: tables of questions that name their evidence by file, by quote, or by the
passages they bring (RAGAS)."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.corpus.values import grade
from lab.errors import CorpusError
from lab.importing.formats.collection import Collection, Judgement, Question
from lab.importing.formats.contexts import Pool
from lab.importing.formats.names import ARRAY, ASKING, Cells, array_texts, column, folded
from lab.importing.formats.rows import records, told
from lab.importing.formats.tables import tags_of

# What some retriever returned: no evidence unless it holds the answer word for word.
RETURNED = ("contexts", "retrieved_contexts")
GRADES = (1, 2, 3)
NOUNS = ("query_id", "question", "answer", "source", "quote", "grade")


def is_sheet(columns: Mapping[str, Any], names: Mapping[str, str]) -> bool:
    """Whether a table has a column that only questions have; one for evidence need not be there."""
    spelt = {folded(name) for name in columns}
    return bool(ASKING & spelt) or names.get("question") in columns


def brings_passages(columns: Mapping[str, Any], names: Mapping[str, str]) -> bool:
    """Whether a sheet has passages that can be its documents: it says of none which file it is
    from."""
    if column("source", names, columns) is not None:
        return False
    returned = {folded(name) for name in columns}.intersection(RETURNED)
    return bool(returned) or column("quote", names, columns) is not None


def read(path: Path, into: Collection, names: Mapping[str, str]) -> None:
    """Questions, numbered where they have no id, with the evidence that their rows name. Rows that
    ask the same are one question. Raises CorpusError with every row that is amiss."""
    sheet = _Sheet(into, names)
    for number, (place, row) in enumerate(told(records(path, into), sheet.problems), start=1):
        if number == 1:
            sheet.begin(str(path), row)
        sheet.row(place, number, row)
    if sheet.problems:
        raise CorpusError(sheet.problems)


class _Sheet:
    """The rows of one sheet as they are read."""

    def __init__(self, into: Collection, names: Mapping[str, str]) -> None:
        self.problems: list[str] = []
        self._into = into
        self._cells = Cells(names, into, self.problems)
        self._pool = Pool(into)
        self._ids: dict[tuple[str, str], str] = {}
        self._asked: dict[str, Question] = {}
        self._used: set[str | None] = set()
        self._returned: list[str] = []

    def begin(self, path: str, row: Mapping[str, Any]) -> None:
        """Say how the columns are understood."""
        by_noun = {noun: self._cells.column(noun, row) for noun in NOUNS}
        self._returned = [name for name in row if folded(name) in RETURNED]
        self._used = {*by_noun.values(), *self._returned}
        said = [f"{noun} from '{name}'" for noun, name in by_noun.items() if name]
        if self._returned:
            said.append(f"passages that were retrieved from {', '.join(self._returned)}")
        if by_noun["query_id"] is None:
            said.append("questions numbered by row")
        tags = [name for name in row if name not in self._used]
        if tags:
            said.append(f"tags from {', '.join(tags)}")
        self._into.note(path, "read", "columns", "; ".join(said))

    def row(self, place: str, number: int, row: dict[str, Any]) -> None:
        text = self._cells.text(place, "question", row)
        answer = self._cells.text(place, "answer", row)
        if not text.strip():
            self.problems.append(f"{place}: the question is empty")
            return
        query_id = self._identified(place, number, row, (text, answer))
        self._ask(Question(place, query_id, text, answer, tags_of(row, self._used)))
        level = self._grade(place, row)
        sources = self._texts(place, "source", row)
        quotes = self._texts(place, "quote", row)
        if sources:
            self._named(place, query_id, sources, quotes, level)
        else:
            for passage in quotes:
                doc_id = self._pool.add(place, "", passage)
                self._into.judgements.append(Judgement(place, query_id, doc_id, level))
        if not quotes:
            self._held(place, query_id, answer, row)

    def _ask(self, question: Question) -> None:
        """Rows of one id and text are one question; other answers of later ones are told."""
        first = self._asked.setdefault(question.query_id, question)
        if first is question or first.text != question.text:
            self._into.questions.append(question)
        elif (first.answer, first.tags) != (question.answer, question.tags):
            self._into.note(
                question.place,
                "dropped",
                "another answer or tags",
                f"'{first.query_id}' stands at {first.place} with other ones, which are kept",
            )

    def _identified(
        self, place: str, number: int, row: Mapping[str, Any], asked: tuple[str, str]
    ) -> str:
        given = self._cells.identifier(place, "query_id", row)
        if given.strip():
            return given
        return self._ids.setdefault(asked, f"q{number:04d}")

    def _grade(self, place: str, row: Mapping[str, Any]) -> int:
        said = self._cells.identifier(place, "grade", row)
        level = grade(said) if said else GRADES[-1]
        if level not in GRADES:
            self.problems.append(
                f"{place}: grade is {said[:80]!r}; expected 1 (helpful), 2 or 3 (answers it)"
            )
        return level or 0

    def _named(
        self, place: str, query_id: str, sources: list[str], quotes: list[str], level: int
    ) -> None:
        """Evidence of named documents: of each its own quote where there are as many, of one all of
        them, else the documents whole."""
        if len(sources) == 1 and quotes:
            pairs = [(sources[0], quote) for quote in quotes]
        elif len(sources) == len(quotes):
            pairs = list(zip(sources, quotes, strict=True))
        elif quotes:
            self.problems.append(
                f"{place}: {len(quotes)} quotes of {len(sources)} documents; expected one document "
                "or one a quote"
            )
            return
        else:
            self._into.judgements.extend(
                Judgement(place, query_id, source, level) for source in sources
            )
            return
        self._into.judgements.extend(
            Judgement(place, query_id, source, level, quote) for source, quote in pairs
        )

    def _held(self, place: str, query_id: str, answer: str, row: Mapping[str, Any]) -> None:
        """Passages that a retriever returned become documents, and evidence where they hold the
        answer."""
        returned = [
            self._pool.add(place, "", passage)
            for name in self._returned
            for passage in self._list(place, name, row.get(name))
        ]
        held = [d for d in returned if answer.strip() and answer in self._pool.texts[d]]
        self._into.judgements.extend(
            Judgement(place, query_id, doc_id, 3, answer, group="answer", within=passage)
            for doc_id in dict.fromkeys(held)
            for passage in [self._pool.texts[doc_id]]
        )
        if returned and not held:
            self._into.note(
                place,
                "suspicious",
                "no evidence",
                "no context holds the ground truth word for word; judge it by hand",
            )

    def _texts(self, place: str, noun: str, row: Mapping[str, Any]) -> list[str]:
        name = self._cells.column(noun, row)
        return self._list(place, name or "", row.get(name) if name else None)

    def _list(self, place: str, name: str, value: Any) -> list[str]:
        """One text or several; in CSV a list arrives as JSON or Python writes it."""
        if isinstance(value, str) and value.strip()[:1] == "[":
            value = _written_list(value.strip())
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = str(int(value) if isinstance(value, float) and value.is_integer() else value)
        parts = value if isinstance(value, list) else [] if value is None else [value]
        if not all(isinstance(part, str) or part is None for part in parts):
            self.problems.append(
                f"{place}: {name} is {str(value)[:60]!r}; expected a text or a list of texts"
            )
            return []
        return [part for part in parts if part and part.strip()]


def _written_list(text: str) -> Any:
    """The list that a text writes out, else the text itself, which may begin with a bracket."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return array_texts(text) if ARRAY.fullmatch(text) else text
    return value if isinstance(value, list) else text
