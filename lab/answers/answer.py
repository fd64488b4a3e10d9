"""Answer: what a generator said to a question, and the file that answers come in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.answers.context import Context
from lab.corpus.document import Corpus
from lab.corpus.lines import identifier, read_records
from lab.errors import AnswersError, counted, nearest
from lab.relevance.query import Query

# The system of answers that were given the gold evidence as context, and of those given nothing.
GOLD, NO_CONTEXT = "gold", "none"
KEYS = ("query_id", "system", "answer", "contexts", "citations", "generator")
# What `lab contexts` writes beside, and a line may keep: a run knows them better.
ASKED_KEYS = ("question", "prompt", "reference")
CONTEXT_KEYS = ("doc_id", "start", "end", "text")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. `system` names the run's system whose context it was given, or `gold` or `none`;
    `contexts` is what it was given, None where the file does not say; `citations` are ranks from 1
    of the contexts that it cites; `generator` is the model that wrote it, empty if not known."""

    query_id: str
    system: str
    answer: str
    contexts: tuple[Context, ...] | None = None
    citations: tuple[int, ...] = ()
    generator: str = ""


def read_answers(
    path: str | Path, queries: Sequence[Query], corpus: Corpus, systems: Iterable[str] | None = None
) -> tuple[Answer, ...]:
    """Read `answers.jsonl`, ordered by question and system.

    Raises AnswersError with every faulty line: unknown questions or systems (all are known where
    `systems` is None), a question answered twice under one system, contexts that are not in the
    documents, citations beyond the contexts.
    """
    problems: list[str] = []
    known = {query.query_id for query in queries}
    named = None if systems is None else {*systems, GOLD, NO_CONTEXT}
    answers: dict[tuple[str, str], Answer] = {}
    for place, record in read_records(Path(path), problems, AnswersError):
        answer = _answer(record, corpus, place, problems)
        if answer is None:
            continue
        if answer.query_id not in known:
            meant = nearest(answer.query_id, known)
            problems.append(f"{place}: no question '{answer.query_id}'{meant}")
        elif named is not None and answer.system not in named:
            problems.append(f"{place}: no system '{answer.system}'{nearest(answer.system, named)}")
        elif (answer.query_id, answer.system) in answers:
            problems.append(
                f"{place}: '{answer.query_id}' is answered twice under '{answer.system}'"
            )
        else:
            answers[answer.query_id, answer.system] = answer
    if not answers and not problems:
        problems.append(
            f'{path}: holds no answer; expected lines like {{"query_id", "system", "answer"}}'
        )
    if problems:
        raise AnswersError(problems)
    return tuple(answers[key] for key in sorted(answers))


def _answer(
    record: dict[str, Any], corpus: Corpus, place: str, problems: list[str]
) -> Answer | None:
    before = len(problems)
    known = (*KEYS, *ASKED_KEYS)
    problems.extend(
        f"{place}: unknown key '{key}'{nearest(key, known)}" for key in record if key not in known
    )
    query_id = identifier(record, "query_id", place, problems)
    system, text = record.get("system"), record.get("answer")
    if not isinstance(system, str) or not system.strip():
        problems.append(f"{place}: system is {system!r}; expected a system of the run, or 'gold'")
    if not isinstance(text, str):
        problems.append(f"{place}: answer is {text!r}; expected text")
    generator = record.get("generator", "")
    if not isinstance(generator, str):
        problems.append(f"{place}: generator is {generator!r}; expected the name of a model")
    contexts = _contexts(record.get("contexts"), corpus, place, problems)
    citations = _citations(record.get("citations", []), contexts, place, problems)
    if len(problems) > before or query_id is None:
        return None
    return Answer(query_id, str(system), str(text), contexts, citations, generator)


def _contexts(
    value: object, corpus: Corpus, place: str, problems: list[str]
) -> tuple[Context, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        problems.append(f"{place}: contexts is a {type(value).__name__}; expected a list")
        return ()
    contexts = [
        _context(item, corpus, f"{place}: context {number}", problems)
        for number, item in enumerate(value, start=1)
    ]
    return tuple(context for context in contexts if context is not None)


def _context(item: object, corpus: Corpus, place: str, problems: list[str]) -> Context | None:
    if isinstance(item, str):
        return Context(item)
    if not isinstance(item, dict) or any(key not in CONTEXT_KEYS for key in item):
        problems.append(f"{place}: expected text, or an object of {', '.join(CONTEXT_KEYS)}")
        return None
    doc_id, start, end, text = (item.get(key) for key in CONTEXT_KEYS)
    if doc_id is None and isinstance(text, str):
        return Context(text)
    if not isinstance(doc_id, str) or doc_id not in corpus:
        problems.append(f"{place}: no document {doc_id!r} among the run's documents")
        return None
    whole = corpus[doc_id].text
    start, end = 0 if start is None else start, len(whole) if end is None else end
    if not _is_span(start, end, len(whole)):
        problems.append(
            f"{place}: start {start!r}, end {end!r}; expected 0 <= start < end <= {len(whole)}"
        )
        return None
    return Context(text if isinstance(text, str) else whole[start:end], doc_id, start, end)


def _is_span(start: object, end: object, length: int) -> bool:
    whole = all(isinstance(n, int) and not isinstance(n, bool) for n in (start, end))
    return whole and 0 <= start < end <= length  # type: ignore[operator]  # both are whole numbers


def _citations(
    value: object, contexts: Sequence[Context] | None, place: str, problems: list[str]
) -> tuple[int, ...]:
    most = len(contexts) if contexts is not None else None
    ranks = value if isinstance(value, list) else [value]
    for rank in ranks:
        if isinstance(rank, bool) or not isinstance(rank, int) or rank < 1:
            problems.append(f"{place}: citation {rank!r}; expected the rank of a context, from 1")
            return ()
        if most is not None and rank > most:
            problems.append(f"{place}: citation {rank}; the answer has {counted(most, 'context')}")
            return ()
    return tuple(ranks)
