"""Foreign retrievers: systems that are asked, not built, and what to do when they do not answer."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from lab.errors import ConfigError
from lab.pipeline.foreign.hits import Failure, Hit
from lab.pipeline.foreign.reply import Answer, Call, parse_reply

# Seconds before the first repetition; every further one waits twice as long.
PAUSE = 0.2
# Above this share of questions without an answer a system's means say nothing about it: it is not
# comparable, and left out of every choice.
MOST_FAILED = 0.1


class Retriever(Protocol):
    """A retriever as a Python object."""

    def search(self, queries: Sequence[str], depth: int) -> Sequence[Any]:
        """For every question at most `depth` results, best first: Hits, mappings with Hit's keys,
        document ids, `(id, score)` pairs, or a mapping of ids to scores; or a Reply, or a mapping
        with `stages` (see `lab.pipeline.foreign.reply.parse_reply`)."""


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
    """What one retriever answered, by query id: the `hits`, and the `calls` of those whose stages
    can be seen. `failed` holds the last reason of every question without an answer, `unlisted`
    those of them that a finished run has no line for."""

    hits: dict[str, tuple[Hit, ...]] = field(default_factory=dict)
    calls: dict[str, tuple[Call, ...]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    unlisted: set[str] = field(default_factory=set)
    retried: int = 0

    @property
    def incomparable(self) -> str | None:
        """Why its means cannot be compared: too many questions failed. None where they can. What a
        finished run does not list was returned as nothing, and is judged so."""
        failed, asked = len(self.failed) - len(self.unlisted), len(self.failed) + len(self.hits)
        if failed <= MOST_FAILED * asked:
            return None
        return f"{failed} of {asked} questions failed, more than {MOST_FAILED:.0%}"


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
        hits={query_id: () for query_id, text in questions.items() if not text.strip()}
    )
    advance(len(answers.hits))
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
            if query_id not in pending or query_id in answers.hits:
                continue
            if isinstance(answer, Failure):
                answers.failed[query_id] = answer.reason
                answers.unlisted |= {query_id} if answer.unlisted else set()
                final |= {query_id} if answer.final else set()
                continue
            answers.hits[query_id] = answer.first(depth).hits
            if answer.calls:
                answers.calls[query_id] = answer.calls
            answers.failed.pop(query_id, None)
            advance(1)
        pending = {
            query_id: text
            for query_id, text in pending.items()
            if query_id in answers.failed and query_id not in final
        }
    advance(len(answers.failed))
    return answers


def serve(retriever: Retriever) -> None:
    """Answer as a `command` retriever does: questions as JSON lines from standard input, rankings
    as JSON lines to standard output, each as soon as it is found."""
    for line in sys.stdin:
        asked = json.loads(line)
        reply = parse_reply(retriever.search([asked["query"]], asked["depth"])[0])
        if isinstance(reply, Failure):
            raise ConfigError(reply.reason)
        print(json.dumps({"query_id": asked["query_id"], **reply.record}), flush=True)
