"""Axis: the values that one setting of a grid takes, however they were given."""

import itertools
import math
import os
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator

T = TypeVar("T")

# More values of one setting are a slip (a step of 1e-9), and a sweep of them would never end.
MOST_VALUES = 1_000
RANGE_KEYS = {"start", "stop", "step"}
# A set has no order, so a grid of it would not be the same twice.
NOT_SEVERAL = (str, bytes, set, frozenset, BaseModel)


def values_of(given: Any) -> tuple[Any, ...]:
    """One value, several (a list, a tuple, a range, an array, a column), or {start, stop, step}:
    always a tuple of plain values. A list inside it is one value of several parts."""
    value = plain(given)
    if isinstance(value, dict) and set(value) == RANGE_KEYS:
        value = _steps(value)
    if not isinstance(value, list):
        return (value,)
    if not value:
        raise ValueError("expected at least one value")
    return tuple(tuple(part) if isinstance(part, list) else part for part in value)


def plain(value: Any) -> Any:
    """The value as Python's own: arrays, columns, ranges and tuples as lists, numpy's numbers as
    numbers, paths as text. Numbers keep the 12 digits that names print, so that 0.1 + 0.2 is 0.3
    and two values never share a name."""
    if hasattr(value, "tolist"):  # numpy and pandas, arrays and single numbers alike
        value = value.tolist()
    if isinstance(value, float) and math.isfinite(value):
        return float(f"{value:.12g}")
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, NOT_SEVERAL):
        # One more than there may be is enough to refuse it, and an endless one ends.
        parts = list(itertools.islice(value, MOST_VALUES + 1))
        if len(parts) > MOST_VALUES:
            raise ValueError(f"expected at most {MOST_VALUES:,} values")
        return [plain(part) for part in parts]
    return value


def _steps(value: Mapping[str, Any]) -> list[Any]:
    start, stop, step = (value[key] for key in ("start", "stop", "step"))
    numbers = all(
        isinstance(part, int | float) and not isinstance(part, bool) and math.isfinite(part)
        for part in (start, stop, step)
    )
    if not numbers or not step > 0 or not start <= stop:
        raise ValueError(
            "expected finite numbers with start <= stop and step > 0, like "
            "{start = 0.0, stop = 1.0, step = 0.1}"
        )
    if (stop - start) / step >= MOST_VALUES:
        raise ValueError(f"expected at most {MOST_VALUES:,} values; take a larger step")
    count = int((stop - start) / step + 1e-9) + 1
    # Rounding keeps 0.30000000000000004 out of names and tables.
    return [round(start + place * step, 10) for place in range(count)]


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


Axis = Annotated[tuple[T, ...], BeforeValidator(values_of), AfterValidator(_distinct)]


def feature_cells(given: Any) -> tuple[Any, ...]:
    """One mapping of metadata fields to weights or several; in each a field may have several
    weights, whose product is swept."""
    value = plain(given)
    cells: list[Any] = []
    for table in value if isinstance(value, list) else [value]:
        if not isinstance(table, dict):
            cells.append(table)
            continue
        axes = {name: values_of(weights) for name, weights in table.items()}
        if math.prod(map(len, axes.values())) > MOST_VALUES:
            raise ValueError(f"expected at most {MOST_VALUES:,} combinations of weights")
        cells.extend(
            dict(zip(axes, cell, strict=True)) for cell in itertools.product(*axes.values())
        )
    if not cells:
        raise ValueError("expected at least one value")
    if len(cells) > MOST_VALUES:
        raise ValueError(f"expected at most {MOST_VALUES:,} combinations of weights")
    return tuple(cells)


FeaturesAxis = Annotated[tuple[T, ...], BeforeValidator(feature_cells), AfterValidator(_distinct)]
