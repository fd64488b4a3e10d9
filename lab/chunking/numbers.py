"""The numbers that a setting may be: never true or false, never text, never infinite."""

import math
from numbers import Integral, Real
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

# Nothing that is counted in characters, words, tokens or hits comes near it, and it fits any array.
LARGEST = 1_000_000_000


def number(value: Any) -> float:
    """A finite number; numpy's count as well."""
    try:
        if not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value):
            return float(value)
    except OverflowError:  # a whole number of more than 308 digits
        pass
    raise ValueError("expected a finite number")


def whole(value: Any) -> int:
    """A whole number; 400.0 is one, for columns and arrays often hold it so."""
    if isinstance(value, int | Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise ValueError("expected a whole number")


def within(low: float, high: float, kind: str = "a number") -> AfterValidator:
    """Both ends included."""

    def check(value: float) -> float:
        if not low <= value <= high:
            raise ValueError(f"expected {kind} from {low:g} to {high:,.12g}")
        return value

    return AfterValidator(check)


Number = Annotated[float, BeforeValidator(number)]
UnitInterval = Annotated[Number, within(0, 1)]
Count = Annotated[int, BeforeValidator(whole), within(1, LARGEST, "a whole number")]
CountFromZero = Annotated[int, BeforeValidator(whole), within(0, LARGEST, "a whole number")]
