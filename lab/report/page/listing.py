"""The questions as a plain table, for paper and for readers without JavaScript."""

from dataclasses import dataclass

from lab.report.chosen import other_system
from lab.runs.run import Run

# On paper nobody reads more; the missed ones come first.
LISTED = 300


@dataclass(frozen=True, slots=True)
class ListedQuestion:
    """A question, what lost its evidence under the recommended system, and the selecting metric
    under that system and the one it is compared with."""

    query_id: str
    text: str
    kind: str
    causes: str
    score: float
    other: float


def listed_questions(run: Run) -> list[ListedQuestion]:
    """The first few hundred questions, the worst under the recommended system first."""
    scores = run.tables.column(run.tables.select_by)
    first, second = (run.tables.place(name) for name in (run.recommended, other_system(run)))
    missed = run.tables.rows("causes", run.recommended)
    causes: dict[str, list[str]] = {}
    for query_id, cause in zip(missed["query_id"], missed["cause"], strict=True):
        causes.setdefault(str(query_id), []).append(str(cause))
    by_id = {query.query_id: query for query in run.queries}
    order = scores[:, first].argsort(kind="stable")[:LISTED].tolist()
    return [
        ListedQuestion(
            query_id=run.query_ids[place],
            text=by_id[run.query_ids[place]].text,
            kind=by_id[run.query_ids[place]].kind,
            causes=", ".join(dict.fromkeys(causes.get(run.query_ids[place], []))),
            score=float(scores[place, first]),
            other=float(scores[place, second]),
        )
        for place in order
    ]
