"""The four ways to ask a foreign retriever: a run file, an HTTP endpoint, a command, a Python
object."""

import contextlib
import hashlib
import http.client
import json
import os
import queue
import shlex
import signal
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

from lab.config.retriever import TIMEOUT_SECONDS, RetrieverConfig
from lab.corpus.lines import identifier, note_repeat, read_records
from lab.errors import ConfigError, CorpusError
from lab.pipeline.foreign.retriever import Answer, Failure, Hit, Retriever, Source, parse_hits
from lab.retrieval.trec_run import rankings_of, read_run

# Bytes read of one HTTP answer.
LARGEST = 50_000_000


def source_of(retriever: Retriever | RetrieverConfig) -> Source:
    """How this retriever is asked."""
    if not isinstance(retriever, RetrieverConfig):
        return PythonSource(retriever, TIMEOUT_SECONDS)
    if retriever.run is not None:
        return RunFile(retriever.run)
    if retriever.url is not None:
        return HttpSource(retriever.url, retriever.timeout_seconds)
    return CommandSource(str(retriever.command), retriever.timeout_seconds)


@dataclass(frozen=True)
class RunFile:
    """A finished run. A TREC file is ordered as trec_eval orders it: by score as float32, then by
    document id descending, the rank column unread; JSON lines `{"query_id", "hits": [...]}` keep
    the order of their hits. Question ids may be percent-encoded, as `lab export` writes those with
    blanks."""

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
        for query_id in questions:
            absent = decoded.get(query_id, Failure("the run has no line for it", final=True))
            yield query_id, self.rankings.get(query_id, absent)

    def _trec(self) -> dict[str, Answer]:
        return {
            query_id: tuple(map(Hit, ranking))
            for query_id, ranking in rankings_of(read_run(self.path)).items()
        }

    def _json(self) -> dict[str, Answer]:
        problems: list[str] = []
        found: dict[str, Answer] = {}
        seen: dict[str, str] = {}
        for place, record in read_records(self.path, problems, CorpusError):
            query_id = identifier(record, "query_id", place, problems)
            hits = parse_hits(record.get("hits"))
            if isinstance(hits, Failure):
                problems.append(f"{place}: {hits.reason}")
            elif query_id is not None:
                note_repeat(place, "query_id", query_id, seen, problems)
                found[query_id] = hits
        if problems:
            raise CorpusError(problems)
        return found


@dataclass(frozen=True)
class HttpSource:
    """An endpoint that takes a POST of `{"query_id", "query", "depth"}` and answers `{"hits":
    [...]}`, a question each."""

    url: str
    timeout_seconds: float

    @property
    def identity(self) -> str:
        return f"url {self.url}"

    def answers(self, questions: Mapping[str, str], depth: int) -> Iterator[tuple[str, Answer]]:
        for query_id, text in questions.items():
            yield query_id, self._answer(query_id, text, depth)

    def _answer(self, query_id: str, text: str, depth: int) -> Answer:
        body = json.dumps({"query_id": query_id, "query": text, "depth": depth}).encode()
        request = urllib.request.Request(self.url, body, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=self.timeout_seconds) as response:
                return parse_hits(json.loads(response.read(LARGEST)))
        except urllib.error.HTTPError as fault:
            # The server has understood and refuses: asking again changes nothing, save when it is
            # only busy.
            return Failure(
                f"HTTP {fault.code} {fault.reason}", final=fault.code < 500 and fault.code != 429
            )
        except TimeoutError:
            return Failure(f"no answer within {self.timeout_seconds:g} s")
        except (OSError, http.client.HTTPException) as fault:
            return Failure(str(getattr(fault, "reason", None) or fault or type(fault).__name__))
        except (ValueError, RecursionError) as fault:
            return Failure(f"answer is not JSON ({fault})")


