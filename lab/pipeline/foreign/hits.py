"""Hits: what a foreign retriever answers, in any of the shapes that people hold results in."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from numbers import Integral, Real
from typing import Any


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a foreign retriever, found again in the corpus by `doc_id` and offsets, by
    `doc_id` and text, by text alone, or, with a `doc_id` alone, as the whole document. A `score`
    (higher is better) is read where stages are shown; it is no part of what the hit is."""

    doc_id: str | None = None
    start: int | None = None
    end: int | None = None
    text: str | None = None
    score: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a question got no answer; a `final` one is not asked again. An `unlisted` one has no line
    in a finished run, which is how such runs say that nothing was returned."""

    reason: str
    final: bool = False
    unlisted: bool = False


def parse_hits(value: Any, depth: int | None = None) -> tuple[Hit, ...] | Failure:
    """The first `depth` hits of what a retriever gave for one question.

    A list is in its order, best first: of Hits, mappings with Hit's keys, document ids, or
    `(document id, score)` pairs. A mapping of document ids to scores is ordered by score, equals by
    id. What lies beyond `depth` is not looked at.
    """
    if isinstance(value, Mapping) and "hits" in value:
        value = value["hits"]
    if isinstance(value, Mapping) and not _scores(value.values()):
        return _wrong(value)
    if isinstance(value, Mapping):
        value = sorted(value.items(), key=lambda pair: (-float(pair[1]), str(pair[0])))
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        return _wrong(value)
    hits: list[Hit] = []
    for item in islice(value, depth):
        hit = _hit(item)
        if hit is None:
            shown = f"hit {repr(item)[:80]}"
            return Failure(
                f"{shown}; expected doc_id (text), start and end (whole numbers) or text",
                final=True,
            )
        hits.append(hit)
    return tuple(hits)


def _wrong(value: Any) -> Failure:
    return Failure(
        f"answer is a {type(value).__name__}; expected a list of hits, or scores by document id",
        final=True,
    )


def _scores(values: Iterable[Any]) -> bool:
    return all(_score(value) for value in values)


def _score(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)


def _hit(item: Any) -> Hit | None:
    if isinstance(item, Hit):
        return item if _right(item.doc_id, item.start, item.end, item.text) else None
    if isinstance(item, str):
        return Hit(item) if item else None
    if isinstance(item, tuple | list) and len(item) == 2 and _score(item[1]):
        named = item[0] if isinstance(item[0], Mapping) else {"doc_id": item[0]}
        return _hit({**named, "score": item[1]})
    if not isinstance(item, Mapping):
        return None
    doc_id, start, end, text = (item.get(key) for key in ("doc_id", "start", "end", "text"))
    doc_id = str(doc_id) if _whole(doc_id) else doc_id
    if not _right(doc_id, start, end, text):
        return None
    score: Any = item.get("score")
    # NaN and infinity order nothing: such a hit has no score.
    known = float(score) if _score(score) and math.isfinite(score) else None
    return Hit(doc_id, _place(start), _place(end), text, known)


def _place(value: Any) -> int | None:
    return None if value is None else int(value)


def _right(doc_id: Any, start: Any, end: Any, text: Any) -> bool:
    if not all(word is None or isinstance(word, str) for word in (doc_id, text)):
        return False
    offsets = [place for place in (start, end) if place is not None]
    return bool(doc_id or text) and len(offsets) != 1 and all(map(_whole, offsets))


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
