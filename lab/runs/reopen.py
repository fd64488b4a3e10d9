"""Opening a finished run together with the documents and questions that it was made of."""

from dataclasses import dataclass
from pathlib import Path

from lab.corpus.document import Corpus
from lab.corpus.read import read_corpus
from lab.errors import RunError
from lab.relevance.query import Query
from lab.relevance.read import read_diagnostics
from lab.runs.folder import read_run
from lab.runs.run import Run


@dataclass(frozen=True, eq=False)
class Reopened:
    """A run, its documents and its questions."""

    run: Run
    corpus: Corpus
    queries: tuple[Query, ...]


def reopen(path: str | Path) -> Reopened:
    """Read the run folder, then the documents and sets at the paths it names.

    Raises RunError when the run is no run, names no paths (a sweep from Python), or the documents
    have changed since.
    """
    run = read_run(path)
    paths = run.manifest.get("paths")
    if paths is None:
        raise RunError(
            f"{path}: made from Python, it does not say where its documents lie; use Result instead"
        )
    corpus = read_corpus(paths["corpus"])
    if corpus.fingerprint != run.manifest["corpus"]["fingerprint"]:
        raise RunError(
            f"{paths['corpus']}: the documents have changed since {path} was made; run the "
            "experiment again"
        )
    return Reopened(run, corpus, read_diagnostics(paths["diagnostic_sets"], corpus))
