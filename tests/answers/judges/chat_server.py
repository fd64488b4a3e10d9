"""A server of chat completions on loopback, which says what a test wants: real HTTP, real
sockets."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# What is asked -> what is sent: text of the model, or (status, headers, body) as it is; None closes
# the connection without a word.
Say = Callable[[dict[str, Any]], str | tuple[int, dict[str, str], bytes] | None]


class ChatServer:
    """`requests` are the bodies that came, `keys` the authorization of each."""

    def __init__(self, say: Say) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                outer.keys.append(self.headers.get("Authorization"))
                said = say(body) if self.path == "/v1/chat/completions" else (404, {}, b"")
                if said is None:
                    self.close_connection = True
                    return
                status, headers, content = completion(said) if isinstance(said, str) else said
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


def completion(text: str) -> tuple[int, dict[str, str], bytes]:
    record = {
        "choices": [{"message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }
    return 200, {"Content-Type": "application/json"}, json.dumps(record).encode()


@contextmanager
def serving(say: Say) -> Iterator[ChatServer]:
    server = ChatServer(say)
    thread = threading.Thread(target=server.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.server.shutdown()
        server.server.server_close()
        thread.join(5)
