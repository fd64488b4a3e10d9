"""Asked: one question of a log, what was shown for it and what was clicked, and the files that logs
come in."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab.corpus.lines import read_records
from lab.corpus.values import moment, number
from lab.errors import UsageError
from lab.usage.masking import mask
from lab.usage.ubi import Events, is_event, is_query

# Seconds since 1970 have ten digits until 2286; from here on a number counts milliseconds.
MILLISECONDS = 1e11
LARGEST = 1e14


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that a user asked, masked (see `lab.usage.masking`); `hits` are the documents that
    were shown, best first, empty where the log does not say; `clicks` the ranks, from 1, that were
    clicked, ascending; `satisfaction` is from 0 to 1, None where it is not known."""

    place: str
    query: str
    time: datetime | None = None
    hits: tuple[str, ...] = ()
    clicks: tuple[int, ...] = ()
    satisfaction: float | None = None


def read_log(paths: Sequence[str | Path], action: str = "click") -> tuple[Asked, ...]:
    """Read logs of JSON lines, `.gz` or not, in the order of their lines: the lab's own (`ts`,
    `query`, and `hits`, `clicks`, `satisfaction` where they are known; other keys are passed over),
    or OpenSearch's User Behavior Insights, whose queries and events may lie in one file or in
    several. `action` is the name of the events that are clicks there.

    Raises UsageError with every line that is wrong, and when no line holds a question.
    """
    problems: list[str] = []
    asked: list[Asked] = []
    events = Events(action)
    for path in paths:
        for place, record in read_records(Path(path), problems, UsageError):
            source = record.get("_source")
            line = source if isinstance(source, dict) else record
            if is_event(line):
                events.add(line, place, problems)
                continue
            if is_query(line):
                number = len(asked) if line.get("user_query") else None
                events.note_query(line, number, place, problems)
                if number is None:
                    continue
                line = _ubi_query(line)
            one = _asked(line, place, problems)
            if one is not None:
                asked.append(one)
    clicked = events.clicked({n: one.hits for n, one in enumerate(asked)}, problems)
    if not asked and not problems:
        problems.append(
            f'{", ".join(map(str, paths))}: holds no question; expected lines like {{"ts": '
            '"2026-05-31T10:00:00Z", "query": "...", "hits": ["doc-1"], "clicks": ["doc-1"]}'
        )
    if problems:
        raise UsageError(problems)
    return tuple(_with_clicks(one, clicked.get(place, ())) for place, one in enumerate(asked))


def _with_clicks(one: Asked, ranks: Iterable[int]) -> Asked:
    if not ranks:
        return one
    clicks = tuple(sorted({*one.clicks, *ranks}))
    return Asked(one.place, one.query, one.time, one.hits, clicks, one.satisfaction)


def _ubi_query(line: Mapping[str, Any]) -> dict[str, Any]:
    """A record of `ubi_queries` under the lab's names."""
    return {
        "ts": line.get("timestamp"),
        "query": line.get("user_query"),
        "hits": line.get("query_response_hit_ids"),
    }


def _asked(record: Mapping[str, Any], place: str, problems: list[str]) -> Asked | None:
    before = len(problems)
    text = record.get("query")
    text = text.strip() if isinstance(text, str) else text
    if not isinstance(text, str) or not text:
        fault = "is missing" if text is None else "is blank" if text == "" else "is no text"
        problems.append(f"{place}: 'query' {fault}; expected what the user asked")
    time = _time(record.get("ts"), place, problems)
    hits = _documents(record.get("hits"), "hits", place, problems)
    clicks = _documents(record.get("clicks"), "clicks", place, problems)
    strangers = [doc_id for doc_id in clicks if doc_id not in hits]
    if strangers:
        problems.append(
            f"{place}: click on {strangers[0]!r}, which is not among the hits; expected the shown "
            "documents as 'hits', the first on top"
        )
    satisfaction = record.get("satisfaction")
    share = None if satisfaction is None else number(satisfaction)
    if satisfaction is not None and (share is None or not 0 <= share <= 1):
        problems.append(f"{place}: 'satisfaction' is {satisfaction!r}; expected 0 to 1")
    if len(problems) > before:
        return None
    ranks = tuple(sorted({hits.index(doc_id) + 1 for doc_id in clicks}))
    value = None if share is None else float(share)
    return Asked(place, mask(str(text)), time, hits, ranks, value)


def _time(value: object, place: str, problems: list[str]) -> datetime | None:
    """A time in ISO 8601, or seconds or milliseconds since 1970."""
    if value is None:
        return None
    read = moment(value)
    seconds = number(value)
    if read is not None:
        return read.time
    if seconds is not None and 0 <= seconds < LARGEST:
        seconds = seconds / 1000 if seconds >= MILLISECONDS else seconds
        return datetime.fromtimestamp(seconds, UTC)
    problems.append(
        f"{place}: 'ts' is {value!r}; expected a time like '2026-05-31T10:00:00Z', or seconds or "
        "milliseconds since 1970"
    )
    return None


def _documents(value: object, key: str, place: str, problems: list[str]) -> tuple[str, ...]:
    """Document ids, plain or as `doc_id` of objects; whole numbers are taken as written."""
    if value is None:
        return ()
    ids = [_document(item) for item in value] if isinstance(value, list) else [None]
    known = tuple(doc_id for doc_id in ids if doc_id is not None)
    if len(known) < len(ids):
        problems.append(f"{place}: '{key}' is no list of document ids")
    elif key == "hits" and len(set(known)) < len(known):
        problems.append(f"{place}: 'hits' has a document twice; expected each once, at its rank")
    return known


def _document(item: object) -> str | None:
    value = item.get("doc_id") if isinstance(item, dict) else item
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value.strip() else None
