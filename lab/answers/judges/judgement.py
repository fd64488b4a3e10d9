"""Judgements of answers: scores of single answers and preferences between two, and the files they
come in. Any judge's file will do: a model's, a person's, another tool's."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from lab.corpus.lines import identifier, read_records
from lab.errors import AnswersError, nearest

T = TypeVar("T")

Winner = Literal["first", "second", "tie"]
WINNERS: tuple[Winner, ...] = ("first", "second", "tie")
SCORE_KEYS = (
    "query_id", "system", "judge", "criterion", "score", "confidence", "generator", "words",
)  # fmt: skip
PREFERENCE_KEYS = ("query_id", "judge", "first", "second", "winner", "confidence")
# What `lab judge` keeps beside a score for a reader; no check reads it.
KEPT_KEYS = (
    "quotes", "reason", "input", "output", "model", "unscored", "given", "steps_off", "audit",
)  # fmt: skip
# Between a judge's model and the version of its prompt and rubric in its name.
VERSION = "#"


@dataclass(frozen=True, slots=True)
class Score:
    """One judge's score of one answer by one criterion; `confidence` in [0, 1], NaN where the judge
    gives none; `generator` is the model that wrote the answer, `words` its length, -1 unknown."""

    query_id: str
    system: str
    judge: str
    criterion: str
    score: float
    confidence: float = math.nan
    generator: str = ""
    words: int = -1


@dataclass(frozen=True, slots=True)
class Preference:
    """One judge's choice between two answers, shown in the order `first`, `second`."""

    query_id: str
    judge: str
    first: str
    second: str
    winner: Winner
    confidence: float = math.nan

    @property
    def chosen(self) -> str | None:
        """The system that won; None for a tie."""
        return {"first": self.first, "second": self.second, "tie": None}[self.winner]


def read_judgements(path: str | Path) -> tuple[tuple[Score, ...], tuple[Preference, ...]]:
    """Read a file of judgements, one JSON object a line: with `winner` a preference, else a score.
    Lines that say why an answer is `unscored` hold no score and are left out.

    Raises AnswersError with every faulty line, and for a judgement that stands twice.
    """
    problems: list[str] = []
    scores: dict[tuple[str, ...], Score] = {}
    preferences: dict[tuple[str, ...], Preference] = {}
    for place, record in read_records(Path(path), problems, AnswersError):
        if record.get("unscored"):
            continue
        if "winner" in record:
            preference = _preference(record, place, problems)
            if preference is not None:
                key = (preference.query_id, preference.judge, preference.first, preference.second)
                _keep(preferences, key, preference, place, problems)
        else:
            score = _score(record, place, problems)
            if score is not None:
                key = (score.query_id, score.system, score.judge, score.criterion)
                _keep(scores, key, score, place, problems)
    if not scores and not preferences and not problems:
        problems.append(
            f'{path}: holds no judgement; expected lines like {{"query_id", "system", "judge", '
            f'"score"}} or {{"query_id", "judge", "first", "second", "winner"}}'
        )
    if problems:
        raise AnswersError(problems)
    ordered = tuple(scores[key] for key in sorted(scores))
    return ordered, tuple(preferences[key] for key in sorted(preferences))


def _keep(
    kept: dict[tuple[str, ...], T], key: tuple[str, ...], value: T, place: str, problems: list[str]
) -> None:
    if key in kept:
        problems.append(f"{place}: {', '.join(map(repr, key))} stands twice")
    kept[key] = value


def _score(record: dict[str, Any], place: str, problems: list[str]) -> Score | None:
    before = len(problems)
    _unknown(record, SCORE_KEYS, place, problems)
    query_id = identifier(record, "query_id", place, problems)
    names = {key: _text(record, key, place, problems) for key in ("system", "judge")}
    value, words = record.get("score"), record.get("words", -1)
    if not _is_number(value):
        problems.append(f"{place}: score is {value!r}; expected a finite number")
    if isinstance(words, bool) or not isinstance(words, int):
        problems.append(f"{place}: words is {words!r}; expected a whole number")
    confidence = _confidence(record.get("confidence"), place, problems)
    if len(problems) > before or query_id is None:
        return None
    criterion, generator = str(record.get("criterion", "")), str(record.get("generator", ""))
    return Score(
        query_id,
        names["system"],
        names["judge"],
        criterion,
        float(value),  # type: ignore[arg-type]  # checked to be a number
        confidence=confidence,
        generator=generator,
        words=words,
    )


def _preference(record: dict[str, Any], place: str, problems: list[str]) -> Preference | None:
    before = len(problems)
    _unknown(record, PREFERENCE_KEYS, place, problems)
    query_id = identifier(record, "query_id", place, problems)
    names = {key: _text(record, key, place, problems) for key in ("judge", "first", "second")}
    winner: Any = record.get("winner")
    if winner not in WINNERS:
        problems.append(f"{place}: winner is {winner!r}; expected 'first', 'second' or 'tie'")
    if names["first"] and names["first"] == names["second"]:
        problems.append(f"{place}: first and second are both {names['first']!r}")
    confidence = _confidence(record.get("confidence"), place, problems)
    if len(problems) > before or query_id is None:
        return None
    return Preference(
        query_id, names["judge"], names["first"], names["second"], winner, confidence=confidence
    )


def _unknown(
    record: dict[str, Any], keys: tuple[str, ...], place: str, problems: list[str]
) -> None:
    problems.extend(
        f"{place}: unknown key '{key}'{nearest(key, keys)}"
        for key in record
        if key not in keys and key not in KEPT_KEYS
    )


def _text(record: dict[str, Any], key: str, place: str, problems: list[str]) -> str:
    value = record.get(key)
    if isinstance(value, str) and value.strip():
        return value
    problems.append(f"{place}: {key} is {value!r}; expected a name")
    return ""


def _confidence(value: object, place: str, problems: list[str]) -> float:
    if value is None:
        return math.nan
    if _is_number(value) and 0 <= float(value) <= 1:  # type: ignore[arg-type]  # a number
        return float(value)  # type: ignore[arg-type]  # a number
    problems.append(f"{place}: confidence is {value!r}; expected a number from 0 to 1")
    return math.nan


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
