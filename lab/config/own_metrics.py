"""Own metrics of an experiment: functions in Python files, which run only if allowed to."""

import runpy
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lab.errors import ConfigError, nearest
from lab.evaluation.metrics import PYTHON
from lab.evaluation.own import OwnMetric


def function_name(place: str) -> str:
    """The function of `file.py:name`; raises ConfigError when it is not written so."""
    file, _, name = place.rpartition(":")
    if not file.endswith(".py") or not name.isidentifier():
        raise ConfigError(f"measure.python is {place!r}; expected 'file.py:name', a function in it")
    return name


def taken_out(metrics: Any) -> tuple[dict[str, OwnMetric], list[Any]]:
    """The functions among metrics by name, and the metrics with their names instead. Raises
    ConfigError for functions that cannot be told apart by name."""
    functions: dict[str, OwnMetric] = {}
    named: list[Any] = []
    for metric in metrics if isinstance(metrics, list | tuple) else ():
        if not callable(metric):
            named.append(metric)
            continue
        name = getattr(metric, "__name__", "")
        if not name.isidentifier() or name in functions:
            raise ConfigError(
                f"measure.metrics: {metric!r} has no name of its own; expected a function that was "
                "defined with def, each of another name"
            )
        functions[name] = metric
        named.append(PYTHON + name)
    return functions, named


def load_function(place: str) -> OwnMetric:
    """Run a file and give its function. Raises ConfigError when the file cannot be run or has no
    such function."""
    name, file = function_name(place), Path(place.rpartition(":")[0])
    try:
        defined: dict[str, Any] = runpy.run_path(str(file))
    except Exception as fault:
        raise ConfigError(
            f"measure.python '{place}' cannot be run: {type(fault).__name__}: {fault}"
        ) from fault
    function: Callable[..., Any] | None = defined.get(name)
    if not callable(function):
        known = [key for key, value in defined.items() if callable(value) and key[0] != "_"]
        raise ConfigError(f"measure.python: {file} has no function '{name}'{nearest(name, known)}")
    return function


def refuse_python(places: Iterable[str]) -> None:
    """Raise ConfigError that names every file: an experiment from elsewhere must not run code
    unasked."""
    named = [f"measure.python runs the code of {place.rpartition(':')[0]}" for place in places]
    if named:
        raise ConfigError([*named, "nothing was run; add --allow-commands if you trust this file"])
