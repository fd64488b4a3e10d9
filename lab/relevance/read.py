"""Reading diagnostic sets: JSONL of questions with evidence, or a BEIR folder's queries and
qrels."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.corpus.document import Corpus
from lab.corpus.filter import Fields, Filter, parse_filter
from lab.corpus.lines import identifier, note_repeat, read_records
from lab.corpus.names import Names
from lab.corpus.read import TABLES
from lab.errors import DiagnosticsError, nearest
from lab.relevance.claims import read_answer_type, read_claims, read_order
from lab.relevance.locate import find_quote, nearest_text
from lab.relevance.qrels import read_qrels
from lab.relevance.query import Evidence, Query

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
)
EVIDENCE_KEYS = ("doc_id", "quote", "occurrence", "start", "end", "grade", "role", "group", "order")
ROLES = ("core", "background")
GRADES = (1, 2, 3)


def read_diagnostics(paths: str | Path | Iterable[str | Path], corpus: Corpus) -> tuple[Query, ...]:
    """Read the questions of one or more sets and locate their evidence in `corpus`.

    Each path is a .jsonl file, a folder of them, or a BEIR folder (`queries.jsonl` with `_id`,
    `qrels/test.tsv`), whose judgements are per document. Raises DiagnosticsError with every faulty
    line of every file.
    """
    problems: list[str] = []
    queries: list[Query] = []
    seen: dict[str, str] = {}
    fields = Fields(corpus)
    for path in [paths] if isinstance(paths, str | Path) else paths:
        path = Path(path)
        reads = (
            [_read_beir(path, corpus, fields, seen, problems)]
            if (path / "qrels").is_dir()
            else [
                _read_file(file, corpus, fields, seen, problems) for file in _files(path, problems)
            ]
        )
        for read in reads:
            try:
                queries.extend(read)
            except (
                DiagnosticsError
            ) as fault:  # a file that cannot be read: the others are checked all the same
                problems.extend(fault.problems)
    if not queries and not problems:
        problems.append(
            f'{paths}: holds no question; expected lines like {{"query_id", "text", "evidence": '
            f"[...]}}"
        )
    if problems:
        raise DiagnosticsError(problems)
    return tuple(sorted(queries, key=lambda query: query.query_id))


def _files(path: Path, problems: list[str]) -> list[Path]:
    if path.is_file():
        return [path]
    files = sorted(file for file in path.glob("*.jsonl") if file.name not in TABLES)
    if not files:
        problems.append(
            f"{path}: no such file or folder"
            if not path.exists()
            else f"{path}: holds no .jsonl file of questions"
        )
    return files


def _read_file(
    file: Path, corpus: Corpus, fields: Fields, seen: dict[str, str], problems: list[str]
) -> Iterable[Query]:
    for place, record in read_records(file, problems, DiagnosticsError):
        query_id = identifier(record, "query_id", place, problems)
        if query_id is None:
            continue
        note_repeat(place, "query_id", query_id, seen, problems)
        problems.extend(
            f"{place}: unknown key '{key}'{nearest(key, KEYS)}" for key in record if key not in KEYS
        )
        evidence = _evidence(record.get("evidence", []), corpus, place, problems)
        yield Query(
            query_id=query_id,
            text=_words(record.get("text"), f"{place}: 'text'", problems),
            kind=_words(record.get("kind", "unspecified"), f"{place}: 'kind'", problems),
            tags=_tags(record.get("tags", {}), place, problems),
            evidence=evidence,
            answer=str(record.get("answer") or ""),
            variants=_variants(record.get("variants"), place, problems),
            filter=_filter(record.get("filter"), fields, place, problems),
            claims=read_claims(record.get("claims", []), len(evidence), place, problems),
            answer_type=read_answer_type(record.get("answer_type"), place, problems),
        )


def _words(value: object, what: str, problems: list[str]) -> str:
    if isinstance(value, str):
        return value
    problems.append(f"{what} is {'missing' if value is None else repr(value)}; expected text")
    return ""


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
            plain = json.loads(text)
        except (ValueError, RecursionError) as fault:
            raise DiagnosticsError(
                f'filter {text!r} is not JSON ({fault}); expected {{"year": {{"gte": 2020}}}}'
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
    """An object of tags, or a list of words, each of which becomes its own tag."""
    if isinstance(value, dict):
        return {str(key): str(tag) for key, tag in value.items()}
    if isinstance(value, list):
        return {str(tag): "yes" for tag in value}
    problems.append(
        f"{place}: 'tags' is a {type(value).__name__}; expected an object like {{\"difficulty\": "
        f'"hard"}}'
    )
    return {}


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
    doc_id = identifier(record, "doc_id", place, problems)
    grade, role, group = record.get("grade", 3), record.get("role", "core"), record.get("group")
    if isinstance(grade, bool) or grade not in GRADES:
        problems.append(f"{place}: grade is {grade!r}; expected 1 (helpful), 2 or 3 (answers it)")
    if role not in ROLES:
        problems.append(f"{place}: role is {role!r}; expected 'core' or 'background'")
    if doc_id is not None and doc_id not in corpus:
        problems.append(
            f"{place}: document '{doc_id}' is not in the corpus{nearest(doc_id, corpus.position)}"
        )
    if len(problems) > before or doc_id is None:
        return None
    span = _span(record, corpus[doc_id].text, place, problems)
    if span is None:
        return None
    return Evidence(
        doc_id,
        *span,
        grade=int(grade),
        role=role,
        group=None if group is None else str(group),
        order=read_order(record.get("order"), place, problems),
    )


def _span(
    record: dict[str, Any], text: str, place: str, problems: list[str]
) -> tuple[int | None, int | None] | None:
    """Offsets from `start` and `end`, or from the quote; (None, None) for a whole document; None
    and a problem."""
    quote, start, end = record.get("quote"), record.get("start"), record.get("end")
    if quote is not None and (not isinstance(quote, str) or not quote.strip()):
        problems.append(f"{place}: quote is {quote!r}; expected the text of the evidence")
        return None
    if start is None and end is None:
        return (
            (None, None)
            if quote is None
            else _located(quote, record.get("occurrence"), text, place, problems)
        )
    if (
        not isinstance(start, int)
        or not isinstance(end, int)
        or isinstance(start, bool)
        or isinstance(end, bool)
    ):
        problems.append(f"{place}: start {start!r} and end {end!r}; expected two integers")
        return None
    if not 0 <= start < end <= len(text):
        problems.append(
            f"{place}: start {start}, end {end} lie outside the document; expected 0 <= start < "
            f"end <= {len(text)}"
        )
    elif not text[start:end].strip():
        problems.append(f"{place}: start {start}, end {end} hold only white space")
    elif quote is not None and text[start:end] != quote:
        found = find_quote(text, quote)
        where = (
            f"it stands at {found[0][0]}-{found[0][1]}"
            if found
            else f"nearest text: {nearest_text(text, quote)!r}"
        )
        problems.append(
            f"{place}: text at {start}-{end} is {_short(text[start:end])}, not the quote "
            f"{_short(quote)}; {where}"
        )
    else:
        return start, end
    return None


def _located(
    quote: str, occurrence: object, text: str, place: str, problems: list[str]
) -> tuple[int, int] | None:
    found = find_quote(text, quote)
    if not found:
        near = nearest_text(text, quote)
        hint = f"nearest text: {near!r}" if near else "nothing there resembles it"
        problems.append(f"{place}: quote {_short(quote)} is not in the document; {hint}")
    elif occurrence is None and len(found) > 1:
        places = ", ".join(str(start) for start, _ in found[:5])
        problems.append(
            f"{place}: quote {_short(quote)} stands {len(found)} times (at {places}); "
            f'add "occurrence": 1..{len(found)} or lengthen it'
        )
    elif occurrence is None:
        return found[0]
    elif isinstance(occurrence, int) and 1 <= occurrence <= len(found):
        return found[occurrence - 1]
    else:
        problems.append(
            f"{place}: occurrence is {occurrence!r}, but the quote stands {len(found)} times; "
            f"expected 1..{len(found)}"
        )
    return None


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")


def _read_beir(
    path: Path, corpus: Corpus, fields: Fields, seen: dict[str, str], problems: list[str]
) -> Iterator[Query]:
    asked: dict[str, Query] = {}
    for place, record in read_records(path / "queries.jsonl", problems, DiagnosticsError):
        query_id = identifier(record, "_id", place, problems)
        if query_id is not None:
            note_repeat(place, "_id", query_id, seen, problems)
            asked[query_id] = Query(
                query_id,
                _words(record.get("text"), f"{place}: 'text'", problems),
                variants=_variants(record.get("variants"), place, problems),
                filter=_filter(record.get("filter"), fields, place, problems),
            )
    judged: dict[str, list[Evidence]] = {}
    queries = Names(asked)
    for row in read_qrels(path / "qrels" / "test.tsv", problems):
        query_id, doc_id = queries.find(row.query_id), corpus.names.find(row.doc_id)
        if query_id is None:
            problems.append(f"{row.place}: query '{row.query_id}' is not in queries.jsonl")
        elif doc_id is None:
            problems.append(f"{row.place}: document '{row.doc_id}' is not in the corpus")
        else:
            judged.setdefault(query_id, []).append(Evidence(doc_id, grade=row.grade))
    yield from (
        replace(asked[query_id], evidence=tuple(items)) for query_id, items in judged.items()
    )
