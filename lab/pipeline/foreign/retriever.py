"""Foreign retrievers: systems that are asked, not built; what they answer, and what to do when they
do not."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from lab.errors import ConfigError

# Seconds before the first repetition; every further one waits twice as long.
PAUSE = 0.2


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a foreign retriever, found again in the corpus by `doc_id` and offsets, by
    `doc_id` and text, by text alone, or, with a `doc_id` alone, as the whole document."""

    doc_id: str | None = None
    start: int | None = None
    end: int | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a question got no answer; a `final` one is not asked again."""

    reason: str
    final: bool = False


Answer = tuple[Hit, ...] | Failure


class Retriever(Protocol):
    """A retriever as a Python object."""

    def search(self, queries: Sequence[str], depth: int) -> Sequence[Sequence[Any]]:
        """For every question at most `depth` results, best first: Hits, mappings with Hit's keys,
        or document ids."""


class Source(Protocol):
    """A way to ask: `answers` yields (query_id, answer); questions that it skips count as
    failed."""

    @property
    def identity(self) -> str:
        """What is asked, as the run folder records it."""

    def answers(self, questions: Mapping[str, str], depth: int) -> Iterator[tuple[str, Answer]]:
        """Answers as they come. Raises LabError when nothing can be asked at all."""


@dataclass
class Answers:
    """What one retriever answered, by query id; `failed` holds the last reason of every question
    without an answer."""

    found: dict[str, tuple[Hit, ...]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    retried: int = 0


def ask(
    source: Source,
    questions: Mapping[str, str],
    depth: int,
    retries: int,
    advance: Callable[[int], None] = lambda steps: None,
) -> Answers:
    """Ask every question, the failed ones again up to `retries` times. Blank questions are not
    asked: they find nothing."""
    answers = Answers(
        found={query_id: () for query_id, text in questions.items() if not text.strip()}
    )
    advance(len(answers.found))
    pending = {query_id: text for query_id, text in questions.items() if text.strip()}
    for attempt in range(retries + 1):
        if not pending:
            break
        if attempt:
            time.sleep(PAUSE * 2 ** (attempt - 1))
            answers.retried += len(pending)
        answers.failed |= dict.fromkeys(pending, "no answer was given")
        final: set[str] = set()
        for query_id, answer in source.answers(pending, depth):
            if query_id not in pending or query_id in answers.found:
                continue
            if isinstance(answer, Failure):
                answers.failed[query_id] = answer.reason
                final |= {query_id} if answer.final else set()
                continue
            answers.found[query_id] = answer[:depth]
            answers.failed.pop(query_id, None)
            advance(1)
        pending = {
            query_id: text
            for query_id, text in pending.items()
            if query_id in answers.failed and query_id not in final
        }
    advance(len(answers.failed))
    return answers


def parse_hits(value: Any) -> Answer:
    """Hits from what a retriever gave: a list of Hits, objects with Hit's keys, or document ids."""
    if isinstance(value, Mapping) and "hits" in value:
        value = value["hits"]
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        return Failure(f"answer is a {type(value).__name__}; expected a list of hits", final=True)
    hits = [_hit(item) for item in value]
    bad = next((item for item, hit in zip(value, hits, strict=True) if hit is None), None)
    if None in hits:
        return Failure(
            f"hit {str(bad)[:80]!r}; expected doc_id (text), start and end (whole numbers) or text",
            final=True,
        )
    return tuple(hit for hit in hits if hit is not None)


def _hit(item: Any) -> Hit | None:
    if isinstance(item, Hit):
        return item
    if isinstance(item, str):
        return Hit(item)
    if not isinstance(item, Mapping):
        return None
    doc_id, start, end, text = (item.get(key) for key in ("doc_id", "start", "end", "text"))
    doc_id = str(doc_id) if _whole(doc_id) else doc_id
    if not all(word is None or isinstance(word, str) for word in (doc_id, text)) or not (
        doc_id or text
    ):
        return None
    if not all(number is None or _whole(number) for number in (start, end)) or (start is None) != (
        end is None
    ):
        return None
    return Hit(doc_id, start, end, text)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def serve(retriever: Retriever) -> None:
    """Answer as a `command` retriever does: questions as JSON lines from standard input, rankings
    as JSON lines to standard output, each as soon as it is found."""
    for line in sys.stdin:
        asked = json.loads(line)
        ranking = parse_hits(retriever.search([asked["query"]], asked["depth"])[0])
        if isinstance(ranking, Failure):
            raise ConfigError(ranking.reason)
        hits = [
            {key: value for key, value in asdict(hit).items() if value is not None}
            for hit in ranking
        ]
        print(json.dumps({"query_id": asked["query_id"], "hits": hits}), flush=True)
