"""Retrieval diagnostics lab: which retriever is best, how sure that is, and what lost each failed
question."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lab.runs.renderer import Renderer, draw_with
from lab.versions import LAB, version_of

if TYPE_CHECKING:
    from lab.config.config import Config
    from lab.config.experiment import read_experiment
    from lab.config.grid import Grid
    from lab.config.measure import Measure
    from lab.corpus.document import Corpus, Document
    from lab.corpus.read import read_corpus
    from lab.errors import LabError
    from lab.pipeline.foreign.recorder import Recorder
    from lab.relevance.frame import queries_from_frame
    from lab.relevance.query import Evidence, Query
    from lab.relevance.read import read_diagnostics
    from lab.runs.index import index
    from lab.runs.load import load
    from lab.runs.run import Run, read_run
    from lab.sweeping.session import Session
    from lab.sweeping.sweep import sweep

# Loaded at first use, so that `import lab` and `lab --help` cost nothing.
_HOME = {
    "Config": "lab.config.config",
    "Corpus": "lab.corpus.document",
    "Document": "lab.corpus.document",
    "Evidence": "lab.relevance.query",
    "Grid": "lab.config.grid",
    "LabError": "lab.errors",
    "Measure": "lab.config.measure",
    "Query": "lab.relevance.query",
    "Recorder": "lab.pipeline.foreign.recorder",
    "Run": "lab.runs.run",
    "Session": "lab.sweeping.session",
    "index": "lab.runs.index",
    "load": "lab.runs.load",
    "queries_from_frame": "lab.relevance.frame",
    "read_corpus": "lab.corpus.read",
    "read_diagnostics": "lab.relevance.read",
    "read_experiment": "lab.config.experiment",
    "read_run": "lab.runs.run",
    "sweep": "lab.sweeping.sweep",
}

__all__ = [
    "Config",
    "Corpus",
    "Document",
    "Evidence",
    "Grid",
    "LabError",
    "Measure",
    "Query",
    "Recorder",
    "Run",
    "Session",
    "index",
    "load",
    "queries_from_frame",
    "read_corpus",
    "read_diagnostics",
    "read_experiment",
    "read_run",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version_of(LAB) or "unknown"
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'lab' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def _renderer() -> Renderer:
    """The report draws runs; it lies below them, so the front door introduces it."""
    from lab.report.notebook import Plots, html_of
    from lab.report.page.page import page

    return Renderer(page, html_of, Plots)


draw_with(_renderer)
