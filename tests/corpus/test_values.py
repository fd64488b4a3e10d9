"""Values: one reading of a number, a date and a grade for filters, features and judgements."""

from datetime import UTC, datetime
from typing import Any

import pytest

from lab.corpus.document import Corpus, Document
from lab.corpus.filter import Fields, Filter
from lab.corpus.values import grade, moment, number
from lab.errors import ConfigError
from lab.retrieval.features import feature


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("12", 12),
        (" -0.5 ", -0.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        (7, 7),
        (2.5, 2.5),
        (True, None),
        (False, None),
        ("1_000", None),
        ("0x10", None),
        ("inf", None),
        ("nan", None),
        ("1e400", None),
        (float("nan"), None),
        (float("inf"), None),
        ("9" * 301, None),
        (10**400, None),
        ("", None),
        (None, None),
        ([2], None),
        ("2024-05", None),
    ],
)
def test_numbers(value: Any, read: float | None) -> None:
    assert number(value) == read
    assert type(number(value)) is type(read)


@pytest.mark.parametrize(
    ("text", "time", "precision"),
    [
        ("2024-05", datetime(2024, 5, 1, tzinfo=UTC), "month"),
        ("2024-05-03", datetime(2024, 5, 3, tzinfo=UTC), "day"),
        ("2024-05-03T10:00", datetime(2024, 5, 3, 10, tzinfo=UTC), "time"),
        ("2024-05-03 10:00:30.5+02:00", datetime(2024, 5, 3, 8, 0, 30, 500000, UTC), "time"),
    ],
)
def test_dates(text: str, time: datetime, precision: str) -> None:
    read = moment(text)
    assert read is not None
    assert (read.time, read.precision) == (time, precision)


@pytest.mark.parametrize(
    "text", ["2024-13", "2023-02-30", "2024-W05-1", "2024", "0001-01-01T00:00+02:00"]
)
def test_what_is_no_date(text: str) -> None:
    assert moment(text) is None


@pytest.mark.parametrize(
    ("value", "read"),
    [("1", 1), ("1.0", 1), ("2e0", 2), ("-1", -1), ("1000", 1000), ("1001", None), ("0.5", None)],
)
def test_grades(value: str, read: int | None) -> None:
    assert grade(value) == read


@pytest.mark.parametrize(
    ("value", "kind"),
    [("2024-05", "date"), ("1_000", "text"), ("2024-W05-1", "text"), ("1e3", "number")],
)
def test_filters_and_features_read_the_same_value_alike(value: str, kind: str) -> None:
    corpus = Corpus([Document("a", "x", metadata={"f": value}), Document("b", "y")])
    assert set(Fields(corpus).kinds["f"]) == {kind}
    if kind == "text":
        with pytest.raises(ConfigError, match="expected a number or an ISO date"):
            feature(corpus, "f")
    else:
        assert feature(corpus, "f")[0] == 1.0


@pytest.mark.parametrize(
    ("condition", "passing"),
    [
        ({"lte": "2024-05"}, ["a", "b", "c"]),
        ({"gt": "2024-05"}, ["d"]),
        ({"gte": "2024-05-02"}, ["c", "d"]),
        ({"lt": "2024-05-01"}, ["a"]),
    ],
)
def test_beside_a_month_a_day_counts_as_its_month(
    condition: dict[str, str], passing: list[str]
) -> None:
    dates = {"a": "2024-04-30", "b": "2024-05", "c": "2024-05-31T23:00", "d": "2024-06"}
    wanted = Filter.of({"date": condition})
    assert [name for name, date in dates.items() if wanted.passes({"date": date})] == passing
