"""Contexts: what a file says of chunks, such as a model's sentence that places each in its document
(Anthropic, "Introducing contextual retrieval", 2024)."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from lab.errors import ConfigError

EXPECTED = (
    'expected {"doc_id": "...", "start": 0, "end": 400, "context": "..."}, without start and end '
    "for a whole document"
)
# Bad lines that a message names.
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Context:
    """What is said of [start, end) of a document; of all of it where there is no `end`."""

    start: int
    end: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Contexts:
    """The contexts of a file by document, in the file's order; `identity` is the SHA-256 of its
    bytes."""

    by_document: Mapping[str, tuple[Context, ...]]
    identity: str

    def of(self, doc_id: str, start: int, end: int) -> str:
        """What is said of a span: by the context that shares most of it, the shortest of equals,
        the first of these; empty where none shares any. So contexts made for one chunking serve a
        chunk cut elsewhere."""
        best, found = (0, -math.inf), ""
        for context in self.by_document.get(doc_id, ()):
            last = end if context.end is None else context.end
            shared = min(end, last) - max(start, context.start)
            fit = shared, -math.inf if context.end is None else context.start - last
            if shared > 0 and fit > best:
                best, found = fit, context.text
        return found


def read_contexts(path: str) -> Contexts:
    """The contexts of a JSON Lines file. Raises ConfigError with the first bad lines."""
    try:
        state = Path(path).stat()
    except OSError as fault:
        raise ConfigError(f"{path}: cannot be read ({fault.strerror})") from None
    return _read(path, (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=8)
def _read(path: str, state: tuple[int, int]) -> Contexts:
    found: dict[str, list[Context]] = {}
    problems = []
    data = Path(path).read_bytes()
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            doc_id, context = _context(json.loads(line))
        except (ValueError, TypeError, KeyError):
            problems.append(f"{path}:{number}: {line[:80]!r}; {EXPECTED}")
            continue
        found.setdefault(doc_id, []).append(context)
    if problems or not found:
        more = len(problems) - SHOWN
        raise ConfigError(
            [
                *problems[:SHOWN],
                *([f"{path}: and {more} more such lines"] if more > 0 else []),
                *([] if problems else [f"{path}: no context in it; {EXPECTED}"]),
            ]
        )
    contexts = {doc_id: tuple(of_document) for doc_id, of_document in found.items()}
    return Contexts(contexts, hashlib.sha256(data).hexdigest())


def _context(line: Mapping[str, Any]) -> tuple[str, Context]:
    doc_id, text, start, end = line["doc_id"], line["context"], line.get("start"), line.get("end")
    if not (isinstance(doc_id, str) and isinstance(text, str)) or set(line) - FIELDS:
        raise ValueError
    if start is None and end is None:
        return doc_id, Context(0, None, text.strip())
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        raise ValueError
    return doc_id, Context(start, end, text.strip())


FIELDS = {"doc_id", "start", "end", "context"}
