"""Foreign retrievers are asked with patience: what fails is asked again, and what stays without an
answer is told."""

import json
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from lab.config.retriever import RetrieverConfig, refuse_commands
from lab.errors import ConfigError, CorpusError
from lab.pipeline.foreign import command as command_source
from lab.pipeline.foreign import retriever as foreign
from lab.pipeline.foreign.command import CommandSource
from lab.pipeline.foreign.endpoint import HttpSource
from lab.pipeline.foreign.finished import RunFile
from lab.pipeline.foreign.hits import Failure, Hit, parse_hits
from lab.pipeline.foreign.retriever import ask
from lab.pipeline.foreign.sources import PythonSource

ASKED = {"q1": "one", "q2": "two", "q3": "three"}


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "PAUSE", 0.0)


def found(
    source: Any, retries: int = 0, depth: int = 10, asked: dict[str, str] = ASKED
) -> tuple[dict[str, Any], dict[str, str]]:
    answers = ask(source, asked, depth, retries)
    assert set(answers.hits) | set(answers.failed) == set(asked), "every question is accounted for"
    assert not set(answers.hits) & set(answers.failed)
    return {q: [hit.doc_id for hit in hits] for q, hits in answers.hits.items()}, answers.failed


@pytest.mark.parametrize(
    ("value", "hits"),
    [
        (["d1", {"doc_id": 7, "start": 0, "end": 3}], (Hit("d1"), Hit("7", 0, 3))),
        ({"hits": [{"text": "only text", "score": 3}]}, (Hit(text="only text"),)),
        ([], ()),
    ],
)
def test_hits_are_ids_objects_or_texts(value: Any, hits: tuple[Hit, ...]) -> None:
    assert parse_hits(value) == hits


@pytest.mark.parametrize(
    "value",
    [
        "d1",
        None,
        3,
        [3],
        [{}],
        [{"doc_id": "d", "start": 1}],
        [{"doc_id": "d", "start": "0", "end": 2}],
        [{"text": 5}],
    ],
)
def test_what_is_no_list_of_hits_is_a_failure_that_is_not_asked_again(value: Any) -> None:
    answer = parse_hits(value)
    assert isinstance(answer, Failure)
    assert answer.final


def test_trec_runs_are_ordered_as_trec_eval_orders_them(tmp_path: Path) -> None:
    lines = [
        "q1 Q0 a 1 0.5 t",
        "q1 Q0 c 9 0.5 t",
        "q1 Q0 b 2 0.5 t",
        "q1 Q0 z 3 0.1 t",
        "q1 Q0 y 4 0.7000000001 t",
        "q1 Q0 x 5 0.7 t",
    ]
    (tmp_path / "run").write_text("\n".join(lines))
    rankings, failed = found(RunFile(tmp_path / "run"))
    assert rankings == {"q1": ["y", "x", "c", "b", "a", "z"]}, (
        "equal as float32, ids descending; the rank column is not read"
    )
    assert set(failed) == {"q2", "q3"}


def test_json_runs_keep_their_order_and_report_every_bad_line(tmp_path: Path) -> None:
    run = tmp_path / "run.jsonl"
    run.write_text('{"query_id": "q1", "hits": ["b", "a"]}\n{"query_id": "q2", "hits": []}\n')
    assert found(RunFile(run))[0] == {"q1": ["b", "a"], "q2": []}
    run.write_text(
        '{"query_id": "q1", "hits": 3}\n{"hits": []}\n{"query_id": "q2", "hits": []}\n{"query_id": '
        '"q2", "hits": []}\n'
    )
    with pytest.raises(CorpusError) as fault:
        found(RunFile(run))
    assert [problem.split(": ")[0][-1] for problem in fault.value.problems] == ["1", "2", "4"]


class Flaky:
    """Raises whenever the question `two` is among the first so many calls' questions."""

    def __init__(self, failures: int) -> None:
        self.failures, self.calls = failures, list[list[str]]()

    def search(self, queries: Sequence[str], depth: int) -> list[list[str]]:
        self.calls.append(list(queries))
        if "two" in queries and self.failures:
            self.failures -= 1
            raise ValueError("index is busy")
        return [[f"{query}-{n}" for n in range(depth)] for query in queries]


