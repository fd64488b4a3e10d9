"""Ids and grades that other tools will stumble over."""

from collections import Counter
from collections.abc import Iterator, Sequence

from lab.corpus.document import Corpus
from lab.errors import counted
from lab.relevance.query import Query
from lab.sets.audit.finding import Finding, listed

# A grade that fewer than this share of the judgements carry and that stands apart from the others
# is a slip.
SLIP = 0.001


def awkward_ids(corpus: Corpus, queries: Sequence[Query]) -> Iterator[Finding]:
    """Ids with white space, at which TREC's column files split."""
    for what, ids in (
        ("document", [d.doc_id for d in corpus]),
        ("question", [q.query_id for q in queries]),
    ):
        blank = tuple(identifier for identifier in ids if len(identifier.split()) != 1)
        if blank:
            message = (
                f"{len(blank)} of {len(ids)} {what} ids hold blanks: {listed(map(repr, blank), 3)}"
            )
            yield Finding(
                "note",
                "ids with blanks",
                message,
                "TREC run and qrels files split there; hand them on as JSONL",
                blank,
            )


def stray_grades(queries: Sequence[Query]) -> Iterator[Finding]:
    """Grades off the scale of the rest: rare, and at least two steps from the next."""
    counts = Counter(item.grade for query in queries for item in query.evidence)
    total, grades = counts.total(), sorted(counts)
    stray = [
        grade
        for grade in grades
        if counts[grade] <= max(2, SLIP * total) < total
        and min((abs(grade - g) for g in grades if g != grade), default=0) > 1
    ]
    if stray:
        shown = ", ".join(f"{grade} ({counted(counts[grade], 'time')})" for grade in stray)
        rest = [grade for grade in grades if grade not in stray]
        cases = tuple(
            f"{q.query_id} {i.doc_id} {i.grade}"
            for q in queries
            for i in q.evidence
            if i.grade in stray
        )
        message = f"beyond {rest[0]}..{rest[-1]}, the scale of the others: {shown}; {listed(cases)}"
        yield Finding(
            "warning",
            "label off the scale",
            message,
            "mend or drop them: gains grow with the grade",
            cases,
        )
