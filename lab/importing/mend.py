"""Mending what was imported: ids that do not meet, judgements given twice, quotes whose offsets are
wrong.

Every change is a finding; nothing is mended that could be meant in two ways.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lab.corpus.document import Document
from lab.errors import CorpusError
from lab.importing.formats.collection import Collection, Finding, Judgement, Question
from lab.importing.ids import by_file_name, renumbered, unpadded
from lab.importing.located import locate
from lab.relevance.query import Evidence, Query

# A grade beyond a gap in the scale that fewer judgements than this share have is more likely a slip
# than a level.
RARE = 0.01


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
    judgements = by_file_name(judgements, documents, findings)
    judgements = _once(_attached(judgements, documents, questions, findings), findings)
    evidence: dict[str, list[Evidence]] = {}
    for judgement, evidence_items in zip(
        judgements, locate(judgements, documents, findings), strict=True
    ):
        evidence.setdefault(judgement.query_id, []).extend(evidence_items)
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


def _distinct_documents(collection: Collection, findings: list[Finding]) -> dict[str, Document]:
    by_id: dict[str, Document] = {}
    places: dict[str, str] = {}
    problems = []
    for placed in collection.documents:
        document = placed.document
        if not document.doc_id.strip():
            problems.append(f"{placed.place}: the document has no id")
            continue
        first = by_id.setdefault(document.doc_id, document)
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
    return by_id


def _distinct_questions(collection: Collection, findings: list[Finding]) -> list[Question]:
    by_id: dict[str, Question] = {}
    problems = []
    for question in collection.questions:
        if not question.query_id.strip():
            problems.append(f"{question.place}: the question has no id")
            continue
        first = by_id.setdefault(question.query_id, question)
        if first is question:
            continue
        if first.text == question.text:
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
    return list(by_id.values())


def _attached(
    judgements: Sequence[Judgement],
    documents: dict[str, Document],
    questions: Sequence[Question],
    findings: list[Finding],
) -> list[Judgement]:
    """Judgements whose question is there, and whose document is or may be known by a quote."""
    asked, kept = {question.query_id for question in questions}, []
    for judgement in judgements:
        if judgement.query_id not in asked:
            message = f"question '{judgement.query_id}' has no text"
            findings.append(
                Finding(judgement.place, "dropped", "judged question is absent", message)
            )
        elif judgement.doc_id is None or judgement.doc_id in documents:
            kept.append(judgement)
        elif judgement.quote is not None:
            message = (
                f"'{judgement.doc_id}' is no document; its quote is looked for in all of them "
                f"(question '{judgement.query_id}')"
            )
            findings.append(Finding(judgement.place, "read", "document by quote", message))
            kept.append(replace(judgement, doc_id=None, start=None))
        else:
            message = (
                f"document '{judgement.doc_id}' is not in the corpus (question "
                f"'{judgement.query_id}')"
            )
            findings.append(
                Finding(judgement.place, "dropped", "judged document is absent", message)
            )
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
