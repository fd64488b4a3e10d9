"""OpenSearch's User Behavior Insights (schema 1.3): queries with the ids of their hits, and the
events that belong to them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from warnings import warn

from lab.errors import LabWarning


def is_query(line: Mapping[str, Any]) -> bool:
    """Whether a record is one of `ubi_queries`."""
    return "user_query" in line or "query_response_hit_ids" in line


def is_event(line: Mapping[str, Any]) -> bool:
    """Whether a record is one of `ubi_events`."""
    return "action_name" in line


@dataclass(slots=True)
class Events:
    """Events and the questions they belong to, by `query_id`. Clicks are the events called
    `action`; the place of a click is that of its object among the hits of the query, for
    `position.ordinal` counts from 0 in some applications and from 1 in others."""

    action: str
    actions: Counter[str] = field(default_factory=Counter)
    clicks: list[tuple[str, str, str]] = field(default_factory=list)
    queries: dict[str, int | None] = field(default_factory=dict)

    def add(self, line: Mapping[str, Any], place: str, problems: list[str]) -> None:
        """Take in one event; what is wrong with a click goes to `problems`."""
        self.actions[str(line["action_name"])] += 1
        if line["action_name"] != self.action:
            return
        attributes = line.get("event_attributes")
        thing = attributes.get("object") if isinstance(attributes, dict) else None
        object_id = thing.get("object_id") if isinstance(thing, dict) else None
        query_id = line.get("query_id")
        if not isinstance(query_id, str) or not isinstance(object_id, str | int):
            problems.append(
                f"{place}: a click without 'query_id' or 'event_attributes.object.object_id'; "
                "expected both"
            )
            return
        self.clicks.append((place, query_id, str(object_id)))

    def note_query(
        self, line: Mapping[str, Any], number: int | None, place: str, problems: list[str]
    ) -> None:
        """Remember which question of the log a `query_id` is; None for a search without words, as
        of a filter alone, which asks nothing."""
        query_id = line.get("query_id")
        if not isinstance(query_id, str):
            problems.append(f"{place}: 'query_id' is {query_id!r}; expected that of a search")
        elif query_id in self.queries:
            problems.append(f"{place}: query_id '{query_id}' stands twice; expected one search")
        else:
            self.queries[query_id] = number

    def clicked(
        self, hits: Mapping[int, Sequence[str]], problems: list[str]
    ) -> dict[int, list[int]]:
        """Question -> clicked ranks from 1. Clicks on what is not among the query's hits (another
        page of results) count for nothing; those of queries that no file holds are problems."""
        if self.actions and not self.clicks:
            known = ", ".join(f"{name} ({count})" for name, count in self.actions.most_common(10))
            problems.append(
                f"no event is called '{self.action}'; found {known}; name yours with --action"
            )
        wordless = sum(number is None for number in self.queries.values())
        if wordless:
            _tell(f"{wordless} of {len(self.queries)} searches have no words; they are left out")
        ranks: dict[int, list[int]] = {}
        elsewhere = 0
        lost = [click for click in self.clicks if click[1] not in self.queries]
        if lost:
            problems.append(
                f"{lost[0][0]}: click of query '{lost[0][1]}', which no file holds ({len(lost)} "
                "such clicks); name the files of ubi_queries and of ubi_events together"
            )
        for _, query_id, object_id in self.clicks:
            number = self.queries.get(query_id)
            if number is not None and object_id in hits[number]:
                ranks.setdefault(number, []).append(hits[number].index(object_id) + 1)
            elsewhere += number is not None and object_id not in hits[number]
        if elsewhere:
            _tell(
                f"{elsewhere} of {len(self.clicks)} clicks are on documents that are not among "
                "the hits of their query (another page?); they count for nothing"
            )
        return ranks


def _tell(message: str) -> None:
    warn(message, LabWarning, stacklevel=3)
