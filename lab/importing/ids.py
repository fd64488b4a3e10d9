"""Ids that judgements and their documents or questions spell differently: numbers by place, leading
zeros, and file names."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath, PureWindowsPath

from lab.corpus.document import Document
from lab.importing.formats.collection import Finding, Judgement, Question


def renumbered(
    questions: Sequence[Question], judgements: Sequence[Judgement], findings: list[Finding]
) -> list[Question]:
    """Questions under their place in the file, where that alone explains the judgements
    (Cranfield).

    That is: question ids are rising numbers with gaps, there are n of them, and exactly the numbers
    1..n are judged. Some ids match by accident there, so a join that only asks whether any do gives
    wrong figures without a word.
    """
    numbers = [int(q.query_id) for q in questions if _is_number(q.query_id)]
    judged = {int(j.query_id) for j in judgements if _is_number(j.query_id)}
    fits = (
        len(numbers) == len(questions)
        and judged == set(range(1, len(numbers) + 1))
        and numbers == sorted(set(numbers))
    )
    if not numbers or not fits or judged == set(numbers):
        return list(questions)
    for place, question in enumerate(questions, start=1):
        if int(question.query_id) != place:
            message = (
                f"question '{question.query_id}' is number {place} of the "
                f"file, and judged as {place}"
            )
            findings.append(
                Finding(question.place, "mended", "question ids are not the judged ones", message)
            )
    return [
        replace(question, query_id=str(place)) for place, question in enumerate(questions, start=1)
    ]


def _is_number(name: str) -> bool:
    """Whether an id is a number that is worth reading: of thousands of digits none is."""
    return len(name) < 20 and name.strip().isdecimal()


def unpadded(
    judgements: Sequence[Judgement],
    documents: Iterable[str],
    questions: Iterable[str],
    findings: list[Finding],
) -> list[Judgement]:
    """Judgements with the ids of the documents and questions, where they differ by leading zeros or
    blanks only."""
    documents, questions = _grouped(documents, _bare), _grouped(questions, _bare)
    fitted = []
    for judgement in judgements:
        doc_id = judgement.doc_id and _fit(judgement.doc_id, documents)
        query_id = _fit(judgement.query_id, questions)
        for what, old, new in (
            ("document", judgement.doc_id, doc_id),
            ("question", judgement.query_id, query_id),
        ):
            if old != new:
                findings.append(
                    Finding(
                        judgement.place,
                        "mended",
                        f"padded {what} id",
                        f"'{old}' is the {what} '{new}'",
                    )
                )
        fitted.append(replace(judgement, doc_id=doc_id, query_id=query_id))
    return fitted


def _bare(name: str) -> str:
    """An id without blanks around it and, if it is a number, without leading zeros."""
    name = name.strip()
    return name.lstrip("0") or "0" if name.isdecimal() else name


def _grouped(names: Iterable[str], key: Callable[[str], str]) -> dict[str, set[str]]:
    groups: dict[str, set[str]] = {}
    for name in names:
        groups.setdefault(key(name), set()).add(name)
    return groups


def _fit(name: str, known: Mapping[str, set[str]]) -> str:
    fitting = known.get(_bare(name), set())
    return name if name in fitting or len(fitting) != 1 else next(iter(fitting))


def by_file_name(
    judgements: Sequence[Judgement], documents: Mapping[str, Document], findings: list[Finding]
) -> list[Judgement]:
    """Judgements whose document is named as people name files: in another normal form or letter
    case, by another path, without path or extension, or by its title. Only where one document
    fits."""
    asked = {j.doc_id for j in judgements if j.doc_id is not None and j.doc_id not in documents}
    if not asked:
        return list(judgements)
    spelt = [_grouped(documents, key) for key in (_same, _file, _stem)]
    titles: dict[str, set[str]] = {}
    for document in documents.values():
        titles.setdefault(_same(document.title), set()).add(document.doc_id)
    known: dict[str, str] = {}
    for name in sorted(asked):
        keys = [_same(name), _file(name), _stem(name)]
        candidates = [known_by.get(key) for known_by, key in zip(spelt, keys, strict=True)]
        candidates.append(titles.get(keys[0]) if keys[0] else None)
        fitting = next((names for names in candidates if names), set())
        if len(fitting) == 1:
            known[name] = next(iter(fitting))
    for judgement in judgements:
        if judgement.doc_id in known:
            findings.append(
                Finding(
                    judgement.place,
                    "mended",
                    "document name",
                    f"'{judgement.doc_id}' is the document '{known[judgement.doc_id]}'",
                )
            )
    return [replace(j, doc_id=known[j.doc_id]) if j.doc_id in known else j for j in judgements]


def _same(name: str) -> str:
    return unicodedata.normalize("NFC", name).strip().casefold()


def _file(name: str) -> str:
    """The last part of a path, whichever system wrote it."""
    return PureWindowsPath(_same(name)).name


def _stem(name: str) -> str:
    """The last part of a path without its extension; a full stop elsewhere is no extension."""
    file = PurePosixPath(_file(name))
    return file.stem if len(file.suffix) <= len(".parquet") else file.name
