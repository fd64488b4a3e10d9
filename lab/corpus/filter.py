"""Filter: which documents may answer a question, by their metadata."""

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from lab.corpus.document import Corpus
from lab.corpus.values import moment, number
from lab.errors import DiagnosticsError, nearest

Scalar = str | int | float | bool

# What a person reads for an operator; also which operators there are.
SIGNS = {"eq": "=", "ne": "!=", "in": "in", "gte": ">=", "gt": ">", "lte": "<=", "lt": "<"}
ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "gte": lambda value, limit: value >= limit,
    "gt": lambda value, limit: value > limit,
    "lte": lambda value, limit: value <= limit,
    "lt": lambda value, limit: value < limit,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on a metadata key; `value` is a tuple for `in`.

    A list in the metadata meets a condition when one of its members does. A document without the
    key (or with null there) meets `ne` alone. Numbers as text (`"2020"`) count as numbers beside a
    number. `gte`, `gt`, `lte` and `lt` compare numbers, or dates in ISO 8601: beside a day a time
    counts as its day, beside a month a day as its month, a time without a zone is UTC. Text is
    compared in NFC, upper and lower case apart.
    """

    key: str
    operator: str
    value: Scalar | tuple[Scalar, ...]

    def __str__(self) -> str:
        value = (
            ", ".join(map(str, self.value)) if isinstance(self.value, tuple) else str(self.value)
        )
        return f"{self.key} {SIGNS[self.operator]} {value}"

    def holds(self, metadata: Mapping[str, Any]) -> bool:
        values = members(metadata.get(self.key))
        if self.operator in ORDERS:
            pairs = (comparable(value, self.value) for value in values)
            return any(ORDERS[self.operator](*pair) for pair in pairs if pair is not None)
        wanted = self.value if isinstance(self.value, tuple) else (self.value,)
        return any(same(value, accepted) for value in values for accepted in wanted) != (
            self.operator == "ne"
        )


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions that a document must all meet."""

    conditions: tuple[Condition, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.conditions))

    @staticmethod
    def of(plain: Mapping[str, Any]) -> "Filter":
        """From `{"year": {"gte": 2020}, "lang": "en"}`; raises DiagnosticsError with everything
        that is no condition."""
        problems: list[str] = []
        parsed = parse_filter(plain, "filter", problems)
        if problems or parsed is None:
            raise DiagnosticsError(problems or "filter: has no condition")
        return parsed

    @property
    def plain(self) -> dict[str, dict[str, Any]]:
        """As an object of JSON, every operator written out."""
        by_key: dict[str, dict[str, Any]] = {}
        for condition in self.conditions:
            by_key.setdefault(condition.key, {})[condition.operator] = (
                list(condition.value) if isinstance(condition.value, tuple) else condition.value
            )
        return by_key

    def passes(self, metadata: Mapping[str, Any]) -> bool:
        return all(condition.holds(metadata) for condition in self.conditions)

    def failed(self, metadata: Mapping[str, Any]) -> str:
        """The conditions that a document does not meet, with what it has instead; empty where it
        passes."""
        held = (
            (condition, metadata.get(condition.key))
            for condition in self.conditions
            if not condition.holds(metadata)
        )
        return "; ".join(
            f"{condition}, but it has {'none' if value is None else value}"
            for condition, value in held
        )


def members(value: Any) -> list[Any]:
    """The values of a metadata entry: none for null, each of a list."""
    values = value if isinstance(value, list | tuple) else [value]
    return [member for member in values if member is not None]


