"""Cases of a judge: from a file of answers and, if there is one, the run that they belong to."""

from pathlib import Path
from typing import Any

from lab.answers.answer import ASKED_KEYS, KEYS, read_answers
from lab.answers.case import Case
from lab.answers.measured import cases_of
from lab.corpus.lines import identifier, read_records
from lab.errors import AnswersError, nearest
from lab.runs.run import Run


def run_cases(path: Path, run: Run, k: int) -> tuple[Case, ...]:
    """Answers of a run: questions, right answers and contexts come from it, where the file does not
    give contexts. Raises AnswersError with every faulty line."""
    return tuple(cases_of(run, read_answers(path, run.queries, run.corpus), k))


def file_cases(path: Path) -> tuple[Case, ...]:
    """Answers that stand alone: every line has its `question`, and `contexts` as text. Raises
    AnswersError with every faulty line."""
    problems: list[str] = []
    cases: dict[tuple[str, str], Case] = {}
    for place, record in read_records(path, problems, AnswersError):
        case = _case(record, place, problems)
        if case is None:
            continue
        if (case.query_id, case.system) in cases:
            problems.append(f"{place}: '{case.query_id}' is answered twice under '{case.system}'")
        cases[case.query_id, case.system] = case
    if not cases and not problems:
        problems.append(
            f'{path}: holds no answer; expected lines like {{"query_id", "system", "question", '
            '"answer", "contexts"}'
        )
    if problems:
        raise AnswersError(problems)
    return tuple(cases[key] for key in sorted(cases))


def _case(record: dict[str, Any], place: str, problems: list[str]) -> Case | None:
    before = len(problems)
    known = (*KEYS, *ASKED_KEYS)
    problems.extend(
        f"{place}: unknown key '{key}'{nearest(key, known)}" for key in record if key not in known
    )
    query_id = identifier(record, "query_id", place, problems)
    for key in ("system", "question"):
        value = record.get(key)
        if not isinstance(value, str) or not value.strip():
            more = "; or name the run with --run" if key == "question" else ""
            problems.append(f"{place}: {key} is {value!r}; expected text{more}")
    for key in ("answer", "reference", "generator"):
        if not isinstance(record.get(key, None if key == "answer" else ""), str):
            problems.append(f"{place}: {key} is {record.get(key)!r}; expected text")
    contexts = _texts(record.get("contexts"), place, problems)
    if len(problems) > before or query_id is None:
        return None
    return Case(
        query_id,
        record["system"],
        record["question"],
        record["answer"],
        contexts or None,
        reference=record.get("reference", ""),
        generator=record.get("generator", ""),
    )


def _texts(value: object, place: str, problems: list[str]) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        problems.append(f"{place}: contexts is a {type(value).__name__}; expected a list")
        return ()
    texts: list[str] = []
    for number, item in enumerate(value, start=1):
        text = item.get("text") if isinstance(item, dict) else item
        if not isinstance(text, str):
            problems.append(
                f"{place}: context {number} has no text; expected text, an object with 'text', or "
                "the run named with --run"
            )
            return ()
        texts.append(text)
    return tuple(text for text in texts if text.strip())
