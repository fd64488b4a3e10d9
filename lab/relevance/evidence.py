"""Evidence as it is given, from files or Python: checked, and its quotes located."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from lab.corpus.document import Corpus
from lab.corpus.filter import Filter
from lab.corpus.values import GRADE, LARGEST_GRADE
from lab.errors import DiagnosticsError, encodable, nearest
from lab.relevance.locate import MOST, find_quote, nearest_text
from lab.relevance.query import ROLES, Evidence, Query, Turn
from lab.relevance.turns import faults_of_turn

# Start and end, or neither: the whole document.
Offsets = tuple[int | None, int | None]

GRADES = (1, 2, 3)
# Problems that come with the nearest spelling or text; to look for it a thousand times takes long.
HINTED = 20


def missing(doc_id: str, corpus: Corpus, problems: list[str]) -> str:
    """What to say of a document that is not in the corpus."""
    alike = corpus.names.alike(doc_id)
    if alike:
        return f"is not in the corpus, but {len(alike)} of the same name in other normal forms are"
    known = nearest(doc_id, corpus.position) if len(problems) < HINTED else ""
    return f"is not in the corpus{known}"


def span_of(
    record: Mapping[str, Any], text: str, place: str, problems: list[str]
) -> Offsets | None:
    """Offsets from `start` and `end`, or from `quote` (and `occurrence`); (None, None) for a whole
    document; None and a problem."""
    quote, start, end = record.get("quote"), record.get("start"), record.get("end")
    if quote is not None and (not isinstance(quote, str) or not quote.strip()):
        problems.append(f"{place}: quote is {_short(quote)}; expected the text of the evidence")
        return None
    if start is None and end is None:
        if quote is None:
            return None, None
        return _located(quote, record.get("occurrence"), text, place, problems)
    if not _whole(start) or not _whole(end):
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
        places = find_quote(text, quote)
        where = (
            f"it stands at {places[0][0]}-{places[0][1]}"
            if places
            else f"nearest text: {_nearest(text, quote, problems)!r}"
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
    spans = find_quote(text, quote)
    times = f"{len(spans)} times" if len(spans) < MOST else f"{MOST} times or more"
    if not spans:
        near = _nearest(text, quote, problems)
        hint = f"nearest text: {near!r}" if near else "nothing there resembles it"
        problems.append(f"{place}: quote {_short(quote)} is not in the document; {hint}")
    elif occurrence is None and len(spans) > 1:
        places = ", ".join(str(start) for start, _ in spans[:5])
        problems.append(
            f"{place}: quote {_short(quote)} stands {times} (at {places}); "
            f'add "occurrence": 1..{len(spans)} or lengthen it'
        )
    elif occurrence is None:
        return spans[0]
    elif _whole(occurrence) and 1 <= occurrence <= len(spans):
        return spans[occurrence - 1]
    else:
        problems.append(
            f"{place}: occurrence is {_short(occurrence)}, but the quote stands {times}; "
            f"expected 1..{len(spans)}"
        )
    return None


def _nearest(text: str, quote: str, problems: list[str]) -> str:
    return nearest_text(text, quote) if len(problems) < HINTED else ""


def _whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 82 else f"{shown[:78]}...{shown[-1]}"


def given(queries: Sequence[Query], corpus: Corpus) -> tuple[Query, ...]:
    """Questions that were made in Python, checked as a file's are, with their quotes located and
    document ids as the corpus writes them. Evidence in a document that the corpus lacks stays: why
    it is missed is then told.

    Raises DiagnosticsError with everything that is wrong.
    """
    problems: list[str] = []
    checked = [_query(query, number, corpus, problems) for number, query in enumerate(queries)]
    if problems:
        raise DiagnosticsError(problems)
    return tuple(query for query in checked if query is not None)


def _query(query: object, number: int, corpus: Corpus, problems: list[str]) -> Query | None:
    if not isinstance(query, Query):
        problems.append(f"question {number} is a {type(query).__name__}; expected a Query")
        return None
    before = len(problems)
    if not isinstance(query.query_id, str) or not query.query_id.strip():
        problems.append(f"question {number}: query_id is {query.query_id!r}; expected text")
        return None
    place = f"query '{query.query_id}'"
    texts = {"text": query.text, "kind": query.kind, "answer": query.answer}
    for name, value in texts.items():
        if not isinstance(value, str):
            problems.append(f"{place}: {name} is {_short(value)}; expected text")
    if not isinstance(query.tags, Mapping) or not _texts((*query.tags, *query.tags.values())):
        problems.append(f"{place}: tags are {_short(query.tags)}; expected texts by name")
    if not isinstance(query.variants, tuple) or not _texts(query.variants):
        problems.append(
            f"{place}: variants are {_short(query.variants)}; expected a tuple of texts"
        )
    if not isinstance(query.history, tuple):
        problems.append(f"{place}: history is {_short(query.history)}; expected a tuple of Turns")
    else:
        problems.extend(_faults_of_history(query.history, place))
    if not isinstance(query.filter, Filter | None):
        problems.append(f"{place}: filter is {_short(query.filter)}; expected a Filter")
    if not isinstance(query.evidence, tuple):
        problems.append(f"{place}: evidence is {_short(query.evidence)}; expected a tuple")
    if len(problems) > before:
        return None
    said = (turn.text for turn in query.history)
    if not all(map(encodable, (query.query_id, *texts.values(), *query.variants, *said))):
        problems.append(f"{place}: holds half of a surrogate pair, which is no character")
    items = [
        _item(item, f"{place}: evidence {n}", corpus, problems)
        for n, item in enumerate(query.evidence, start=1)
    ]
    located = tuple(item for item in items if item is not None)
    return query if located == query.evidence else replace(query, evidence=located)


def _faults_of_history(history: Iterable[object], place: str) -> Iterator[str]:
    for number, turn in enumerate(history, start=1):
        if isinstance(turn, Turn):
            where = f"{place}: turn {number} of the history"
            yield from faults_of_turn(turn.role, turn.text, where)
        else:
            yield f"{place}: turn {number} of the history is {_short(turn)}; expected a Turn"


def _texts(values: Sequence[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _item(item: object, place: str, corpus: Corpus, problems: list[str]) -> Evidence | None:
    if not isinstance(item, Evidence):
        problems.append(f"{place} is {_short(item)}; expected an Evidence")
        return None
    before = len(problems)
    if not isinstance(item.doc_id, str):
        problems.append(f"{place}: doc_id is {_short(item.doc_id)}; expected text")
    scale = range(-LARGEST_GRADE, LARGEST_GRADE + 1) if item.whole else GRADES
    if not _whole(item.grade) or item.grade not in scale:
        expected = GRADE if item.whole else "expected 1 (helpful), 2 or 3 (answers it)"
        problems.append(f"{place}: grade is {_short(item.grade)}; {expected}")
    if item.role not in ROLES:
        problems.append(f"{place}: role is {_short(item.role)}; expected 'core' or 'background'")
    if not isinstance(item.group, str | None):
        problems.append(f"{place}: group is {_short(item.group)}; expected text")
    if len(problems) > before:
        return None
    name = corpus.names.find(item.doc_id)
    if name is None:
        if item.quote is not None:
            problems.append(
                f"{place}: document '{item.doc_id}' {missing(item.doc_id, corpus, problems)}"
            )
        return item
    if item.whole:
        return item if name == item.doc_id else replace(item, doc_id=name)
    record = {key: getattr(item, key) for key in ("quote", "start", "end", "occurrence")}
    span = span_of(record, corpus[name].text, place, problems)
    if span is None:
        return None
    if (name, span) == (item.doc_id, (item.start, item.end)) and item.quote is None:
        return item
    return replace(item, doc_id=name, start=span[0], end=span[1], quote=None, occurrence=None)
