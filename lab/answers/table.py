"""Measured answers as tables in the folder of their run: what `lab answers --into` keeps, and
`lab report` and `lab compare --answers` read."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab.answers.answer import Answer
from lab.answers.losses import Loss
from lab.answers.measured import MeasuredAnswer, contexts_of
from lab.answers.support import sentence_supports
from lab.errors import AnswersError
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd

# Files in a run folder.
ANSWERS, SENTENCES, LOSSES = "answers.parquet", "answer_sentences.parquet", "answer_losses.parquet"
# Columns of `answers.parquet` that are no measure.
PLAIN = ("query_id", "system", "answer_type", "answer", "generator")


@dataclass(frozen=True, eq=False)
class AnswerTables:
    """`answers`: a row an answer with its text and every measure, NaN where it cannot be counted.
    `sentences`: a row a sentence that says something: its half-open span `start`, `end` in the
    answer, its `source` (core, background, other context, nowhere), the `rank` of the context from
    1 (NaN: nowhere), the span `doc_id`, `shown_start`, `shown_end` of that context in its document
    (None and NaN where it is none), the context's `text`, and the `share` of its content words held
    there. `losses`: a row a system and slice, fields of `lab.answers.losses.Loss`; empty without
    answers under the gold context."""

    answers: "pd.DataFrame"
    sentences: "pd.DataFrame"
    losses: "pd.DataFrame"


def answer_tables(
    run: Run,
    answers: Sequence[Answer],
    rows: Sequence[MeasuredAnswer],
    lost: Mapping[str, Sequence[Loss]],
    k: int,
) -> AnswerTables:
    """`rows` are the measured `answers`, in one order."""
    import pandas as pd

    queries = {query.query_id: query for query in run.queries}
    measured = [
        {
            "query_id": row.query_id,
            "system": row.system,
            "answer_type": row.answer_type,
            "answer": answer.answer,
            "generator": answer.generator,
            **{name: float("nan") if v is None else float(v) for name, v in row.values.items()},
        }
        for answer, row in zip(answers, rows, strict=True)
    ]
    sentences = []
    for answer, contexts in zip(answers, contexts_of(run, answers, k), strict=True):
        query = queries[answer.query_id]
        for support in sentence_supports(query, answer.answer, contexts, run.corpus):
            context = contexts[support.rank - 1] if support.rank is not None else None
            sentences.append(
                {
                    "query_id": answer.query_id,
                    "system": answer.system,
                    **asdict(support),
                    "doc_id": context.doc_id if context else None,
                    "shown_start": context.start if context else None,
                    "shown_end": context.end if context else None,
                    "text": context.text if context else "",
                }
            )
    losses = [{"system": name} | asdict(loss) for name, of in lost.items() for loss in of]
    columns = ["query_id", "system", "start", "end", "source", "rank", "share"]
    places = ["doc_id", "shown_start", "shown_end", "text"]
    shown = pd.DataFrame(sentences, columns=[*columns, *places])
    numbers = ["rank", "shown_start", "shown_end"]
    return AnswerTables(
        pd.DataFrame(measured),
        shown.astype(dict.fromkeys(numbers, "float64")),
        pd.DataFrame(losses, columns=["system", *Loss.__dataclass_fields__]),
    )


def write_answers(run: Path, tables: AnswerTables) -> None:
    """Keep the tables in a run folder, in place of those of earlier answers. Raises AnswersError
    when it cannot be written."""
    files = {ANSWERS: tables.answers, SENTENCES: tables.sentences, LOSSES: tables.losses}
    try:
        for name, table in files.items():
            fresh = run / f".{name}.new"
            table.to_parquet(fresh, index=False)
            fresh.replace(run / name)
    except OSError as fault:
        raise AnswersError(f"{run}: cannot be written ({fault.strerror or fault})") from None


def read_answer_tables(run: Path) -> AnswerTables | None:
    """What `lab answers --into` has kept in a run folder; None if nothing."""
    import pandas as pd

    if not all((run / name).is_file() for name in (ANSWERS, SENTENCES, LOSSES)):
        return None
    try:
        return AnswerTables(*(pd.read_parquet(run / n) for n in (ANSWERS, SENTENCES, LOSSES)))
    except (OSError, ValueError) as fault:
        raise AnswersError(f"{run}: its answers cannot be read ({fault})") from None
