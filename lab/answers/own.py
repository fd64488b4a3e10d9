"""Own measures of answers: a function or class of the user's, given one answer at a time."""

import inspect
import math
from collections.abc import Callable, Iterable
from typing import Any

from lab.answers.case import Case
from lab.config.own_metrics import load_function
from lab.errors import ConfigError

AnswerMeasure = Callable[[Case], float | None]


def named(measures: Iterable[AnswerMeasure], known: Iterable[str]) -> dict[str, AnswerMeasure]:
    """Measures by name: a function's own, or the `name` of an object. Raises ConfigError for those
    that cannot be told apart from each other or from the lab's."""
    by_name: dict[str, AnswerMeasure] = {}
    problems = []
    for measure in measures:
        name = getattr(measure, "name", getattr(measure, "__name__", ""))
        if not isinstance(name, str) or not name.isidentifier():
            problems.append(
                f"measure {measure!r} has no name; expected a function made with def, or a "
                "class with a `name`"
            )
        elif name in by_name or name in known:
            problems.append(f"measure '{name}' is there already; expected another name")
        else:
            by_name[name] = measure
    if problems:
        raise ConfigError(problems)
    return by_name


def load_measures(places: Iterable[str]) -> list[AnswerMeasure]:
    """Run files and give what is named in each, `file.py:name`; a class is built without
    arguments, once. Raises ConfigError."""
    return [_built(place, load_function(place)) for place in places]


def _built(place: str, defined: Any) -> AnswerMeasure:
    if not inspect.isclass(defined):
        return defined  # type: ignore[no-any-return]  # any callable of the user's
    try:
        built: Any = defined()
    except Exception as fault:
        raise ConfigError(
            f"measure '{place}' cannot be built: {type(fault).__name__}: {fault}"
        ) from fault
    if not callable(built):
        raise ConfigError(f"measure '{place}' cannot be called; expected a class with __call__")
    return built  # type: ignore[no-any-return]  # any callable of the user's


def measured_by(name: str, measure: AnswerMeasure, case: Case) -> float | None:
    """What a measure says of one answer, None where it cannot be counted. Raises ConfigError when
    it fails, or for anything but a number in [0, 1]."""
    where = f"measure '{name}' on '{case.query_id}' ({case.system})"
    try:
        value = measure(case)
    except Exception as fault:
        raise ConfigError(f"{where} failed: {type(fault).__name__}: {fault}") from fault
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= 1:
        raise ConfigError(f"{where} gave {value!r}; expected a number from 0 to 1, or None"[:500])
    return number
