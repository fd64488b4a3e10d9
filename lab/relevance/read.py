"""Reading diagnostic sets: JSONL of questions with evidence, or a BEIR folder's queries and
qrels."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lab.corpus.document import Corpus
from lab.corpus.filter import Fields, Filter, parse_filter
from lab.corpus.lines import identifier, note_repeat, read_json, read_records
from lab.corpus.names import Names
from lab.corpus.read import TABLES
from lab.corpus.values import moment
from lab.errors import DiagnosticsError, nearest
from lab.relevance.claims import read_answer_type, read_claims, read_order
from lab.relevance.evidence import GRADES, missing, span_of
from lab.relevance.qrels import read_qrels
from lab.relevance.query import ROLES, Evidence, Query

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
)
EVIDENCE_KEYS = ("doc_id", "quote", "occurrence", "start", "end", "grade", "role", "group", "order")
# From this many problems on, questions of which none fits are told as another corpus's.
MANY = 5


def read_diagnostics(paths: str | Path | Iterable[str | Path], corpus: Corpus) -> tuple[Query, ...]:
    """Read the questions of one or more sets and locate their evidence in `corpus`.

    Each path is a .jsonl file, a folder of them, or a BEIR folder (`queries.jsonl` with `_id`,
    `qrels/test.tsv`), whose judgements are per document. Raises DiagnosticsError with every faulty
    line of every file.
    """
    reading = Reading(corpus, Fields(corpus))
    problems, queries = reading.problems, list[Query]()
    for path in [paths] if isinstance(paths, str | Path) else paths:
        path = Path(path)
        reads = (
            [_read_beir(path, reading)]
            if _is_beir(path, problems)
            else [_read_file(file, reading) for file in _files(path, problems)]
        )
        for read in reads:
            try:
                queries.extend(replace(query, source=str(path)) for query in read)
            except DiagnosticsError as fault:
                # A file that cannot be read: the others are checked all the same.
                problems.extend(fault.problems)
    if not queries and not problems:
        problems.append(
            f'{paths}: holds no question; expected lines like {{"query_id", "text", "evidence": '
            f"[...]}}"
        )
    return reading.finished(queries)


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


def _is_beir(path: Path, problems: list[str]) -> bool:
    try:
        return (path / "qrels").is_dir()
    except (OSError, ValueError) as fault:  # a folder without leave to enter, a name with NUL
        problems.append(f"{path}: cannot be read ({getattr(fault, 'strerror', None) or fault})")
        return False


def _files(path: Path, problems: list[str]) -> list[Path]:
    try:
        if path.is_file() or (path.exists() and not path.is_dir()):
            return [path]
        files = sorted(file for file in path.glob("*.jsonl") if file.name not in TABLES)
        absent = not path.exists()
    except (OSError, ValueError):
        return []  # told by now
    if not files:
        problems.append(
            f"{path}: no such file or folder"
            if absent
            else f"{path}: holds no .jsonl file of questions"
        )
    return files


def _read_file(file: Path, reading: Reading) -> Iterator[Query]:
    for place, record in read_records(file, reading.problems, DiagnosticsError):
        query = question_of(record, place, reading)
        if query is not None:
            yield query


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
    for number, one in enumerate(value, start=1):
        if not isinstance(one, str) or not one.strip():
            problems.append(
                f"{place}: variant {number} is {one!r}; expected a wording of the question"
            )
    return tuple(one for one in value if isinstance(one, str))


def read_filter(text: str, corpus: Corpus) -> Filter | None:
    """A filter from its JSON, None for blank text. Raises DiagnosticsError with everything that is
    wrong with it."""
    problems: list[str] = []
    found = None
    if text.strip():
        try:
            plain = read_json(text)
        except ValueError as fault:
            raise DiagnosticsError(
                f"filter {text[:200]!r} cannot be read ({fault}); expected "
                '{"year": {"gte": 2020}}'
            ) from None
        found = _filter(plain, Fields(corpus), "question", problems)
    if problems:
        raise DiagnosticsError(problems)
    return found


def _filter(value: object, fields: Fields, place: str, problems: list[str]) -> Filter | None:
    found = parse_filter(value, f"{place}: 'filter'", problems)
    if found is not None:
        fields.check(found, f"{place}: 'filter'", problems)
    return found


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


def _read_beir(path: Path, reading: Reading) -> Iterator[Query]:
    corpus, problems = reading.corpus, reading.problems
    asked: dict[str, Query] = {}
    for place, record in read_records(path / "queries.jsonl", problems, DiagnosticsError):
        query_id = identifier(record, "_id", place, problems)
        if query_id is not None:
            note_repeat(place, "_id", query_id, reading.seen, problems)
            asked[query_id] = Query(
                query_id,
                _words(record.get("text"), f"{place}: 'text'", problems),
                variants=_variants(record.get("variants"), place, problems),
                filter=_filter(record.get("filter"), reading.fields, place, problems),
                date=_date(record.get("date"), place, problems),
            )
    names, judged = Names(asked), dict[str, list[Evidence]]()
    for row in read_qrels(path / "qrels" / "test.tsv", problems):
        query_id, doc_id = names.find(row.query_id), corpus.names.find(row.doc_id)
        if query_id is None:
            problems.append(f"{row.place}: query '{row.query_id}' is not in queries.jsonl")
            continue
        items = judged.setdefault(query_id, [])
        if doc_id is None:
            lost = missing(row.doc_id, corpus, problems)
            problems.append(f"{row.place}: document '{row.doc_id}' {lost}")
        else:
            items.append(Evidence(doc_id, grade=row.grade))
    reading.judged += len(judged)
    yield from (
        replace(asked[query_id], evidence=tuple(items)) for query_id, items in judged.items()
    )
