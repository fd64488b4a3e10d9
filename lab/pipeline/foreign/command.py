"""Command retrievers: a program that reads questions and writes rankings."""

import contextlib
import json
import os
import queue
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO

from lab.corpus.lines import read_json
from lab.errors import ConfigError
from lab.pipeline.foreign.hits import Failure
from lab.pipeline.foreign.patience import LARGEST, TOO_LARGE
from lab.pipeline.foreign.reply import Answer, reply_of

# Seconds that a program and its children have to end by themselves once their input is closed, and
# again once they were asked to (TERM); then they are ended (KILL).
GRACE_SECONDS = 5.0
# Lines that are kept until they are looked at: a program that prints without end waits.
WAITING = 4


@dataclass(frozen=True)
class CommandSource:
    """A program, run without a shell: questions go in as JSON lines `{"query_id", "query",
    "depth"}`, replies come out as JSON lines `{"query_id", "hits": [...]}` or `{"query_id",
    "stages": [...]}` (see `lab.pipeline.foreign.reply`). It may take `timeout_seconds` for the next
    answer, whatever else it prints. Afterwards its input is closed and it has five seconds to clean
    up, then it and its children get TERM and five more, then KILL."""

    command: str
    timeout_seconds: float

    @property
    def identity(self) -> str:
        return f"command {self.command}"

    def answers(self, questions: Mapping[str, str], depth: int) -> Iterator[tuple[str, Answer]]:
        left = dict.fromkeys(questions)
        reason = ""
        with tempfile.TemporaryFile() as complaints:
            process = self._start(complaints)
            talk = _Talk(process, questions, depth)
            try:
                deadline = time.monotonic() + self.timeout_seconds
                while left and not reason:
                    try:
                        line = talk.next(deadline - time.monotonic())
                    except queue.Empty:
                        reason = f"no answer within {self.timeout_seconds:g} s"
                        continue
                    if line is None:
                        code = process.wait()
                        reason = f"the command ended with code {code}{_last_words(complaints)}"
                        continue
                    if len(line) > LARGEST:
                        reason = TOO_LARGE
                        continue
                    query_id, answer = _answer_line(line, depth)
                    if query_id in left:
                        left.pop(query_id)
                        deadline = time.monotonic() + self.timeout_seconds
                    yield query_id, answer
            finally:
                talk.end()
                _end(process)
        for query_id in left:
            yield query_id, Failure(reason)

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
        except (OSError, ValueError, IndexError) as fault:
            raise ConfigError(f"command '{self.command}' cannot be started ({fault})") from None


class _Talk:
    """Feeds the questions and collects lines, each in a thread of its own: neither side can block
    the other."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", questions: Mapping[str, str], depth: int
    ) -> None:
        assert process.stdin is not None  # both were asked for
        assert process.stdout is not None
        self._into, self._out = process.stdin, process.stdout
        self._lines: queue.Queue[bytes | None] = queue.Queue(WAITING)
        self._over = threading.Event()
        asked = [
            json.dumps({"query_id": query_id, "query": text, "depth": depth}).encode() + b"\n"
            for query_id, text in questions.items()
        ]
        for work in (lambda: self._feed(asked), self._collect):
            threading.Thread(target=work, daemon=True).start()

    def next(self, seconds: float) -> bytes | None:
        """The next line that is not blank, None at the end; raises queue.Empty when there is none
        in time."""
        return self._lines.get(timeout=max(seconds, 0.001))

    def end(self) -> None:
        """Close the input; what still comes out is thrown away."""
        self._over.set()
        # Closing waits for a feeder in the middle of a write, which a program that does not read
        # holds up; it comes free when the program ends.
        threading.Thread(target=self._close, daemon=True).start()

    def _close(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._into.close()

    def _feed(self, asked: list[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in asked:
                if self._over.is_set():
                    return
                self._into.write(line)
            self._into.close()

    def _collect(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._out:
            while line := self._out.readline(LARGEST + 1):
                if line.strip():
                    self._put(line)
        self._put(None)

    def _put(self, line: bytes | None) -> None:
        while not self._over.is_set():
            with contextlib.suppress(queue.Full):
                self._lines.put(line, timeout=0.1)
                return


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Wait for the program and its whole group to end, ask them to, end them."""
    for signs in (None, signal.SIGTERM, signal.SIGKILL):
        if signs is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signs)
        if _ended(process, GRACE_SECONDS):
            return


def _ended(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Whether no process of the group is left within so many seconds."""
    deadline = time.monotonic() + seconds
    while True:
        process.poll()  # a program that has ended is there until somebody asks
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)


def _answer_line(line: bytes, depth: int) -> tuple[str, Answer]:
    try:
        record = read_json(line)
    except ValueError:
        record = None
    if not isinstance(record, dict) or "query_id" not in record:
        return "", Failure(f"line {line[:80]!r} is no answer")
    return str(record["query_id"]), reply_of(record, depth)


def _last_words(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    last = deque((line for line in complaints if line.strip()), maxlen=1)
    return f": {last[0].decode('utf-8', 'replace').strip()[:200]}" if last else ""
