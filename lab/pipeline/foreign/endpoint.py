"""HTTP retrievers: an endpoint that is asked a question at a time."""

import contextlib
import http.client
import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lab.corpus.lines import read_json
from lab.pipeline.foreign.hits import Failure
from lab.pipeline.foreign.patience import LARGEST, TOO_LARGE, LateError, within
from lab.pipeline.foreign.reply import Answer, parse_reply

# Bytes that are read at a time.
BLOCK = 2**16


@dataclass(frozen=True)
class HttpSource:
    """An endpoint that takes a POST of `{"query_id", "query", "depth"}` and answers `{"hits":
    [...]}` or `{"stages": [...]}` (see `lab.pipeline.foreign.reply`), a question each. The whole
    answer may take `timeout_seconds` and hold 16 MB; redirects are not followed."""

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
        try:
            content = post(self.url, body, {}, self.timeout_seconds)
        except TimeoutError:
            return Failure(f"no answer within {self.timeout_seconds:g} s")
        except urllib.error.HTTPError as fault:
            return _refused(fault)
        except (OSError, http.client.HTTPException, ValueError) as fault:
            return Failure(str(getattr(fault, "reason", None) or fault or type(fault).__name__))
        if len(content) > LARGEST:
            return Failure(TOO_LARGE, final=True)
        try:
            return parse_reply(read_json(content), depth)
        except ValueError as fault:
            return Failure(f"answer is {fault}")


def post(url: str, body: bytes, headers: Mapping[str, str], seconds: float) -> bytes:
    """The answer to a POST of JSON, at most a block more than `LARGEST` bytes of it; redirects are
    not followed. Raises TimeoutError when the whole answer is not there within `seconds`, else
    OSError (HTTPError for a refusal), HTTPException or ValueError."""
    connections = _Connections()
    try:
        return within(seconds, lambda: _read(url, body, headers, seconds, connections))
    except LateError:
        connections.cut()
        raise TimeoutError from None
    except TimeoutError:
        connections.cut()
        raise


def _read(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    seconds: float,
    connections: "_Connections",
) -> bytes:
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **headers})
    opener = urllib.request.build_opener(connections, connections.secure, _NoRedirects)
    blocks, size = [], 0
    # A second more than is waited for: what is late is cut off by who waits.
    with opener.open(request, timeout=seconds + 1) as response:
        while size <= LARGEST and (block := response.read(BLOCK)):
            blocks.append(block)
            size += len(block)
    return b"".join(blocks)


def _refused(fault: urllib.error.HTTPError) -> Failure:
    """The server has understood and refuses: asking again changes nothing, save when it is only
    busy."""
    with contextlib.closing(fault):
        if 300 <= fault.code < 400:
            target = fault.headers.get("Location", "nowhere")
            return Failure(
                f"HTTP {fault.code} leads to {target[:200]}; redirects are not followed, name that "
                "address if you trust it",
                final=True,
            )
        final = fault.code < 500 and fault.code != 429
        return Failure(f"HTTP {fault.code} {fault.reason}"[:300], final=final)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Questions go where the user said, and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Connections(urllib.request.HTTPHandler):
    """Opens connections and keeps their sockets, so that one that drips can be cut off: the thread
    that reads it then ends."""

    def __init__(self) -> None:
        super().__init__()
        self.sockets: list[socket.socket] = []
        self.secure = _SecureConnections(self)

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._connection(http.client.HTTPConnection), req)

    def _connection(self, kind: type[http.client.HTTPConnection]) -> Any:
        kept = self.sockets

        class Kept(kind):  # type: ignore[valid-type, misc]
            def connect(self) -> None:
                super().connect()
                kept.append(self.sock)

        return Kept

    def cut(self) -> None:
        for connection in self.sockets:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _SecureConnections(urllib.request.HTTPSHandler):
    """The same for https."""

    def __init__(self, kept: _Connections) -> None:
        super().__init__()
        self._kept = kept

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._kept._connection(http.client.HTTPSConnection), req)
