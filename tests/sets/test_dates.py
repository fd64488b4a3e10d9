"""Evidence newer than its question."""

import pytest

from lab.corpus.document import Corpus, Document
from lab.relevance.query import Evidence, Query
from lab.sets.audit.audit import audit
from lab.sets.audit.dates import dated


def corpus_of(**dates: str) -> Corpus:
    return Corpus(
        Document(doc_id, "the pump leaks", metadata={"date": date} if date else {})
        for doc_id, date in dates.items()
    )


@pytest.mark.parametrize(
    ("asked", "document", "late"),
    [
        ("2024-05-10", "2024-05-11", True),
        ("2024-05-10", "2024-05-10", False),
        ("2024-05-10", "2024-05", False),
        ("2024-05", "2024-05-31", False),
        ("2024-05", "2024-06-01", True),
        ("2024-05-10T08:00Z", "2024-05-10T09:30+02:00", False),
        ("2024-05-10T08:00Z", "2024-05-10T08:01Z", True),
        ("2024-05-10", "", False),
        ("", "2024-05-11", False),
    ],
)
def test_later_as_far_as_both_are_said(asked: str, document: str, late: bool) -> None:
    query = Query("q", "pump", evidence=(Evidence("a"),), date=asked)
    rules = [finding.rule for finding in dated(corpus_of(a=document), [query])]
    assert rules == (["evidence newer than its question"] if late else [])


def test_an_older_alternative_will_do_and_another_piece_will_not() -> None:
    corpus = corpus_of(old="2020-01-01", new="2025-01-01")
    old, new = Evidence("old", group="g"), Evidence("new", group="g")
    either = Query("q", "pump", evidence=(old, new), date="2024-01-01")
    assert list(dated(corpus, [either])) == []
    both = Query("q", "pump", evidence=(Evidence("old"), Evidence("new")), date="2024-01-01")
    (finding,) = dated(corpus, [both])
    assert finding.grade == "warning"
    assert finding.cases == ("q (2024-01-01: new of 2025-01-01)",)


def test_dates_that_are_none_are_named_by_the_audit() -> None:
    query = Query("q", "pump", evidence=(Evidence("a"),), date="2024-01-01")
    found = audit(corpus_of(a="soon"), [query]).findings
    assert "dates that cannot be read" in [finding.rule for finding in found]
    assert "dates that cannot be read" not in [
        finding.rule
        for finding in audit(
            corpus_of(a="soon"), [Query("q", "?", evidence=(Evidence("a"),))]
        ).findings
    ]
