"""A searcher behind HTTP: the lab's own retriever protocol, so that a sweep can ask it as
`[[retriever]] url`, and a page to try two systems side by side."""

import asyncio
import json
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lab.errors import ConfigError, LabError
from lab.pipeline.searcher import Hit, Searcher

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

LARGEST_BODY = 64 * 1024
MOST_HITS = 1000
TIMEOUT_SECONDS = 60.0
# The page runs its own script and asks its own server, nothing else.
PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"
)
TOO_LARGE, TIMED_OUT, BAD_REQUEST = 413, 504, 400


def service(
    searchers: Mapping[str, Searcher], timeout_seconds: float = TIMEOUT_SECONDS
) -> "Starlette":
    """An ASGI application. The first searcher answers the protocol: POST / with `{"query_id",
    "query", "depth"}` gives `{"query_id", "hits": [{"doc_id", "start", "end", "text", "score"}]}`.
    POST /search asks any of them by name, with `alpha` at another weight, and tells every stage;
    GET /health says what is served; GET / is the page. A request may have 64 KB and take
    `timeout_seconds`; what is wrong with it is told as `{"problems": [...]}`.

    Raises ConfigError when the server library is not installed.
    """
    try:
        from starlette.applications import Starlette
        from starlette.responses import HTMLResponse, JSONResponse
        from starlette.routing import Route
    except ImportError:
        raise ConfigError(
            "serving needs starlette and uvicorn; pip install 'retrieval-diagnostics-lab[serve]'"
        ) from None
    first = next(iter(searchers.values()))
    # One thread asks the models and the cache: they are not made for several at once.
    worker = ThreadPoolExecutor(max_workers=1)

    async def answer(request: "Request", ask: Any) -> "Response":
        try:
            asked = await _body(request)
            work = asyncio.get_running_loop().run_in_executor(worker, ask, asked)
            return JSONResponse(await asyncio.wait_for(work, timeout_seconds))
        except _TooLargeError:
            problem = f"the request is larger than {LARGEST_BODY} bytes"
            return JSONResponse({"problems": [problem]}, TOO_LARGE)
        except TimeoutError:
            problem = f"no answer within {timeout_seconds:g} seconds"
            return JSONResponse({"problems": [problem]}, TIMED_OUT)
        except LabError as fault:
            return JSONResponse({"problems": list(fault.problems)}, BAD_REQUEST)

    async def protocol(request: "Request") -> "Response":
        return await answer(request, partial(_protocol, first))

    async def search(request: "Request") -> "Response":
        return await answer(request, partial(_search, searchers))

    async def health(request: "Request") -> "Response":
        served = [
            {
                "name": name,
                "system": searcher.config.name,
                "alpha": _shown_alpha(searcher),
            }
            for name, searcher in searchers.items()
        ]
        return JSONResponse({"status": "ok", "documents": len(first.corpus), "systems": served})

    async def page(request: "Request") -> "Response":
        text = (files("lab.pipeline") / "service.html").read_text("utf-8")
        return HTMLResponse(text, headers={"Content-Security-Policy": PAGE_POLICY})

    return Starlette(
        routes=[
            Route("/", protocol, methods=["POST"]),
            Route("/", page, methods=["GET"]),
            Route("/search", search, methods=["POST"]),
            Route("/health", health, methods=["GET"]),
        ]
    )


def serve(
    searchers: Mapping[str, Searcher], host: str, port: int, say: Callable[[str], None]
) -> None:
    """Serve until interrupted; `say` is told the address once requests are taken. Raises
    ConfigError when the address cannot be listened on, or the server library is missing."""
    application = service(searchers)
    import uvicorn

    listening = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # who asks at once is answered once the server is up
    except OSError as fault:
        listening.close()
        raise ConfigError(
            f"{host}:{port} cannot be listened on ({fault.strerror}); choose another --port"
        ) from None
    names = ", ".join(searcher.config.name for searcher in searchers.values())
    say(f"serving {names} at http://{host}:{listening.getsockname()[1]}/")
    server = uvicorn.Server(uvicorn.Config(application, log_level="warning"))
    server.run(sockets=[listening])


def _shown_alpha(searcher: Searcher) -> float | str | None:
    """The weight of the dense leg, or the rule that gives each question one; None for one leg."""
    fusion = searcher.config.fusion
    return None if fusion is None else fusion.rule or fusion.alpha  # type: ignore[return-value]  # without a rule a number


class _TooLargeError(Exception):
    """A body beyond the limit: reading stops there."""


async def _body(request: "Request") -> dict[str, Any]:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise _TooLargeError
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        asked = None
    if not isinstance(asked, dict):
        raise ConfigError('the request is no JSON object; expected {"query": ..., "depth": ...}')
    return asked


def _protocol(searcher: Searcher, asked: dict[str, Any]) -> dict[str, Any]:
    text, depth = _text(asked), _count(asked, "depth", searcher.config.depth)
    hits = searcher.search(text, depth)
    keys = ("doc_id", "start", "end", "text", "score")
    return {
        "query_id": asked.get("query_id"),
        "hits": [{key: getattr(hit, key) for key in keys} for hit in hits],
    }


def _search(searchers: Mapping[str, Searcher], asked: dict[str, Any]) -> dict[str, Any]:
    name = asked.get("system", next(iter(searchers)))
    if name not in searchers:
        raise ConfigError(f"no system {name!r} is served; known: {', '.join(searchers)}")
    searcher, alpha = searchers[name], asked.get("alpha")
    if alpha is not None:
        if isinstance(alpha, bool) or not isinstance(alpha, int | float):
            raise ConfigError(f"alpha is {alpha!r}; expected a number from 0 to 1")
        searcher = searcher.at_alpha(float(alpha))
    hits = searcher.search(_text(asked), _count(asked, "k", 10), asked.get("filter"))
    return {"system": searcher.config.name, "hits": [_plain(hit) for hit in hits]}


def _plain(hit: Hit) -> dict[str, Any]:
    return asdict(hit)


def _text(asked: dict[str, Any]) -> str:
    text = asked.get("query")
    if not isinstance(text, str) or not text.strip():
        raise ConfigError(f"query is {text!r}; expected words to look for")
    return text


def _count(asked: dict[str, Any], key: str, default: int) -> int:
    value = asked.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_HITS:
        raise ConfigError(f"{key} is {value!r}; expected a whole number from 1 to {MOST_HITS}")
    return value
