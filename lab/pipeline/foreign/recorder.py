"""Recorder: the stages of a pipeline, noted down inside its own code."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from lab.errors import ConfigError, nearest
from lab.pipeline.foreign.hits import Failure, parse_hits
from lab.pipeline.foreign.reply import KINDS, Call, Reply, StageHits, wrong

# What stages are often called -> their kind; every kind is called by itself as well.
KIND_OF = {kind: kind for kind in KINDS} | {
    **dict.fromkeys(("bm25", "keyword", "sparse", "full text"), "lexical"),
    **dict.fromkeys(("vector", "vectors", "embedding", "embeddings", "semantic"), "dense"),
    **dict.fromkeys(("hybrid", "fusion", "rrf"), "fused"),
    **dict.fromkeys(("reranker", "reranked", "cross-encoder"), "rerank"),
}


class Recorder:
    """Notes what the stages of a pipeline return, question by question:

    >>> recorder = lab.Recorder()
    >>> with recorder.question("q1"):
    ...     recorder.stage("bm25", hits)
    ...     recorder.stage("rerank", reranked)
    >>> lab.sweep(corpus, queries, grid, retrievers={"mine": recorder})
    >>> recorder.write("stages.jsonl")      # or run = "stages.jsonl" in [[retriever]]

    Questions may be asked at once by several threads or tasks: a stage belongs to the question
    whose block it is called in.
    """

    def __init__(self) -> None:
        self._calls: dict[str, list[list[StageHits]]] = {}
        self._queries: dict[str, list[str]] = {}
        self._open: ContextVar[str | None] = ContextVar("question", default=None)

    @contextmanager
    def question(self, query_id: str) -> Iterator["Recorder"]:
        """The question that stages belong to until the block ends; asked again, it begins anew."""
        self._calls[query_id], self._queries[query_id] = [[]], [""]
        token = self._open.set(query_id)
        try:
            yield self
        finally:
            self._open.reset(token)

    def call(self, query: str = "") -> None:
        """Another search for the same question, in other words if it is: stages that follow are
        those of this search."""
        query_id = self._here("call")
        if not self._calls[query_id][-1]:  # the first search has not begun
            self._queries[query_id][-1] = query
            return
        self._calls[query_id].append([])
        self._queries[query_id].append(query)

    def stage(self, name: str, hits: Any, kind: str | None = None, **said: Any) -> None:
        """What a stage returned, best first, in any shape that a retriever may answer. `kind` is
        one of KINDS and may be left out where the name says it (`bm25`, `dense`, `rerank` ...);
        `returned`, `normalization` and `alpha` as in a reply. Raises ConfigError for what is no
        stage."""
        kind = kind or KIND_OF.get(name.lower())
        if kind not in KINDS:
            raise ConfigError(
                f"stage '{name}': its name does not say its kind; give kind={nearest('', KINDS)}"
                if kind is None
                else f"stage '{name}': kind {kind!r}{nearest(kind, KINDS)}"
            )
        query_id, parsed = self._here("stage"), parse_hits(hits)
        if isinstance(parsed, Failure):
            raise ConfigError(f"stage '{name}': {parsed.reason}")
        stage, own = StageHits(name, kind, parsed, **said), self._calls[query_id][-1]
        problems = list(wrong(stage))
        if name in (earlier.name for earlier in own):
            problems.append(f"stage '{name}' twice in one search; begin another with call()")
        if problems:
            raise ConfigError(problems)
        own.append(stage)

    def _here(self, what: str) -> str:
        query_id = self._open.get()
        if query_id is None:
            raise ConfigError(f"{what} outside a question: use it in `with recorder.question(id):`")
        return query_id

    def to_dict(self) -> dict[str, Reply]:
        """What was noted of every question, as a finished run."""
        return {query_id: self._reply(query_id) for query_id in self._calls}

    def _reply(self, query_id: str) -> Reply:
        pairs = zip(self._calls[query_id], self._queries[query_id], strict=True)
        calls = tuple(Call(tuple(stages), query) for stages, query in pairs if stages)
        return Reply(tuple(dict.fromkeys(hit for call in calls for hit in call.final)), calls)

    def write(self, path: str | Path) -> Path:
        """A run file of all questions, for `run` in `[[retriever]]`; its name ends in `.jsonl`."""
        path = Path(path)
        if path.suffix != ".jsonl":
            raise ConfigError(f"{path}: a run with stages is JSON lines; name it like stages.jsonl")
        lines = [
            json.dumps({"query_id": query_id, **reply.record}, ensure_ascii=False) + "\n"
            for query_id, reply in self.to_dict().items()
        ]
        path.write_text("".join(lines), "utf-8")
        return path
