"""Values: what a number, a date and a grade look like in metadata, filters, features, judgements
and runs. One reading of each, whoever asks."""

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal

Precision = Literal["month", "day", "time"]

# Up to 300 digits: more is no value that anyone meant, and whole numbers of any length take
# quadratic time to read.
WHOLE = re.compile(r"[+-]?\d{1,300}")
NUMBER = re.compile(r"[+-]?(?:\d{1,300}(?:\.\d{0,300})?|\.\d{1,300})(?:[eE][+-]?\d{1,3})?")
DATE = re.compile(
    r"(?P<month>\d{4}-\d{2})(?P<day>-\d{2}(?P<time>[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?"
    r"(?:Z|[+-]\d{2}:?\d{2})?)?)?",
    re.ASCII,
)
# Gains grow with the grade, in `ndcg_burges` as 2^grade: beyond this they leave the floats.
LARGEST_GRADE = 1000


@dataclass(frozen=True, slots=True)
class Moment:
    """A date in ISO 8601 as a time in UTC, and how much of it was said: a month and a day stand for
    their beginning."""

    time: datetime
    precision: Precision

    def at(self, precision: Precision) -> datetime:
        """Its time, or the beginning of its day or month."""
        if precision == "time":
            return self.time
        midnight = self.time.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight.replace(day=1) if precision == "month" else midnight


def number(value: Any) -> int | float | None:
    """A number, or text that is one (`12`, `-0.5`, `1e3`); None for anything else, yes and no and
    what is not finite among it."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value if _finite(value) else None
    text = value.strip() if isinstance(value, str) else ""
    if NUMBER.fullmatch(text) is None:
        return None
    read = int(text) if WHOLE.fullmatch(text) else float(text)
    return read if _finite(read) else None


def _finite(value: int | float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond the floats
        return False


def moment(value: Any) -> Moment | None:
    """A date (`2024-05-01`), a month (`2024-05`) or a time of a day, without a zone in UTC;
    None for anything else."""
    return _moment(value) if isinstance(value, str) else None


@lru_cache(maxsize=100_000)
def _moment(text: str) -> Moment | None:
    match = DATE.fullmatch(text.strip())
    if match is None:
        return None
    try:
        read = datetime.fromisoformat(match.group() if match["day"] else f"{match['month']}-01")
        time = read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
    except (ValueError, OverflowError):  # the 30th of February; the year 1 in another zone
        return None
    return Moment(time, "time" if match["time"] else "day" if match["day"] else "month")


def grade(value: Any) -> int | None:
    """A grade of relevance: a whole number, `1.0` and `1e0` as well, within +-1000; None for
    anything else."""
    read = number(value)
    if read is None or abs(read) > LARGEST_GRADE or read != int(read):
        return None
    return int(read)


GRADE = f"expected a whole number from -{LARGEST_GRADE} to {LARGEST_GRADE}"
