"""Answers measured: a row an answer, means by system and slice, and losses against the gold
context."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from lab.answers.answer import GOLD, NO_CONTEXT, Answer
from lab.answers.by_type import answer_scores
from lab.answers.case import Case
from lab.answers.context import Context, context_scores
from lab.answers.contexts import delivered, gold
from lab.answers.losses import Loss, losses
from lab.answers.own import AnswerMeasure, measured_by, named
from lab.answers.support import evidence_use, sentence_supports
from lab.answers.wording import faithfulness_by_words
from lab.errors import AnswersError
from lab.evaluation.clusters import clustered
from lab.relevance.query import Query
from lab.runs.run import Run

# Means of a system's answers; each leaves out the answers that it cannot be counted for.
MEASURES = (
    "score",
    "exact",
    "f1",
    "numbers",
    "coverage",
    "supported",
    "order",
    "faithfulness",
    "context_precision",
    "context_recall",
    "chain",
    "in_order",
    "core_support",
    "nowhere",
    "evidence_used",
)


@dataclass(frozen=True, slots=True)
class MeasuredAnswer:
    """One answer with everything that is measured of it; None where it cannot be counted."""

    query_id: str
    system: str
    answer_type: str
    values: dict[str, float | None]


def measure_answers(
    run: Run, answers: Sequence[Answer], k: int, own: Sequence[AnswerMeasure] = ()
) -> list[MeasuredAnswer]:
    """Measure every answer of a run, by the user's `own` measures too. An answer whose file
    does not say what it was given was given the first `k` passages of its system, or the gold
    evidence.
    Raises ConfigError for measures without a name of their own, or that fail."""
    by_name = named(own, MEASURES)
    queries = {query.query_id: query for query in run.queries}
    shown = contexts_of(run, answers, k)
    rows = [
        _measured(run, queries[answer.query_id], answer, contexts)
        for answer, contexts in zip(answers, shown, strict=True)
    ]
    if not by_name:
        return rows
    return [
        replace(row, values=row.values | {n: measured_by(n, m, case) for n, m in by_name.items()})
        for row, case in zip(rows, cases_of(run, answers, k), strict=True)
    ]


def cases_of(run: Run, answers: Sequence[Answer], k: int) -> list[Case]:
    """Every answer with its question, right answer and what it was given."""
    queries = {query.query_id: query for query in run.queries}
    return [
        Case(
            answer.query_id,
            answer.system,
            queries[answer.query_id].text,
            answer.answer,
            tuple(context.text for context in contexts) or None,
            reference=queries[answer.query_id].answer,
            generator=answer.generator,
        )
        for answer, contexts in zip(answers, contexts_of(run, answers, k), strict=True)
    ]


def contexts_of(run: Run, answers: Sequence[Answer], k: int) -> list[tuple[Context, ...]]:
    """What every answer was given: what its file says, else the gold evidence or the first `k`
    passages of its system; empty where nobody knows."""
    queries = {query.query_id: query for query in run.queries}
    chains: dict[str, Mapping[str, tuple[Context, ...]]] = {}
    rows = []
    for answer in answers:
        contexts = answer.contexts
        if contexts is None and answer.system == GOLD:
            contexts = gold(queries[answer.query_id], run.corpus)
        if contexts is None and answer.system in run.systems:
            if answer.system not in chains:
                chains[answer.system] = delivered(run, answer.system, k)
            contexts = chains[answer.system].get(answer.query_id, ())
        rows.append(contexts or ())
    return rows


def _measured(
    run: Run, query: Query, answer: Answer, contexts: Sequence[Context]
) -> MeasuredAnswer:
    texts = [context.text for context in contexts]
    scores = answer_scores(query, answer.answer, texts)
    held = context_scores(query, contexts, run.corpus)
    supports = sentence_supports(query, answer.answer, contexts, run.corpus)
    used = evidence_use(query, answer.answer, contexts, run.corpus)
    sources = [support.source for support in supports]
    values = asdict(scores) | asdict(held)
    values |= {
        "faithfulness": faithfulness_by_words(answer.answer, texts),
        "core_support": _share([source == "core" for source in sources]),
        "nowhere": _share([source == "nowhere" for source in sources]),
        "evidence_used": _share([item.used for item in used]),
    }
    if not contexts:
        values |= dict.fromkeys(("context_precision", "context_recall", "chain", "in_order"))
    return MeasuredAnswer(
        answer.query_id,
        answer.system,
        scores.answer_type,
        {name: values[name] for name in MEASURES},
    )


def _share(flags: Sequence[bool]) -> float | None:
    return sum(flags) / len(flags) if flags else None


def means(rows: Sequence[MeasuredAnswer]) -> dict[str, dict[str, float | None]]:
    """System -> measure -> mean over the answers that have it, in the order of the answers."""
    systems = dict.fromkeys(row.system for row in rows)
    return {
        system: {
            name: _mean([row.values[name] for row in rows if row.system == system])
            for name in rows[0].values
        }
        for system in systems
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def losses_by_system(
    run: Run, rows: Sequence[MeasuredAnswer], seed: int = 0
) -> dict[str, tuple[Loss, ...]]:
    """For every system of the run with answers, what it loses to retrieval and to generation, over
    the questions that have a score under it and under the gold context; all, then by answer type.
    Empty without answers under the gold context."""
    scores = {(row.system, row.query_id): row.values["score"] for row in rows}
    types = {row.query_id: row.answer_type for row in rows}
    documents = run.tables.questions.set_index("query_id")["doc_id"]
    by_system: dict[str, tuple[Loss, ...]] = {}
    for system in dict.fromkeys(row.system for row in rows):
        if system in (GOLD, NO_CONTEXT):
            continue
        shared = [
            query_id
            for query_id in run.query_ids
            if scores.get((system, query_id)) is not None
            and scores.get((GOLD, query_id)) is not None
        ]
        if not shared:
            continue
        with_gold = np.array([scores[GOLD, q] for q in shared], dtype=np.float64)
        with_system = np.array([scores[system, q] for q in shared], dtype=np.float64)
        units = clustered(np.array([str(documents[q]) for q in shared]))
        slices = [types[q] for q in shared]
        by_system[system] = losses(with_gold, with_system, slices, units, seed)
    return by_system


def check_answers(run: Run, answers: Sequence[Answer]) -> None:
    """Raises AnswersError when no answer belongs to a scored question of the run."""
    if not any(answer.query_id in run.query_ids for answer in answers):
        raise AnswersError("no answer belongs to a scored question of this run; another run's?")