@dataclass(frozen=True)
class CommandSource:
    """A program, run without a shell: questions go in as JSON lines `{"query_id", "query",
    "depth"}`, rankings come out as JSON lines `{"query_id", "hits": [...]}`. It may take
    `timeout_seconds` for the next line; then it is ended."""

    command: str
    timeout_seconds: float

    @property
    def identity(self) -> str:
        return f"command {self.command}"

    def answers(self, questions: Mapping[str, str], depth: int) -> Iterator[tuple[str, Answer]]:
        left = dict.fromkeys(questions)
        with tempfile.TemporaryFile() as complaints:
            process = self._start(complaints)
            try:
                lines = self._talk(process, questions, depth)
                reason = None
                while left and reason is None:
                    try:
                        line = lines.get(timeout=self.timeout_seconds)
                    except queue.Empty:
                        reason = f"no answer within {self.timeout_seconds:g} s"
                        continue
                    if line is None:
                        reason = (
                            f"the command ended with code {process.wait()}{_last_words(complaints)}"
                        )
                        continue
                    query_id, answer = _answer_line(line)
                    left.pop(query_id, None)
                    yield query_id, answer
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for query_id in left:
            yield query_id, Failure(str(reason))

    def _start(self, complaints: IO[bytes]) -> "subprocess.Popen[bytes]":
        try:
            words = shlex.split(self.command)
            return subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,
            )
        except (OSError, ValueError) as fault:
            raise ConfigError(f"command '{self.command}' cannot be started ({fault})") from None

    @staticmethod
    def _talk(
        process: "subprocess.Popen[bytes]", questions: Mapping[str, str], depth: int
    ) -> "queue.Queue[bytes | None]":
        """Feed the questions and collect lines, each in a thread of its own: neither side can block
        the other."""
        assert process.stdin is not None  # both were asked for
        assert process.stdout is not None
        lines: queue.Queue[bytes | None] = queue.Queue()
        into, out = process.stdin, process.stdout

        def feed() -> None:
            with contextlib.suppress(OSError), into:
                for query_id, text in questions.items():
                    into.write(
                        json.dumps({"query_id": query_id, "query": text, "depth": depth}).encode()
                        + b"\n"
                    )

        def collect() -> None:
            with out:
                for line in out:
                    if line.strip():
                        lines.put(line)
            lines.put(None)

        for work in (feed, collect):
            threading.Thread(target=work, daemon=True).start()
        return lines


def _answer_line(line: bytes) -> tuple[str, Answer]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict) or "query_id" not in record:
        return "", Failure(f"line {line[:80]!r} is no answer")
    return str(record["query_id"]), parse_hits(record.get("hits"))


def _last_words(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    last = deque((line for line in complaints if line.strip()), maxlen=1)
    return f": {last[0].decode('utf-8', 'replace').strip()[:200]}" if last else ""


@dataclass(frozen=True)
class PythonSource:
    """An object with `search(queries, depth)`, asked for all questions at once; when that raises,
    for each by itself. A call may take `timeout_seconds`; one that takes longer is left behind in
    its thread."""

    retriever: Retriever
    timeout_seconds: float

    @property
    def identity(self) -> str:
        return f"python {type(self.retriever).__module__}.{type(self.retriever).__qualname__}"

    def answers(self, questions: Mapping[str, str], depth: int) -> Iterator[tuple[str, Answer]]:
        together = self._call(list(questions.values()), depth)
        if not isinstance(together, Failure):
            yield from zip(questions, together, strict=True)
        elif together.final or len(questions) == 1:
            yield from ((query_id, together) for query_id in questions)
        else:
            for query_id, text in questions.items():
                alone = self._call([text], depth)
                yield query_id, alone if isinstance(alone, Failure) else alone[0]

    def _call(self, texts: list[str], depth: int) -> list[Answer] | Failure:
        outcome: list[Any] = []

        def work() -> None:
            try:
                outcome.append(list(self.retriever.search(texts, depth)))
            except Exception as fault:  # whatever foreign code raises is its answer
                outcome.append(Failure(f"{type(fault).__name__}: {fault}"[:200]))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(self.timeout_seconds)
        if not outcome:
            return Failure(f"no answer within {self.timeout_seconds:g} s", final=True)
        if isinstance(outcome[0], Failure):
            return outcome[0]
        if len(outcome[0]) != len(texts):
            return Failure(
                f"search returned {len(outcome[0])} rankings for {len(texts)} questions", final=True
            )
        return [parse_hits(ranking) for ranking in outcome[0]]
