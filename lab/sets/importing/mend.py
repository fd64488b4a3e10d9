"""Mending what was imported: ids that do not meet, judgements given twice, quotes whose offsets are
wrong.

Every change is a finding; nothing is mended that could be meant in two ways.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lab.corpus.document import Document
from lab.errors import CorpusError
from lab.relevance.locate import find_quote
from lab.relevance.query import Evidence, Query
from lab.sets.importing.formats.collection import Collection, Finding, Judgement, Question

# A grade beyond a gap in the scale that fewer judgements than this share have is more likely a slip
# than a level.
RARE = 0.01
# A quote without an offset that stands in more places than these is a name, not evidence.
MANY = 10


@dataclass(frozen=True, slots=True)
class Mended:
    """Documents in file order, questions with located evidence, and every finding so far."""

    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    findings: tuple[Finding, ...]


def mend(collection: Collection) -> Mended:
    """Join the three parts of a collection. Raises CorpusError when two different documents or
    questions share an id."""
    findings = list(collection.findings)
    documents = _distinct_documents(collection, findings)
    questions = _distinct_questions(collection, findings)
    judgements = collection.judgements
    findings += off_scale(judgements)
    questions = renumbered(questions, judgements, findings)
    judgements = unpadded(
        judgements, documents, [question.query_id for question in questions], findings
    )
    judgements = _once(_attached(judgements, documents, questions, findings), findings)
    evidence: dict[str, list[Evidence]] = {}
    for judgement in judgements:
        assert judgement.doc_id is not None  # _attached dropped the others
        evidence.setdefault(judgement.query_id, []).extend(
            _located(judgement, documents[judgement.doc_id].text, findings)
        )
    queries = [
        Query(
            q.query_id,
            q.text,
            tags=q.tags,
            evidence=tuple(dict.fromkeys(evidence.get(q.query_id, ()))),
            answer=q.answer,
        )
        for q in questions
    ]
    return Mended(tuple(documents.values()), tuple(queries), tuple(findings))


def off_scale(judgements: Sequence[Judgement]) -> list[Finding]:
    """Grades that lie beyond a gap in the scale and are rare: a 5 where labels go from 0 to 3."""
    counts = Counter(judgement.grade for judgement in judgements)
    if not counts:
        return []
    low = high = counts.most_common(1)[0][0]
    while low - 1 in counts:
        low -= 1
    while high + 1 in counts:
        high += 1
    strange = {
        grade
        for grade, n in counts.items()
        if not low <= grade <= high and n < RARE * len(judgements)
    }
    return [
        Finding(
            j.place,
            "suspicious",
            "label off the scale",
            f"'{j.query_id}' and '{j.doc_id}' have grade {j.grade}; {_scale(low, high)}",
        )
        for j in judgements
        if j.grade in strange
    ]


def _scale(low: int, high: int) -> str:
    return f"the others go from {low} to {high}"


def renumbered(
    questions: Sequence[Question], judgements: Sequence[Judgement], findings: list[Finding]
) -> list[Question]:
    """Questions under their place in the file, where that alone explains the judgements
    (Cranfield).

    That is: question ids are rising numbers with gaps, there are n of them, and exactly the numbers
    1..n are judged. Some ids match by accident there, so a join that only asks whether any do gives
    wrong figures without a word.
    """
    numbers = [int(q.query_id) for q in questions if q.query_id.strip().isdecimal()]
    judged = {int(j.query_id) for j in judgements if j.query_id.strip().isdecimal()}
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


def unpadded(
    judgements: Sequence[Judgement],
    documents: Iterable[str],
    questions: Iterable[str],
    findings: list[Finding],
) -> list[Judgement]:
    """Judgements with the ids of the documents and questions, where they differ by leading zeros or
    blanks only."""
    documents, questions = _by_bare_id(documents), _by_bare_id(questions)
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


def _by_bare_id(names: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name in names:
        found.setdefault(_bare(name), set()).add(name)
    return found


def _fit(name: str, known: dict[str, set[str]]) -> str:
    fitting = known.get(_bare(name), set())
    return name if name in fitting or len(fitting) != 1 else next(iter(fitting))


def _distinct_documents(collection: Collection, findings: list[Finding]) -> dict[str, Document]:
    found: dict[str, Document] = {}
    places: dict[str, str] = {}
    problems = []
    for placed in collection.documents:
        document = _writable(placed.place, placed.document, findings)
        first = found.setdefault(document.doc_id, document)
        place = places.setdefault(document.doc_id, placed.place)
        if first is document:
            continue
        if (first.text, first.title) == (document.text, document.title):
            message = f"document '{document.doc_id}' stands already at {place}, with the same text"
            findings.append(Finding(placed.place, "dropped", "repeated document", message))
        else:
            problems.append(
                f"{placed.place}: document id '{document.doc_id}' was used at {place} for another "
                "text; keep one"
            )
    if problems:
        raise CorpusError(problems)
    return found


def _writable(place: str, document: Document, findings: list[Finding]) -> Document:
    """Without lone surrogates, which JSON can name but no UTF-8 file can hold."""
    parts = [
        part.encode("utf-8", "replace").decode()
        for part in (document.doc_id, document.text, document.title)
    ]
    if parts != [document.doc_id, document.text, document.title]:
        findings.append(
            Finding(
                place,
                "mended",
                "lone surrogate",
                "half a character stands in the text; replaced by '?'",
            )
        )
    return replace(document, doc_id=parts[0], text=parts[1], title=parts[2])


def _distinct_questions(collection: Collection, findings: list[Finding]) -> list[Question]:
    found: dict[str, Question] = {}
    problems = []
    for question in collection.questions:
        text, answer = (
            part.encode("utf-8", "replace").decode() for part in (question.text, question.answer)
        )
        if (text, answer) != (question.text, question.answer):
            findings.append(
                Finding(
                    question.place,
                    "mended",
                    "lone surrogate",
                    "half a character stands in it; replaced by '?'",
                )
            )
        fresh = replace(question, text=text, answer=answer)
        first = found.setdefault(question.query_id, fresh)
        if first is fresh:
            continue
        if first.text == text:
            findings.append(
                Finding(
                    question.place,
                    "dropped",
                    "repeated question",
                    f"'{question.query_id}' stands at {first.place}",
                )
            )
        else:
            problems.append(
                f"{question.place}: question id '{question.query_id}' was used at {first.place} "
                "for another text"
            )
    if problems:
        raise CorpusError(problems)
    return list(found.values())


def _attached(
    judgements: Sequence[Judgement],
    documents: dict[str, Document],
    questions: Sequence[Question],
    findings: list[Finding],
) -> list[Judgement]:
    """Judgements whose document and question are both there."""
    asked, kept = {question.query_id for question in questions}, []
    for judgement in judgements:
        if judgement.query_id not in asked:
            message = f"question '{judgement.query_id}' has no text"
            findings.append(
                Finding(judgement.place, "dropped", "judged question is absent", message)
            )
        elif judgement.doc_id not in documents:
            message = (
                f"document '{judgement.doc_id}' is not in the corpus (question "
                f"'{judgement.query_id}')"
            )
            findings.append(
                Finding(judgement.place, "dropped", "judged document is absent", message)
            )
        else:
            kept.append(judgement)
    return kept


def _once(judgements: Sequence[Judgement], findings: list[Finding]) -> list[Judgement]:
    """One judgement a question and whole document; of different grades the highest stays."""
    quotes: list[Judgement] = []
    kept: dict[tuple[str, str | None, str | None], Judgement] = {}
    for judgement in judgements:
        if judgement.quote is not None:
            quotes.append(judgement)
            continue
        key = (judgement.query_id, judgement.doc_id, judgement.group)
        first = kept.setdefault(key, judgement)
        if first is judgement:
            continue
        pair = f"'{judgement.query_id}' and '{judgement.doc_id}'"
        if first.grade == judgement.grade:
            findings.append(
                Finding(
                    judgement.place,
                    "dropped",
                    "repeated judgement",
                    f"{pair} stand already at {first.place}",
                )
            )
            continue
        best = max(first, judgement, key=lambda j: j.grade)
        message = (
            f"{pair} have grade {judgement.grade} here and {first.grade} at "
            f"{first.place}; {best.grade} is kept"
        )
        findings.append(Finding(judgement.place, "suspicious", "contradicting judgements", message))
        kept[key] = best
    return [*kept.values(), *quotes]


def _located(judgement: Judgement, text: str, findings: list[Finding]) -> list[Evidence]:
    """The quote's span; several spans, as alternatives, where nothing says which is meant; none
    where it is not there."""
    assert judgement.doc_id is not None
    quote, claimed, group = judgement.quote, judgement.start, judgement.group
    if quote is None:
        return [Evidence(judgement.doc_id, grade=judgement.grade, group=group)]
    shown = repr(quote if len(quote) <= 60 else quote[:57] + "...")
    quote = quote.encode("utf-8", "replace").decode()
    if not quote.strip():
        findings.append(
            Finding(judgement.place, "dropped", "empty quote", f"{shown} holds no text")
        )
        return []
    if claimed is not None and text[claimed : claimed + len(quote)] == quote:
        return [
            Evidence(judgement.doc_id, claimed, claimed + len(quote), judgement.grade, group=group)
        ]
    found = find_quote(text, quote)
    if not found:
        where = "" if claimed is None else f" (offset {claimed} was claimed)"
        findings.append(
            Finding(judgement.place, "dropped", "quote is not in the text", f"{shown}{where}")
        )
        return []
    if claimed is not None:
        start, end = min(found, key=lambda span: (abs(span[0] - claimed), span))
        rule, message = (
            "wrong offset",
            f"{shown} is not at {claimed}; it stands at {start}" + _of(found),
        )
        found = [(start, end)]
    elif len(found) > MANY:
        message = f"{shown} stands {len(found)} times and does not say where the answer is"
        findings.append(Finding(judgement.place, "dropped", "quote stands too often", message))
        return []
    elif len(found) > 1:
        rule, message = (
            "quote stands several times",
            f"{shown} stands {len(found)} times; any of them counts",
        )
        group = (
            group
            or f"any of: {re.sub(r'[^a-z0-9]+', ' ', quote.lower())[:40].strip()} @{found[0][0]}"
        )
    else:
        rule, message = ("", "")
    if rule:
        findings.append(Finding(judgement.place, "mended", rule, message))
    if text[found[0][0] : found[0][1]] != quote:
        findings.append(
            Finding(
                judgement.place,
                "mended",
                "white space differs",
                f"{shown} stands at {found[0][0]}, otherwise spaced",
            )
        )
    return [
        Evidence(judgement.doc_id, start, end, judgement.grade, group=group) for start, end in found
    ]


def _of(found: Sequence[tuple[int, int]]) -> str:
    return f", the nearest of {len(found)} places" if len(found) > 1 else ""