def test_python_objects_are_asked_together_then_one_by_one_then_again() -> None:
    calm = Flaky(0)
    assert found(PythonSource(calm, 5), depth=2)[0]["q1"] == ["one-0", "one-1"]
    assert calm.calls == [["one", "two", "three"]]
    flaky = Flaky(2)
    rankings, failed = found(PythonSource(flaky, 5), retries=1, depth=1)
    assert (rankings, failed) == ({"q1": ["one-0"], "q2": ["two-0"], "q3": ["three-0"]}, {})
    assert flaky.calls == [["one", "two", "three"], ["one"], ["two"], ["three"], ["two"]]
    assert found(PythonSource(Flaky(9), 5), retries=1)[1] == {"q2": "ValueError: index is busy"}


def test_python_objects_that_hang_or_miscount_are_told() -> None:
    class Slow:
        def search(self, queries: Sequence[str], depth: int) -> list[list[str]]:
            time.sleep(30)
            return []

    class Short:
        def search(self, queries: Sequence[str], depth: int) -> list[list[str]]:
            return [["d"]]

    assert set(found(PythonSource(Slow(), 0.1), retries=3)[1].values()) == {
        "no answer within 0.1 s"
    }
    assert set(found(PythonSource(Short(), 5))[1].values()) == {
        "search returned 1 rankings for 3 questions"
    }


def test_blank_questions_are_not_asked_and_find_nothing() -> None:
    calm = Flaky(0)
    assert found(PythonSource(calm, 5), asked={"q1": " ", "q2": "two"}, depth=1)[0] == {
        "q1": [],
        "q2": ["two-0"],
    }
    assert calm.calls == [["two"]]


@contextmanager
def served(answers: Any) -> Iterator[str]:
    """An HTTP server on this machine; `answers(body, count)` gives status and bytes."""
    count = 0

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            nonlocal count
            count += 1
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, content = answers(body, count)
            with suppress(OSError):  # the asker may have left
                self.send_response(status)
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *values: object) -> None:
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/search"
    finally:
        server.shutdown()
        server.server_close()


def test_http_endpoints_are_asked_a_question_at_a_time_and_busy_ones_again() -> None:
    def answers(body: dict[str, Any], count: int) -> tuple[int, bytes]:
        if body["query"] == "two" and count < 4:
            return 503, b""
        if body["query"] == "three":
            return 404, b""
        return 200, json.dumps({"hits": [{"doc_id": body["query"]}] * body["depth"]}).encode()

    with served(answers) as url:
        rankings, failed = found(HttpSource(url, 5), retries=2, depth=1)
    assert (rankings, failed) == ({"q1": ["one"], "q2": ["two"]}, {"q3": "HTTP 404 Not Found"})


def test_http_answers_that_are_late_absent_or_no_json_are_told() -> None:
    def answers(body: dict[str, Any], count: int) -> tuple[int, bytes]:
        if body["query"] == "one":
            time.sleep(0.5)
        return 200, b"<html>"

    with served(answers) as url:
        failed = found(HttpSource(url, 0.2))[1]
    assert failed["q1"] == "no answer within 0.2 s"
    assert failed["q2"].startswith("answer is not JSON")
    assert "refused" in found(HttpSource(url, 0.2))[1]["q1"]


ECHO = """
import json, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    %s
    print(json.dumps({"query_id": asked["query_id"], "hits": [asked["query"]]}), flush=True)
"""


def command(tmp_path: Path, extra: str) -> str:
    (tmp_path / "echo.py").write_text(ECHO % extra)
    return f"{sys.executable} {tmp_path / 'echo.py'}"


def test_commands_read_questions_and_write_rankings(tmp_path: Path) -> None:
    asked = {f"q{n}": f"question {n} " + "x" * 2000 for n in range(500)}
    rankings, failed = found(CommandSource(command(tmp_path, "pass"), 20), asked=asked)
    assert not failed
    assert rankings["q7"] == [asked["q7"]], "more questions than a pipe holds do not block"


