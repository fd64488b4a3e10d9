"""Models behind HTTP on loopback, in the forms of OpenAI, TEI and Cohere: real HTTP, real
sockets."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Status, headers and body in place of an answer; None closes the connection without a word.
Said = tuple[int, dict[str, str], bytes] | None


@dataclass
class Asked:
    """What came: paths with bodies, and the authorization of each."""

    url: str
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)


@contextmanager
def serving(
    embed: Callable[[str], list[float]] = lambda text: [1.0, 0.0],
    score: Callable[[str, str], float] = lambda question, text: 0.0,
    instead: Callable[[int], Said | str] = lambda number: "answer",
) -> Iterator[Asked]:
    """`embed` gives a text's vector, `score` a pair's score; `instead` of an answer to the request
    of a number (from 1) something else is said, unless it says "answer"."""

    def answer(path: str, body: dict[str, Any]) -> Any:
        if path == "/v1/embeddings":
            rows = [{"index": i, "embedding": embed(t)} for i, t in enumerate(body["input"])]
            tokens = sum(len(text.split()) for text in body["input"])
            return {"data": rows[::-1], "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}
        if path == "/embed":
            return [embed(text) for text in body["inputs"]]
        texts = body["documents" if path == "/v2/rerank" else "texts"]
        key = "relevance_score" if path == "/v2/rerank" else "score"
        scored = [{"index": i, key: score(body["query"], text)} for i, text in enumerate(texts)]
        scored.sort(key=lambda result: -result[key])
        if path == "/rerank":
            return scored
        return {"results": scored, "meta": {"billed_units": {"search_units": 1}}}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.requests.append((self.path, body))
            asked.keys.append(self.headers.get("Authorization"))
            said = instead(len(asked.requests))
            if said is None:
                self.close_connection = True
                return
            if isinstance(said, str):
                said = 200, {}, json.dumps(answer(self.path, body)).encode()
            status, headers, content = said
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    asked = Asked(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
