"""How a foreign retriever is asked: a finished run, an endpoint, a command, a Python object."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.config.retriever import TIMEOUT_SECONDS, RetrieverConfig
from lab.errors import ConfigError
from lab.pipeline.foreign.command import CommandSource
from lab.pipeline.foreign.endpoint import HttpSource
from lab.pipeline.foreign.finished import GivenRun, RunFile
from lab.pipeline.foreign.hits import Failure
from lab.pipeline.foreign.patience import LateError, within
from lab.pipeline.foreign.reply import Answer, parse_reply
from lab.pipeline.foreign.retriever import Retriever, Source

# What stands for a retriever in Python: an object that searches, what an experiment file says, a
# run file, or a finished run (ranx's, or `{query_id: {doc_id: score}}`).
Given = Retriever | RetrieverConfig | str | Path | Mapping[str, Any]


def source_of(name: str, given: Given) -> Source:
    """How this retriever is asked; ConfigError when it is none."""
    if isinstance(given, RetrieverConfig):
        return _configured(given)
    if isinstance(given, str | Path):
        return RunFile(Path(given))
    if callable(getattr(given, "search", None)):
        return PythonSource(given, TIMEOUT_SECONDS)  # type: ignore[arg-type]
    to_dict = getattr(given, "to_dict", None)
    plain = to_dict() if callable(to_dict) else given
    if isinstance(plain, Mapping):
        return GivenRun({str(query_id): parse_reply(of) for query_id, of in plain.items()})
    raise ConfigError(
        f"retriever '{name}' is a {type(given).__name__}; expected an object with search(queries, "
        "depth), a finished run like {query_id: {doc_id: score}}, or the path of a run file"
    )


def _configured(config: RetrieverConfig) -> Source:
    if config.run is not None:
        return RunFile(config.run)
    if config.url is not None:
        return HttpSource(config.url, config.timeout_seconds)
    return CommandSource(str(config.command), config.timeout_seconds)


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
        try:
            rankings = within(self.timeout_seconds, lambda: self._rankings(texts, depth))
        except LateError:
            return Failure(f"no answer within {self.timeout_seconds:g} s", final=True)
        except Exception as fault:  # whatever foreign code raises is its answer
            return Failure(f"{type(fault).__name__}: {fault}"[:200])
        if len(rankings) != len(texts):
            return Failure(
                f"search returned {len(rankings)} rankings for {len(texts)} questions", final=True
            )
        return [parse_reply(ranking, depth) for ranking in rankings]

    def _rankings(self, texts: list[str], depth: int) -> list[Any]:
        given = self.retriever.search(texts, depth)
        if isinstance(given, Mapping) and given.keys() <= {*texts}:
            return [given.get(text, ()) for text in texts]
        return list(given)