def test_commands_that_end_hang_or_babble_leave_an_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_source, "GRACE_SECONDS", 0.3)
    dies = command(tmp_path, "if asked['query'] == 'two': sys.exit('index is locked')")
    rankings, failed = found(CommandSource(dies, 20))
    assert rankings == {"q1": ["one"]}
    assert failed == dict.fromkeys(("q2", "q3"), "the command ended with code 1: index is locked")
    hangs = command(tmp_path, "if asked['query'] == 'two': time.sleep(60)")
    begin = time.monotonic()
    rankings, failed = found(CommandSource(hangs, 2))
    assert (list(rankings), set(failed.values())) == (["q1"], {"no answer within 2 s"})
    assert time.monotonic() - begin < 30, "the program was ended, not waited for"
    babbles = command(tmp_path, "print('loading')")
    assert len(found(CommandSource(babbles, 20))[0]) == 3
    with pytest.raises(ConfigError, match="cannot be started"):
        found(CommandSource("no-such-program-here", 5))


def test_commands_are_not_read_by_a_shell(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    found(CommandSource(f"echo hello; touch {marker}", 5))
    assert not marker.exists()


def test_an_experiment_s_commands_run_only_when_allowed() -> None:
    harmless = RetrieverConfig(name="a", url="http://localhost:1")
    refuse_commands([harmless])
    with pytest.raises(
        ConfigError, match=r"retriever 'b' runs the command: rm -r x\nnothing was run"
    ):
        refuse_commands([harmless, RetrieverConfig(name="b", command="rm -r x")])


@pytest.mark.parametrize(
    "source",
    [
        {},
        {"run": "a", "url": "http://b"},
        {"url": "file:///etc/passwd"},
        {"command": "a", "retries": -1},
    ],
)
def test_a_retriever_has_exactly_one_source(source: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"expected exactly one|should match pattern|greater than"):
        RetrieverConfig(name="x", **source)


def test_an_answer_is_looked_at_no_further_than_asked() -> None:
    class Guarded(list[Any]):
        def __iter__(self) -> Iterator[Any]:
            for position, item in enumerate(super().__iter__()):
                assert position < 3, "looked beyond the depth"
                yield item

    assert len(parse_hits(Guarded(["a"] * 50), 3)) == 3  # type: ignore[arg-type]
    assert parse_hits([*["a"] * 3, 17], 3) == (Hit("a"),) * 3


@contextmanager
def dripping(first: bytes, drop: bytes, every: float) -> Iterator[tuple[str, list[float]]]:
    """A server that answers `first`, then `drop` again and again; also when it last could."""
    last: list[float] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve_one(connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.recv(65536)
            connection.sendall(first)
            while True:
                connection.sendall(drop)
                last.append(time.monotonic())
                time.sleep(every)

    def serve_all() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=serve_one, args=(connection,), daemon=True).start()

    threading.Thread(target=serve_all, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/", last
    finally:
        listener.close()


@pytest.mark.parametrize(
    ("first", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\n", b"X-More: header\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (b"", b"H"),
    ],
    ids=["body", "headers", "chunks", "status line"],
)
def test_a_timeout_bounds_the_whole_answer_of_a_server_that_drips(
    first: bytes, drop: bytes
) -> None:
    with dripping(first, drop, 0.05) as (url, last):
        begin = time.monotonic()
        failed = found(HttpSource(url, 0.5), asked={"q1": "one"})[1]
        took = time.monotonic() - begin
        time.sleep(0.4)
        assert failed == {"q1": "no answer within 0.5 s"}
        assert took < 0.9
        assert last[-1] < begin + took + 0.3, "the connection was cut, not left behind"


def test_answers_are_bounded_in_bytes_and_redirects_are_refused_by_name() -> None:
    asked: list[str] = []

    def answers(body: dict[str, Any], count: int) -> tuple[int, bytes]:
        asked.append(body["query"])
        return 200, b" " * 17_000_000

    with served(answers) as url:
        assert found(HttpSource(url, 10), retries=2, asked={"q1": "one"})[1] == {
            "q1": "answer is larger than 16 MB"
        }
        assert asked == ["one"]
        target = url
        for status in (301, 302, 303, 307, 308):
            moved = f"HTTP/1.1 {status} Moved\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"
            with dripping(moved.encode(), b"", 0.05) as (other, _):
                failed = found(HttpSource(other, 5), asked={"q1": "one"})[1]
            assert f"HTTP {status} leads to {target}" in failed["q1"]
            assert "redirects are not followed" in failed["q1"]
        assert asked == ["one"], "nobody was asked whom the user did not name"


def test_a_program_that_prints_without_end_neither_fills_memory_nor_gets_more_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_source, "GRACE_SECONDS", 0.5)
    (tmp_path / "junk.py").write_text("import sys\nwhile True: print('x' * 100000)\n")
    begin = time.monotonic()
    failed = found(CommandSource(f"{sys.executable} {tmp_path}/junk.py", 1))[1]
    assert set(failed.values()) == {"no answer within 1 s"}
    assert time.monotonic() - begin < 5
    (tmp_path / "line.py").write_text("import sys\nwhile True: sys.stdout.write('x' * 100000)\n")
    failed = found(CommandSource(f"{sys.executable} {tmp_path}/line.py", 20))[1]
    assert set(failed.values()) == {"answer is larger than 16 MB"}


CLEANS = """
import json, signal, sys, time, subprocess
signal.signal(signal.SIGTERM, lambda *_: (open(sys.argv[1], "a").write("term "), sys.exit()))
%s
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"query_id": asked["query_id"], "hits": ["d"]}), flush=True)
open(sys.argv[1], "a").write("closed ")
%s
open(sys.argv[1], "a").write("done ")
"""


@pytest.mark.parametrize(
    ("begin", "end", "told"),
    [
        ("", "time.sleep(0.3)", "closed done "),
        ("", "time.sleep(60)", "closed term "),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN)", "time.sleep(60)", "closed "),
    ],
    ids=["ends by itself", "ends when asked", "is ended"],
)
def test_a_command_is_given_time_to_clean_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: str, end: str, told: str
) -> None:
    monkeypatch.setattr(command_source, "GRACE_SECONDS", 1.0)
    (tmp_path / "r.py").write_text(CLEANS % (begin, end))
    marks = tmp_path / "marks"
    assert not found(CommandSource(f"{sys.executable} {tmp_path}/r.py {marks}", 20))[1]
    assert marks.read_text() == told


