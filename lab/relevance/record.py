"""Reading one question: a line of a set, or a row of a table."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lab.corpus.document import Corpus
from lab.corpus.filter import Fields, Filter, parse_filter
from lab.corpus.lines import identifier, note_repeat, read_json
from lab.corpus.values import moment
from lab.errors import DiagnosticsError, nearest
from lab.relevance.claims import read_answer_type, read_claims, read_order
from lab.relevance.evidence import GRADES, missing, span_of
from lab.relevance.query import ROLES, Evidence, Query
from lab.relevance.turns import read_history

KEYS = (
    "query_id",
    "text",
    "kind",
    "tags",
    "answer",
    "answer_type",
    "claims",
    "evidence",
    "variants",
    "filter",
    "date",
    "history",
)
EVIDENCE_KEYS = ("doc_id", "quote", "occurrence", "start", "end", "grade", "role", "group", "order")
# From this many problems on, questions of which none fits are told as another corpus's.
MANY = 5


@dataclass
class Reading:
    """What the files of one reading share; `judged` counts the questions that come with
    evidence."""

    corpus: Corpus
    fields: Fields
    seen: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    judged: int = 0

    def finished(self, queries: Iterable[Query]) -> tuple[Query, ...]:
        """The questions by id. Raises DiagnosticsError with all problems, or, where no question
        fits these documents, with that and the first few."""
        ordered = tuple(sorted(queries, key=lambda query: query.query_id))
        if not self.problems:
            return ordered
        strangers = self.judged > 1 and not any(query.evidence for query in ordered)
        rest = len(self.problems) - MANY
        if not strangers or rest <= 0:
            raise DiagnosticsError(self.problems)
        raise DiagnosticsError(
            [
                f"0 of {self.judged} questions fit: another corpus?",
                *self.problems[:MANY],
                f"and {rest} more problem{'s' if rest > 1 else ''} like these",
            ]
        )


def question_of(record: Mapping[str, Any], place: str, reading: Reading) -> Query | None:
    """The question that a line or a row holds; what is wrong with it goes to the problems of the
    reading, and a question without an id is None."""
    problems = reading.problems
    query_id = identifier(record, "query_id", place, problems)
    if query_id is None:
        return None
    note_repeat(place, "query_id", query_id, reading.seen, problems)
    problems.extend(
        f"{place}: unknown key '{key}'{nearest(key, KEYS)}" for key in record if key not in KEYS
    )
    evidence = _evidence(record.get("evidence", []), reading.corpus, place, problems)
    reading.judged += bool(record.get("evidence"))
    return Query(
        query_id=query_id,
        text=_words(record.get("text"), f"{place}: 'text'", problems),
        kind=_words(record.get("kind", "unspecified"), f"{place}: 'kind'", problems),
        tags=_tags(record.get("tags", {}), place, problems),
        evidence=evidence,
        answer=_words(record.get("answer") or "", f"{place}: 'answer'", problems),
        variants=_variants(record.get("variants"), place, problems),
        filter=_filter(record.get("filter"), reading.fields, place, problems),
        claims=read_claims(record.get("claims", []), len(evidence), place, problems),
        answer_type=read_answer_type(record.get("answer_type"), place, problems),
        date=_date(record.get("date"), place, problems),
        history=read_history(record.get("history"), place, problems),
    )


def beir_question_of(record: Mapping[str, Any], place: str, reading: Reading) -> Query | None:
    """The question that a line of BEIR's queries.jsonl holds, without its judgements; other keys
    than the lab's are passed over."""
    problems = reading.problems
    query_id = identifier(record, "_id", place, problems)
    if query_id is None:
        return None
    note_repeat(place, "_id", query_id, reading.seen, problems)
    return Query(
        query_id,
        _words(record.get("text"), f"{place}: 'text'", problems),
        tags=_tags(record.get("tags", {}), place, problems),
        variants=_variants(record.get("variants"), place, problems),
        filter=_filter(record.get("filter"), reading.fields, place, problems),
        date=_date(record.get("date"), place, problems),
        history=read_history(record.get("history"), place, problems),
    )


def _words(value: object, what: str, problems: list[str]) -> str:
    if isinstance(value, str):
        return value
    problems.append(f"{what} is {'missing' if value is None else repr(value)}; expected text")
    return ""


def _date(value: object, place: str, problems: list[str]) -> str:
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or moment(value) is None:
        problems.append(
            f"{place}: 'date' is {value!r}; expected when it was asked, like '2024-05-31', "
            "'2024-05' or '2024-05-31T10:00Z'"
        )
        return ""
    return value


