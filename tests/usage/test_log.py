"""Logs are read whole or refused with every line that is wrong."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lab.errors import LabWarning, UsageError
from lab.usage.log import read_log


def written(file: Path, lines: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return file


def test_own_log(tmp_path: Path) -> None:
    lines = [
        {
            "ts": "2026-05-31T10:00:00+02:00",
            "query": "mail me at a@b.org: 泵怎么重启？",
            "hits": ["d1", {"doc_id": "d2", "score": 3}, 7],
            "clicks": ["7", "d2"],
            "satisfaction": "0.5",
            "user_agent": "passed over",
        },
        {"ts": 1780221600, "query": "seconds"},
        {"ts": 1780221600123, "query": "milliseconds"},
        {"query": "no time"},
    ]
    first, seconds, milliseconds, timeless = read_log([written(tmp_path / "log.jsonl", lines)])
    assert first.query == "mail me at [email]: 泵怎么重启？"
    assert first.time == datetime(2026, 5, 31, 8, tzinfo=UTC)
    assert (first.hits, first.clicks, first.satisfaction) == (("d1", "d2", "7"), (2, 3), 0.5)
    assert seconds.time == datetime(2026, 5, 31, 10, tzinfo=UTC)
    assert milliseconds.time == datetime(2026, 5, 31, 10, 0, 0, 123000, UTC)
    assert timeless.time is None


def ubi(tmp_path: Path) -> tuple[Path, Path]:
    """Two searches as OpenSearch keeps them, one wrapped as an export has it."""
    search = {"client_id": "c", "timestamp": "2026-05-31T10:00:00.000Z"}
    queries = [
        search | {"query_id": "a", "user_query": "pump", "query_response_hit_ids": ["1", "2"]},
        {
            "_index": "ubi_queries",
            "_source": search
            | {"query_id": "b", "user_query": "seal", "query_response_hit_ids": ["3", "1"]},
        },
    ]

    def event(query_id: str, object_id: object, action: str = "click") -> dict[str, Any]:
        position = {"ordinal": 99}  # counts as the application likes
        attributes = {"object": {"object_id": object_id}, "position": position}
        return {"action_name": action, "query_id": query_id, "event_attributes": attributes}

    events = [event("a", "2"), event("b", 3), event("b", "1", "impression"), event("a", "2")]
    return written(tmp_path / "q.jsonl", queries), written(tmp_path / "e.jsonl", events)


def test_ubi(tmp_path: Path) -> None:
    queries, events = ubi(tmp_path)
    for order in ([queries, events], [events, queries]):
        pump, seal = read_log(order)
        assert (pump.query, pump.hits, pump.clicks) == ("pump", ("1", "2"), (2,))
        assert (seal.query, seal.clicks) == ("seal", (1,))
        assert pump.time == datetime(2026, 5, 31, 10, tzinfo=UTC)


def test_ubi_clicks_of_another_page_are_told(tmp_path: Path) -> None:
    queries, events = ubi(tmp_path)
    click = {"object": {"object_id": "elsewhere"}}
    line = {"action_name": "click", "query_id": "a", "event_attributes": click}
    events.write_text(events.read_text() + json.dumps(line) + "\n")
    with pytest.warns(LabWarning, match="1 of 4 clicks are on documents that are not among"):
        read_log([queries, events])


def test_ubi_refused(tmp_path: Path) -> None:
    queries, events = ubi(tmp_path)
    with pytest.raises(UsageError, match=r"click of query 'a', which no file holds \(3 such"):
        read_log([events, written(tmp_path / "own.jsonl", [{"query": "x"}])])
    with pytest.raises(UsageError, match="no event is called 'tap'; found click"):
        read_log([queries, events], "tap")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"ts": "2026-05-31"}, "'query' is missing"),
        ({"query": "  "}, "'query' is blank"),
        ({"query": 5}, "'query' is no text"),
        ({"query": "x", "ts": "yesterday"}, "'ts' is 'yesterday'"),
        ({"query": "x", "hits": "d1"}, "'hits' is no list"),
        ({"query": "x", "hits": ["d1", "d1"]}, "twice"),
        ({"query": "x", "hits": ["d1"], "clicks": ["d2"]}, "'d2', which is not among the hits"),
        ({"query": "x", "satisfaction": 5}, "expected 0 to 1"),
    ],
)
def test_refused(tmp_path: Path, line: dict[str, Any], reason: str) -> None:
    file = written(tmp_path / "log.jsonl", [{"query": "fine"}, line])
    with pytest.raises(UsageError, match=reason) as caught:
        read_log([file])
    assert caught.value.problems[0].startswith(f"{file}:2: ")


def test_all_problems_at_once(tmp_path: Path) -> None:
    file = written(tmp_path / "log.jsonl", [{"q": "x"}, {"query": "x", "ts": True}, {"query": ""}])
    with pytest.raises(UsageError) as caught:
        read_log([file])
    assert len(caught.value.problems) == 3
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(UsageError, match="holds no question"):
        read_log([empty])