def same(value: Any, wanted: Any) -> bool:
    """Equality of metadata with a filter's value."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return isinstance(value, bool) and value is wanted
    if isinstance(value, str) and isinstance(wanted, str):
        return unicodedata.normalize("NFC", value) == unicodedata.normalize("NFC", wanted)
    return number(value) is not None and number(value) == number(wanted)


def comparable(value: Any, limit: Any) -> tuple[Any, Any] | None:
    """Both as numbers or as times, whichever the limit is; None where the value is something
    else."""
    if number(limit) is not None:
        return None if number(value) is None else (number(value), number(limit))
    known, bound = moment(value), moment(limit)
    if known is None or bound is None:
        return None
    return known.at(bound.precision), bound.time


def parse_filter(plain: object, place: str, problems: list[str]) -> Filter | None:
    """The conditions of a filter from JSON, None where there are none; what is no condition goes to
    `problems`."""
    if plain is None or plain == {}:
        return None
    if not isinstance(plain, Mapping):
        problems.append(
            f'{place} is a {type(plain).__name__}; expected an object like {{"year": {{"gte": '
            f"2020}}}}"
        )
        return None
    conditions: list[Condition] = []
    for key, value in plain.items():
        operators = value if isinstance(value, Mapping) else {"eq": value}
        if not operators:
            problems.append(f"{place}: '{key}' has no operator; expected one of {', '.join(SIGNS)}")
        for operator, wanted in operators.items():
            fault = _fault(operator, wanted)
            if fault:
                problems.append(f"{place}: '{key}' {fault}")
            else:
                conditions.append(
                    Condition(str(key), operator, tuple(wanted) if operator == "in" else wanted)
                )
    return Filter(tuple(conditions)) if conditions else None


def _fault(operator: str, wanted: Any) -> str:
    """What is wrong with a condition in itself; empty if nothing."""
    if operator not in SIGNS:
        return f"has the unknown operator '{operator}'{nearest(operator, SIGNS)}"
    if operator == "in":
        right = (
            isinstance(wanted, list | tuple) and len(wanted) > 0 and all(map(_is_scalar, wanted))
        )
        return "" if right else f"in is {wanted!r}; expected a list of texts or numbers"
    if operator in ORDERS:
        right = not isinstance(wanted, bool) and (
            number(wanted) is not None or moment(wanted) is not None
        )
        return (
            ""
            if right
            else f"{operator} is {wanted!r}; expected a number or a date like 2020-05-01"
        )
    hint = (
        '; expected one value, or {"in": [...]}'
        if isinstance(wanted, list | tuple)
        else "; expected text or a number"
    )
    return "" if _is_scalar(wanted) else f"is {wanted!r}{hint}"


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


class Fields:
    """What the documents of a corpus have as metadata: per key the kinds of values, with how many
    documents and an example."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    @cached_property
    def kinds(self) -> Mapping[str, Mapping[str, tuple[int, str, Any]]]:
        """Key -> kind (number, date, text, bool, other) -> count, document, value of the first."""
        by_key: dict[str, dict[str, tuple[int, str, Any]]] = {}
        for document in self._corpus:
            for key, entry in document.metadata.items():
                kinds = by_key.setdefault(key, {})
                for value in members(entry):
                    count, doc_id, example = kinds.get(_kind(value), (0, document.doc_id, value))
                    kinds[_kind(value)] = count + 1, doc_id, example
        return by_key

    def check(self, wanted: Filter, place: str, problems: list[str]) -> None:
        """Tell of conditions that no document could be asked: unknown keys, values that cannot be
        compared."""
        for condition in wanted.conditions:
            if condition.key not in self.kinds:
                known = (
                    nearest(condition.key, self.kinds)
                    if self.kinds
                    else "; the documents have no metadata"
                )
                problems.append(f"{place}: no document has '{condition.key}'{known}")
                continue
            kinds = self.kinds[condition.key]
            if condition.operator in ORDERS:
                expected = "number" if number(condition.value) is not None else "date"
                others = [
                    (example, doc_id, count)
                    for kind, (count, doc_id, example) in kinds.items()
                    if kind != expected
                ]
                problems.extend(
                    f"{place}: '{condition}' compares with a {expected}, but document '{doc_id}' "
                    f"has {example!r} ({count} such values); mend the documents, or leave the key "
                    "out where it is unknown"
                    for example, doc_id, count in others
                )
            elif kinds and not self._alike(condition, kinds):
                _, doc_id, example = next(iter(kinds.values()))
                problems.append(
                    f"{place}: '{condition}' can match nothing: document '{doc_id}' has "
                    f"{example!r}, and none has its like"
                )

    @staticmethod
    def _alike(condition: Condition, kinds: Iterable[str]) -> bool:
        wanted = {
            _kind(value)
            for value in (
                condition.value if isinstance(condition.value, tuple) else (condition.value,)
            )
        }
        text = {"text", "date"}
        return bool(wanted & set(kinds)) or bool(wanted & text and text & set(kinds))


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if number(value) is not None:
        return "number"
    if moment(value) is not None:
        return "date"
    return "text" if isinstance(value, str) else "other"
