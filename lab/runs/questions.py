"""Questions as rows of a run's own table, and back: it needs no set to know what it was asked."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lab.corpus.filter import Filter
from lab.relevance.query import Claim, Evidence, Query, Turn
from lab.runs.inputs import fingerprint

if TYPE_CHECKING:
    import pandas as pd


def question_table(
    queries: Sequence[Query], documents: Mapping[str, str], unscored: Mapping[str, str]
) -> "pd.DataFrame":
    """A row a question with all that was read of it (see `lab.runs.columns`). `documents` gives the
    main document of those that have evidence, `unscored` the reason of those that have no score."""
    import pandas as pd

    tags = sorted({tag for query in queries for tag in query.tags})
    rows = [
        {
            "query_id": query.query_id,
            "text": query.text,
            "kind": query.kind,
            "variants": list(query.variants),
            "filter": query.filter and json.dumps(query.filter.plain, ensure_ascii=False),
            "tags": {tag: query.tags.get(tag) for tag in tags} or None,
            "doc_id": documents.get(query.query_id),
            "evidence": [asdict(item) for item in query.evidence],
            "evidence_fingerprint": fingerprint([asdict(item) for item in query.evidence])[:16],
            "answer": query.answer or None,
            "answer_type": query.answer_type,
            "claims": [
                asdict(claim) | {"evidence": list(claim.evidence)} for claim in query.claims
            ],
            "date": query.date or None,
            "history": [asdict(turn) for turn in query.history],
            "unscored": unscored.get(query.query_id),
        }
        for query in queries
    ]
    lists = ("variants", "tags", "evidence", "claims", "history")
    columns = {
        name: pd.Series([row[name] for row in rows], dtype="object" if name in lists else "str")
        for name in rows[0]
    }
    return pd.DataFrame(columns)


def questions_of(table: "pd.DataFrame") -> tuple[Query, ...]:
    """The questions of a table, in its order."""
    return tuple(_query(row) for row in table.to_dict("records"))


def _query(row: Mapping[str, Any]) -> Query:
    known: dict[str, Any] = {key: None if _missing(value) else value for key, value in row.items()}
    tags = known["tags"] or {}
    conditions = known["filter"]
    return Query(
        query_id=known["query_id"],
        text=known["text"],
        kind=known["kind"],
        tags={tag: value for tag, value in tags.items() if value is not None},
        evidence=tuple(Evidence(**item) for item in known["evidence"]),
        answer=known["answer"] or "",
        variants=tuple(known["variants"]),
        filter=Filter.of(json.loads(conditions)) if conditions else None,
        claims=tuple(
            Claim(claim["text"], tuple(claim["evidence"]), claim["vital"])
            for claim in known["claims"]
        ),
        answer_type=known["answer_type"],
        date=known["date"] or "",
        history=tuple(Turn(**turn) for turn in known["history"]),
    )


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)
