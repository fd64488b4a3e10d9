"""SMART files (Cranfield, CACM, MEDLINE ...): records of `.I`, `.T`, `.W` fields, and their
judgement files."""

import re
from collections.abc import Iterator
from pathlib import Path

from lab.corpus.values import GRADE, grade
from lab.errors import CorpusError
from lab.importing.formats.collection import Collection, Judgement, Question, joined
from lab.importing.formats.decode import decode, placed_lines
from lab.relevance.qrels import parse_qrels

# Letters of fields that are kept beside the text, by the name they get.
FURTHER = {
    "A": "author",
    "B": "source",
    "K": "keywords",
    "C": "categories",
    "N": "note",
    "X": "links",
}
FIELD = re.compile(r"\.([A-Z])\s*$")
IDENTIFIER = re.compile(r"\.I\s+(\S+)\s*$")
# cranqrel's codes count down: 1 a complete answer ... 4 of minimum interest; -1 marks the document
# the question came from.
CRANFIELD_GAINS = {1: 4, 2: 3, 3: 2, 4: 1, -1: 0}


def read_documents(path: Path, into: Collection) -> None:
    """Documents: title `.T` and text `.W`, joined unless the
    text begins with the title; further fields are metadata."""
    for place, name, fields in _records(path, into):
        title, text = fields.get("T", ""), fields.get("W", "")
        rest = {word: fields[key] for key, word in FURTHER.items() if fields.get(key)}
        into.add_document(place, name, joined(title, text), title, rest)


def read_questions(path: Path, into: Collection) -> None:
    """Questions: the text `.W`, else the title `.T`, under the number after `.I` as written."""
    for place, name, fields in _records(path, into):
        text = fields.get("W") or fields.get("T", "")
        into.questions.append(Question(place, name, " ".join(text.split())))


def read_judgements(path: Path, into: Collection) -> None:
    """`query document code` (cranqrel), or `query document 0 0` (CACM, CISI, MEDLINE, ADI), where
    every line is a relevant pair and the zeros are no grade."""
    problems: list[str] = []
    lines = list(placed_lines(path, decode(path, into)))
    if all(len(line.split()) == len(("query", "document", "code")) for _, line in lines):
        judgements = list(_coded(lines, problems))
    else:
        judgements = [
            Judgement(row.place, row.query_id, row.doc_id, row.grade)
            for row in parse_qrels(lines, problems)
        ]
    if problems:
        raise CorpusError(problems)
    codes = {judgement.grade for judgement in judgements}
    if codes <= set(CRANFIELD_GAINS) and {1, 4} <= codes:
        into.note(
            str(path),
            "mended",
            "reversed codes",
            "1 is best and 4 least in this file; grades written: 1→4, 2→3, 3→2, 4→1, -1→0",
        )
        judgements = [
            Judgement(j.place, j.query_id, j.doc_id, CRANFIELD_GAINS[j.grade]) for j in judgements
        ]
    into.judgements.extend(judgements)


def _coded(lines: list[tuple[str, str]], problems: list[str]) -> Iterator[Judgement]:
    for place, line in lines:
        query_id, doc_id, code = line.split()
        value = grade(code)
        if value is None:
            problems.append(f"{place}: code is {code[:80]!r}; {GRADE}")
        else:
            yield Judgement(place, query_id, doc_id, value)


def _records(path: Path, into: Collection) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Place, number and fields of every record. A field named twice in one record keeps both
    texts."""
    place, name, fields, letter = "", None, dict[str, list[str]](), ""
    for number, line in enumerate(re.split(r"\r\n|\n|\r", decode(path, into)), start=1):
        begins, field = IDENTIFIER.match(line), FIELD.match(line)
        if begins:
            if name is not None:
                yield place, name, _texts(fields)
            place, name, fields, letter = f"{path}:{number}", begins[1], {}, ""
        elif field:
            letter = field[1]
        elif letter:
            fields.setdefault(letter, []).append(line)
    if name is not None:
        yield place, name, _texts(fields)


def _texts(fields: dict[str, list[str]]) -> dict[str, str]:
    return {letter: "\n".join(lines).strip() for letter, lines in fields.items()}
