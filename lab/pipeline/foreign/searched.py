"""What a foreign retriever searches, where it says so: then also what it never returns is known."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lab.config.retriever import RetrieverConfig
from lab.corpus.lines import read_records
from lab.errors import ConfigError, CorpusError
from lab.pipeline.foreign.hits import Failure, Hit, parse_hits


def searched(name: str, retriever: Any) -> tuple[Hit, ...]:
    """All chunks of a retriever: of the file of JSON lines that its config names, or on an object
    what `searched` holds, any hits; none where it does not say. Raises LabError with everything
    that is no chunk."""
    if isinstance(retriever, RetrieverConfig):
        return () if retriever.chunks is None else _read(retriever.chunks)
    given = getattr(retriever, "searched", ())
    chunks = parse_hits(list(given) if isinstance(given, Iterable) else given)
    if isinstance(chunks, Failure):
        raise ConfigError(f"retriever '{name}': searched: {chunks.reason}")
    return chunks


def _read(path: Path) -> tuple[Hit, ...]:
    problems: list[str] = []
    chunks: list[Hit] = []
    for place, record in read_records(path, problems, CorpusError):
        hits = parse_hits([record])
        if isinstance(hits, Failure):
            problems.append(f"{place}: {hits.reason}")
        else:
            chunks += hits
    if problems:
        raise CorpusError(problems)
    return tuple(chunks)
