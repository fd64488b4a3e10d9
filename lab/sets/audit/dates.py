"""Dates of questions and of the documents that answer them."""

from collections.abc import Iterator, Sequence

from lab.corpus.document import Corpus, Document
from lab.corpus.values import Moment, moment
from lab.errors import counted
from lab.relevance.query import Query
from lab.sets.audit.finding import Finding, listed

# The metadata key of a document's date.
DATE = "date"
PRECISIONS = ("month", "day", "time")


def dated(corpus: Corpus, queries: Sequence[Query]) -> Iterator[Finding]:
    """Evidence that is newer than its question, and documents whose date cannot be read, where
    questions have dates."""
    asked = [(query, when) for query in queries if (when := moment(query.date)) is not None]
    if not asked:
        return
    late = [
        f"{query.query_id} ({query.date}: {newer[0]} of {corpus[newer[0]].metadata[DATE]})"
        for query, when in asked
        if (newer := _newer(query, when, corpus))
    ]
    if late:
        yield Finding(
            "warning",
            "evidence newer than its question",
            f"{counted(len(late), 'question')} could not be answered when asked: every document "
            f"of a piece of evidence is newer: {listed(late, 3)}",
            "mend the date, or leave it out: no system could have found this then",
            tuple(late),
        )
    unread = [
        f"{document.doc_id} ({document.metadata[DATE]!r})"
        for document in corpus
        if DATE in document.metadata and _date(document) is None
    ]
    if unread:
        yield Finding(
            "note",
            "dates that cannot be read",
            f"{counted(len(unread), 'document')} with a date that is none: {listed(unread, 3)}",
            "write 2024-05-31, 2024-05 or a time of a day",
            tuple(unread),
        )


def _newer(query: Query, asked: Moment, corpus: Corpus) -> list[str]:
    """Documents of the first piece all of whose alternatives are newer than the question."""
    for piece in query.pieces:
        documents = [corpus[item.doc_id] for item in piece if item.doc_id in corpus]
        dates = [_date(document) for document in documents]
        if documents and all(date is not None and _after(date, asked) for date in dates):
            return [document.doc_id for document in documents]
    return []


def _date(document: Document) -> Moment | None:
    return moment(document.metadata.get(DATE))


def _after(date: Moment, asked: Moment) -> bool:
    """Later as far as both are said: a month is not later than one of its days."""
    said = min(date.precision, asked.precision, key=PRECISIONS.index)
    return date.at(said) > asked.at(said)
