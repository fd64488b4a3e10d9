"""Finished runs as retrievers: a run file, or rankings that a script holds."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from lab.corpus.lines import identifier, note_repeat, read_records
from lab.corpus.names import Names
from lab.errors import CorpusError
from lab.pipeline.foreign.hits import Failure, Hit
from lab.pipeline.foreign.reply import Answer, Reply, reply_of
from lab.retrieval.trec_run import rankings_of, read_run

ABSENT = Failure("the run has no line for it", final=True, unlisted=True)


@dataclass(frozen=True, eq=False)
class GivenRun:
    """Rankings by query id that a script holds."""

    rankings: Mapping[str, Answer]

    @property
    def identity(self) -> str:
        plain = json.dumps(sorted((key, repr(reply)) for key, reply in self.rankings.items()))
        return f"python run {hashlib.sha256(plain.encode()).hexdigest()}"

    def answers(self, questions: Mapping[str, str], depth: int) -> Iterator[tuple[str, Answer]]:
        names = Names(self.rankings)
        for query_id in questions:
            name = names.find(query_id)
            yield query_id, ABSENT if name is None else self.rankings[name]


@dataclass(frozen=True)
class RunFile:
    """A finished run. A TREC file is ordered as trec_eval orders it: by score as float32, then by
    document id descending, the rank column unread; JSON lines `{"query_id", "hits": [...]}` or
    `{"query_id", "stages": [...]}` keep the order of their hits. Question ids may be
    percent-encoded, as `lab export` writes those with blanks, and in any Unicode normal form."""

    path: Path

    @cached_property
    def identity(self) -> str:
        try:
            return f"run {self.path.name} {hashlib.sha256(self.path.read_bytes()).hexdigest()}"
        except OSError as fault:
            raise CorpusError(f"{self.path}: cannot be read ({fault.strerror})") from None

    @cached_property
    def rankings(self) -> dict[str, Answer]:
        """Every query of the file. Raises CorpusError with every bad line."""
        return self._json() if self.path.suffix == ".jsonl" else self._trec()

    def answers(self, questions: Mapping[str, str], depth: int) -> Iterator[tuple[str, Answer]]:
        decoded = {unquote(query_id): answer for query_id, answer in self.rankings.items()}
        return GivenRun(decoded | self.rankings).answers(questions, depth)

    def _trec(self) -> dict[str, Answer]:
        return {
            query_id: Reply(tuple(map(Hit, ranking)))
            for query_id, ranking in rankings_of(read_run(self.path)).items()
        }

    def _json(self) -> dict[str, Answer]:
        problems: list[str] = []
        answers: dict[str, Answer] = {}
        seen: dict[str, str] = {}
        for place, record in read_records(self.path, problems, CorpusError):
            query_id = identifier(record, "query_id", place, problems)
            reply = reply_of(record)
            if isinstance(reply, Failure):
                problems.append(f"{place}: {reply.reason}")
            elif query_id is not None:
                note_repeat(place, "query_id", query_id, seen, problems)
                answers[query_id] = reply
        if problems:
            raise CorpusError(problems)
        return answers
