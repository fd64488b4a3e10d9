"""What a sweep is given in Python, as the nouns that it works with."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.document import Corpus, Document
from lab.corpus.read import read_corpus
from lab.errors import ConfigError, CorpusError, DiagnosticsError
from lab.relevance.frame import queries_from_frame
from lab.relevance.query import Query
from lab.relevance.read import read_diagnostics

if TYPE_CHECKING:
    import pandas as pd

    GivenCorpus: TypeAlias = (
        Corpus | str | Path | pd.DataFrame | Mapping[str, str] | Iterable[Document]
    )
    GivenQueries: TypeAlias = Sequence[Query] | str | Path | Sequence[str | Path] | pd.DataFrame
    GivenMeasure: TypeAlias = Measure | Mapping[str, Any] | Sequence[str] | None


def as_inputs(corpus: "GivenCorpus", queries: "GivenQueries") -> tuple[Corpus, Sequence[Query]]:
    """Documents and questions from whatever holds them. Raises CorpusError or DiagnosticsError for
    anything else."""
    documents = as_corpus(corpus)
    return documents, as_queries(queries, documents)


def as_corpus(given: "GivenCorpus") -> Corpus:
    """Documents from a corpus, a path, a DataFrame (see `Corpus.from_frame`), `lab.Document`s or
    texts by id."""
    if isinstance(given, Corpus):
        return given
    if isinstance(given, str | Path):
        return read_corpus(given)
    if _is_frame(given):
        return Corpus.from_frame(given)
    if isinstance(given, Mapping):
        given = [Document(doc_id, text) for doc_id, text in given.items()]
    if isinstance(given, Iterable):
        documents = list(given)
        if all(isinstance(item, Document) for item in documents):
            return Corpus(documents)
    raise CorpusError(
        f"the corpus is a {type(given).__name__}; expected a lab.Corpus, the path of documents, a "
        "DataFrame, lab.Documents, or texts by id"
    )


def as_queries(given: "GivenQueries", corpus: Corpus) -> Sequence[Query]:
    """Questions from `lab.Query`s, paths of sets, or a DataFrame (see `lab.queries_from_frame`)."""
    if isinstance(given, str | Path):
        return read_diagnostics(given, corpus)
    if _is_frame(given):
        return queries_from_frame(given, corpus)
    if not isinstance(given, Sequence):
        raise DiagnosticsError(
            f"the questions are a {type(given).__name__}; expected a list of lab.Query, the paths "
            "of sets, or a DataFrame"
        )
    paths = [item for item in given if isinstance(item, str | Path)]
    if paths and len(paths) == len(given):
        return read_diagnostics(paths, corpus)
    strange = [item for item in given if not isinstance(item, Query)]
    if strange:
        raise DiagnosticsError(
            f"{len(strange)} of {len(given)} questions are none, such as {strange[0]!r}; "
            "expected lab.Query, or paths alone"
        )
    return [item for item in given if isinstance(item, Query)]


def _is_frame(given: object) -> "TypeGuard[pd.DataFrame]":
    """Whether it is a DataFrame, without loading pandas to ask."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(given, pandas.DataFrame)


def as_grid(grid: Grid | Mapping[str, Any] | None) -> Grid:
    """A grid from one, from its settings, or the default one."""
    if isinstance(grid, Mapping):
        return Grid(**grid)
    if grid is None or isinstance(grid, Grid):
        return grid or Grid()
    raise ConfigError(f"the grid is a {type(grid).__name__}; expected a lab.Grid or a mapping")


def as_measure(measure: "GivenMeasure") -> Measure:
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
