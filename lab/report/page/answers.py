"""The section on answers: what each pipeline's answers measure, what is lost to retrieval and to
generation, and every answer beside the evidence, its sentences marked by what supports them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.answers.table import PLAIN, AnswerTables
from lab.relevance.query import Query
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd

# Answers shown with their text, the worst by faithfulness first.
SHOWN = 200
WORST_FIRST = "faithfulness"
# Characters shown of a document that is judged as a whole.
BEGINNING = 320
SOURCES: Mapping[str, str] = {
    "core": "says what the evidence says",
    "background": "says what background of the evidence says",
    "other context": "says what another passage that it was given says",
    "nowhere": "stands in nothing that it was given",
}


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of an answer: its `source` (see `lab.answers.table.AnswerTables`), empty between
    sentences, and in words where its support stands."""

    text: str
    source: str
    words: str


@dataclass(frozen=True, eq=False)
class ShownAnswer:
    """One answer with its question, the stretches of its text, the evidence, what lost it under the
    retriever, and its measures."""

    query: Query
    system: str
    stretches: Sequence[Stretch]
    evidence: Sequence[tuple[str, str]]
    causes: str
    measures: Sequence[tuple[str, float]]


@dataclass(frozen=True, eq=False)
class AnswerSection:
    """`means` has a row a system with the mean of every measure (None where it cannot be counted),
    `losses` the rows of the table of losses."""

    measures: Sequence[str]
    means: Sequence[tuple[str, Sequence[float | None]]]
    losses: Sequence[dict[str, Any]]
    answers: Sequence[ShownAnswer]
    all: int
    sources: Mapping[str, str]


def answer_section(run: Run, tables: AnswerTables) -> AnswerSection:
    """What the page shows of the answers that were kept with a run."""
    table = tables.answers
    measures = [name for name in table.columns if name not in PLAIN and table[name].notna().any()]
    means = table.groupby("system", sort=True)[measures].mean()
    order = table.sort_values(WORST_FIRST, kind="stable") if WORST_FIRST in measures else table
    causes = _causes(run)
    queries = {query.query_id: query for query in run.queries}
    supports = {
        key: rows.sort_values("start")
        for key, rows in tables.sentences.groupby(["query_id", "system"], sort=False)
    }
    return AnswerSection(
        measures=measures,
        means=[(str(system), [_known(v) for v in row]) for system, row in means.iterrows()],
        losses=tables.losses.to_dict("records"),
        answers=[
            ShownAnswer(
                query=queries[row["query_id"]],
                system=row["system"],
                stretches=_stretches(row["answer"], supports.get((row["query_id"], row["system"]))),
                evidence=_evidence(run, queries[row["query_id"]]),
                causes=causes.get((row["query_id"], row["system"]), ""),
                measures=[(name, row[name]) for name in measures if row[name] == row[name]],
            )
            for row in order.head(SHOWN).to_dict("records")
        ],
        all=len(table),
        sources=SOURCES,
    )


def _known(value: float) -> float | None:
    return float(value) if value == value else None


def _causes(run: Run) -> dict[tuple[str, str], str]:
    """(question, system) -> what lost evidence of it, in one word."""
    found: dict[tuple[str, str], list[str]] = {}
    missed = run.tables.causes[["query_id", "system", "cause"]].astype(str)
    for query_id, system, cause in missed.itertuples(index=False):
        found.setdefault((query_id, system), []).append(cause)
    return {key: ", ".join(dict.fromkeys(causes)) for key, causes in found.items()}


def _stretches(answer: str, sentences: "pd.DataFrame | None") -> list[Stretch]:
    stretches, at = [], 0
    for row in [] if sentences is None else sentences.to_dict("records"):
        start, end = int(row["start"]), int(row["end"])
        place = f": {row['doc_id']}" if isinstance(row["doc_id"], str) else ""
        words = f"{SOURCES[row['source']]}{place}"
        stretches += [
            Stretch(answer[at:start], "", ""),
            Stretch(answer[start:end], row["source"], words),
        ]
        at = end
    return [part for part in [*stretches, Stretch(answer[at:], "", "")] if part.text]


def _evidence(run: Run, query: Query) -> list[tuple[str, str]]:
    """Document and text of every piece of evidence."""
    shown = []
    for item in query.evidence:
        text = run.corpus[item.doc_id].text if item.doc_id in run.corpus else ""
        start, end = item.span(text)
        shown.append(
            (item.doc_id, text[start : min(end, start + BEGINNING) if item.whole else end])
        )
    return shown
