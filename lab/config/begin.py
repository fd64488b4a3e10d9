"""Beginning: an experiment file beside the user's documents and questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.config.fitting import fitting
from lab.config.starter import free_name, starter
from lab.corpus.read import read_corpus
from lab.errors import ConfigError
from lab.relevance.read import read_diagnostics

# What `lab import` and BEIR call questions that lie beside their documents.
BESIDE = "queries.jsonl"


@dataclass(frozen=True, slots=True)
class Begun:
    """The file that was written, and what to do next, a line each."""

    file: Path
    notes: tuple[str, ...]


def begin(corpus: Path, sets: Sequence[Path], out: Path | None) -> Begun:
    """Write an experiment file for documents and their questions: those named, else those that lie
    beside them, else those that `lab probe` would mine.

    Raises ConfigError where the file is there already, CorpusError and DiagnosticsError for what
    cannot be read.
    """
    name = free_name(corpus)
    file = out or Path(f"{name}.toml")
    if file.exists():
        raise ConfigError(
            f"{file}: is there already, and nothing is overwritten; name another with --out"
        )
    documents = read_corpus(corpus)
    places = list(sets) or _sets_of(corpus, name)
    if places:
        read_diagnostics(places, documents)
        notes = [f"next: lab check {file}, then lab run {file}"]
    else:
        places = [Path("diagnostic_sets") / f"{name}-mined"]
        notes = [
            f"no questions yet: lab probe {corpus} mines some into {places[0]}, as the file says",
            f"next: lab probe {corpus}, then lab run {file}",
        ]
    fits = fitting(documents)
    text = starter(name, documents, str(corpus), [str(place) for place in places], fits)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as fault:
        raise ConfigError(f"{file}: cannot be written ({fault.strerror})") from None
    return Begun(file, tuple(notes))


def _sets_of(corpus: Path, name: str) -> list[Path]:
    """Questions that lie where the lab's commands put them."""
    if corpus.is_dir() and (corpus / BESIDE).is_file():
        return [corpus]
    named = Path("diagnostic_sets") / name
    return [named] if named.is_dir() else []
