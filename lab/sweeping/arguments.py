"""What a sweep is given in Python, as the nouns that it works with."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.document import Corpus
from lab.corpus.read import read_corpus
from lab.errors import ConfigError, CorpusError, DiagnosticsError
from lab.relevance.query import Query
from lab.relevance.read import read_diagnostics


def as_inputs(
    corpus: Corpus | str | Path, queries: Sequence[Query] | str | Path | Sequence[str | Path]
) -> tuple[Corpus, Sequence[Query]]:
    """Documents and questions, read where paths are given. Raises CorpusError or DiagnosticsError
    for anything else."""
    if isinstance(corpus, str | Path):
        corpus = read_corpus(corpus)
    if not isinstance(corpus, Corpus):
        raise CorpusError(
            f"the corpus is a {type(corpus).__name__}; expected a lab.Corpus or the path of "
            "documents (lab.Corpus.from_frame takes a DataFrame)"
        )
    if isinstance(queries, str | Path):
        return corpus, read_diagnostics(queries, corpus)
    if not isinstance(queries, Sequence):
        raise DiagnosticsError(
            f"the questions are a {type(queries).__name__}; expected a list of lab.Query or the "
            "paths of sets (lab.queries_from_frame takes a DataFrame)"
        )
    paths = [item for item in queries if isinstance(item, str | Path)]
    if paths and len(paths) == len(queries):
        return corpus, read_diagnostics(paths, corpus)
    strange = [item for item in queries if not isinstance(item, Query)]
    if strange:
        raise DiagnosticsError(
            f"{len(strange)} of {len(queries)} questions are none, such as {strange[0]!r}; "
            "expected lab.Query, or paths alone"
        )
    return corpus, [item for item in queries if isinstance(item, Query)]


def as_grid(grid: Grid | Mapping[str, Any] | None) -> Grid:
    """A grid from one, from its settings, or the default one."""
    if isinstance(grid, Mapping):
        return Grid(**grid)
    if grid is None or isinstance(grid, Grid):
        return grid or Grid()
    raise ConfigError(f"the grid is a {type(grid).__name__}; expected a lab.Grid or a mapping")


def as_measure(measure: Measure | Mapping[str, Any] | Sequence[str] | None) -> Measure:
    """What is measured: a Measure, its settings, metrics of which the last chooses, or the
    default."""
    if measure is None or isinstance(measure, Measure):
        return measure or Measure()
    if isinstance(measure, Mapping):
        return Measure(**measure)
    metrics = (measure,) if isinstance(measure, str) else tuple(measure)
    if not metrics:
        raise ConfigError("measure is empty; expected metrics like ['recall@5', 'ndcg@10']")
    return Measure(metrics=metrics, select_by=metrics[-1])