def test_children_of_a_command_do_not_stay_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_source, "GRACE_SECONDS", 0.5)
    child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    begin = f"child = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
    begin += "open(sys.argv[1], 'a').write(f'{child.pid} ')\ntime.sleep(0.3)"
    (tmp_path / "r.py").write_text(CLEANS % (begin, ""))
    marks = tmp_path / "marks"
    assert not found(CommandSource(f"{sys.executable} {tmp_path}/r.py {marks}", 20))[1]
    pid, *rest = marks.read_text().split()
    assert rest == ["closed", "done"]
    state = Path(f"/proc/{pid}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_command_that_stops_reading_is_ended_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_source, "GRACE_SECONDS", 0.3)
    (tmp_path / "r.py").write_text("import time\ntime.sleep(60)\n")
    begin = time.monotonic()
    asked = {f"q{n}": "x" * 2000 for n in range(500)}
    failed = found(CommandSource(f"{sys.executable} {tmp_path}/r.py", 0.5), asked=asked)[1]
    assert len(failed) == 500
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout_seconds": float("inf")},
        {"timeout_seconds": float("nan")},
        {"timeout_seconds": True},
        {"timeout_seconds": "5"},
        {"retries": 10**9},
        {"retries": True},
        {"url": "http://"},
        {"url": "http://a b/"},
        {"url": "http://[::1"},
        {"url": "http://a:99999/"},
        {"url": "http://a\x00b/"},
        {"depth": 0},
    ],
)
def test_settings_of_a_retriever_that_no_one_can_mean_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        RetrieverConfig.model_validate({"name": "a", "url": "http://b"} | wrong)
