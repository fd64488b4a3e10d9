"""Retrieval diagnostics lab: which retriever is best, how sure that is, and what lost each failed question."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lab.corpus.document import Corpus, Document
    from lab.corpus.read import read_corpus
    from lab.errors import LabError
    from lab.experiment.config import Config
    from lab.experiment.experiment import Measure, read_experiment
    from lab.experiment.grid import Grid
    from lab.experiment.result import Result
    from lab.experiment.run_folder import read_run
    from lab.experiment.sweep import sweep
    from lab.truth.query import Evidence, Query
    from lab.truth.read import read_diagnostics

# Loaded at first use, so that `import lab` and `lab --help` cost nothing.
_HOME = {
    "Config": "lab.experiment.config",
    "Corpus": "lab.corpus.document",
    "Document": "lab.corpus.document",
    "Evidence": "lab.truth.query",
    "Grid": "lab.experiment.grid",
    "LabError": "lab.errors",
    "Measure": "lab.experiment.experiment",
    "Query": "lab.truth.query",
    "Result": "lab.experiment.result",
    "read_corpus": "lab.corpus.read",
    "read_diagnostics": "lab.truth.read",
    "read_experiment": "lab.experiment.experiment",
    "read_run": "lab.experiment.run_folder",
    "sweep": "lab.experiment.sweep",
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
    "Result",
    "read_corpus",
    "read_diagnostics",
    "read_experiment",
    "read_run",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'lab' has no attribute '{name}'")