def _variants(value: object, place: str, problems: list[str]) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        problems.append(
            f"{place}: 'variants' is a {type(value).__name__}; expected a list of other wordings "
            "of the question"
        )
        return ()
    for number, wording in enumerate(value, start=1):
        if not isinstance(wording, str) or not wording.strip():
            problems.append(
                f"{place}: variant {number} is {wording!r}; expected a wording of the question"
            )
    return tuple(wording for wording in value if isinstance(wording, str))


def read_filter(text: str, corpus: Corpus) -> Filter | None:
    """A filter from its JSON, None for blank text. Raises DiagnosticsError with everything that is
    wrong with it."""
    if not text.strip():
        return None
    try:
        plain = read_json(text)
    except ValueError as fault:
        raise DiagnosticsError(
            f'filter {text[:200]!r} cannot be read ({fault}); expected {{"year": {{"gte": 2020}}}}'
        ) from None
    problems: list[str] = []
    conditions = _filter(plain, Fields(corpus), "question", problems)
    if problems:
        raise DiagnosticsError(problems)
    return conditions


def _filter(value: object, fields: Fields, place: str, problems: list[str]) -> Filter | None:
    conditions = parse_filter(value, f"{place}: 'filter'", problems)
    if conditions is not None:
        fields.check(conditions, f"{place}: 'filter'", problems)
    return conditions


def _tags(value: object, place: str, problems: list[str]) -> Mapping[str, str]:
    """An object of tags, or a list of words, each of which becomes its own tag. Numbers are taken
    as written, true and false as yes and no."""
    if isinstance(value, list):
        value = {str(tag): "yes" if isinstance(tag, str) else None for tag in value}
    if not isinstance(value, dict):
        problems.append(
            f"{place}: 'tags' is a {type(value).__name__}; expected an object like "
            '{"difficulty": "hard"}'
        )
        return {}
    problems.extend(
        f"{place}: tag '{key}' is {tag!r}; expected text"
        for key, tag in value.items()
        if not isinstance(tag, str | int | float)
    )
    words = {True: "yes", False: "no"}
    return {key: words[tag] if isinstance(tag, bool) else str(tag) for key, tag in value.items()}


def _evidence(
    value: object, corpus: Corpus, place: str, problems: list[str]
) -> tuple[Evidence, ...]:
    if not isinstance(value, list):
        problems.append(f"{place}: 'evidence' is a {type(value).__name__}; expected a list")
        return ()
    items = (
        _item(item, corpus, f"{place}: evidence {n}", problems)
        for n, item in enumerate(value, start=1)
    )
    return tuple(item for item in items if item is not None)


def _item(record: object, corpus: Corpus, place: str, problems: list[str]) -> Evidence | None:
    if not isinstance(record, dict):
        problems.append(
            f"{place} is a {type(record).__name__}; expected an object with doc_id and quote"
        )
        return None
    before = len(problems)
    problems.extend(
        f"{place}: unknown key '{key}'{nearest(key, EVIDENCE_KEYS)}"
        for key in record
        if key not in EVIDENCE_KEYS
    )
    given_id = identifier(record, "doc_id", place, problems)
    grade, role, group = record.get("grade", 3), record.get("role", "core"), record.get("group")
    whole = all(record.get(key) is None for key in ("quote", "start", "end"))
    if isinstance(grade, bool) or grade not in (*GRADES, *((0,) if whole else ())):
        problems.append(
            f"{place}: grade is {grade!r}; expected 1 (helpful), 2 or 3 (answers it), or 0 for a "
            "whole document that was judged not relevant"
        )
    if role not in ROLES:
        problems.append(f"{place}: role is {role!r}; expected 'core' or 'background'")
    if group is not None and _name(group) is None:
        problems.append(f"{place}: group is {group!r}; expected text or a whole number")
    doc_id = corpus.names.find(given_id) if given_id else None
    if given_id is not None and doc_id is None:
        problems.append(f"{place}: document '{given_id}' {missing(given_id, corpus, problems)}")
    if len(problems) > before or doc_id is None:
        return None
    span = span_of(record, corpus[doc_id].text, place, problems)
    if span is None:
        return None
    return Evidence(
        doc_id,
        span[0],
        span[1],
        grade=int(grade),
        role=role,
        group=_name(group),
        order=read_order(record.get("order"), place, problems),
    )


def _name(value: object) -> str | None:
    """A name as text; whole numbers are taken as written, anything else is None."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else None
