"""The documents and questions that a run was made from: where they are looked for, and the check
that they are still the same."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab.corpus.document import Corpus
from lab.corpus.read import read_corpus
from lab.errors import RunError
from lab.relevance.query import Query
from lab.relevance.read import read_diagnostics

Sets = str | Path | Sequence[str | Path]
NAME_THEM = "name them with lab.read_run(path, corpus=...), or --corpus on the command line"
NAME_SETS = "name them with lab.read_run(path, questions=...), or --questions on the command line"


@dataclass(frozen=True, slots=True)
class Inputs:
    """What whoever opened a run gave beside it: documents or their path, questions or the paths of
    their sets, and the folder of the run. None where nothing was given."""

    corpus: Corpus | str | Path | None = None
    questions: Sets | Sequence[Query] | None = None
    folder: Path | None = None


def find_corpus(manifest: Mapping[str, Any], inputs: Inputs) -> Corpus:
    """The documents of a run: those given, else those at the path it names, as given then, as an
    absolute path, or inside the run's folder.

    Raises RunError when they are at none of these places, or are no longer the same.
    """
    if isinstance(inputs.corpus, Corpus):
        return _same(inputs.corpus, manifest, "the documents given")
    *others, last = corpus_places(manifest, inputs)
    for place in others:
        corpus = read_corpus(place)
        if corpus.fingerprint == manifest["corpus"]["fingerprint"]:
            return corpus
    return _same(read_corpus(last), manifest, str(last))


def corpus_places(manifest: Mapping[str, Any], inputs: Inputs) -> list[Path]:
    """Where the documents of a run may lie now: the path given, else those at which there is
    something of the path that the run names, as given then, as an absolute path, or inside the
    run's folder. Raises RunError when there is nothing."""
    if isinstance(inputs.corpus, str | Path):
        return [Path(inputs.corpus)]
    named = manifest["corpus"]
    if named["path"] is None:
        raise RunError(
            "this run was made from documents given in Python, so it does not say where they lie; "
            + NAME_THEM
        )
    path = Path(named["path"])
    places = [path, Path(named["absolute_path"])]
    if inputs.folder is not None:
        places.append(inputs.folder / path.name)
    # A run is called like its documents more often than not, and is none itself.
    there = [place for place in dict.fromkeys(places) if place.exists() and not _is_run(place)]
    if not there:
        raise RunError(
            f"{path}: the documents of this run are not there, nor at {named['absolute_path']}; "
            + NAME_THEM
        )
    return there


def _is_run(place: Path) -> bool:
    return (place / "manifest.json").is_file() and (place / "systems.parquet").is_file()


def _same(corpus: Corpus, manifest: Mapping[str, Any], place: str) -> Corpus:
    if corpus.fingerprint != manifest["corpus"]["fingerprint"]:
        raise RunError(
            f"{place}: the documents have changed since this run was made, or are others; run the "
            "experiment again, or " + NAME_THEM
        )
    return corpus


def find_sets(manifest: Mapping[str, Any], inputs: Inputs) -> list[Path]:
    """The files and folders that the questions of a run were read from, where they lie now: those
    given, else those the run names. Raises RunError when it names none, or one is not there."""
    if isinstance(inputs.questions, str | Path):
        return [Path(inputs.questions)]
    given = [item for item in inputs.questions or () if isinstance(item, str | Path)]
    if given:
        return [Path(path) for path in given]
    named = manifest["questions"]
    if not named["paths"]:
        raise RunError(
            "this run was made from questions given in Python, so it does not say where they lie; "
            + NAME_SETS
        )
    pairs = zip(named["paths"], named["absolute_paths"], strict=True)
    places = [Path(path if Path(path).exists() else absolute) for path, absolute in pairs]
    gone = [path for path in places if not path.exists()]
    if gone:
        raise RunError(f"{path}: questions of this run are not there; {NAME_SETS}" for path in gone)
    return places


def find_questions(
    manifest: Mapping[str, Any],
    inputs: Inputs,
    corpus: Callable[[], Corpus],
    asked: Iterable[str],
) -> tuple[Query, ...]:
    """The questions of a run by id (`asked`): those given, or of its sets (see `find_sets`). Raises
    RunError when they are nowhere, or are no longer the same."""
    given = tuple(item for item in _several(inputs.questions) if isinstance(item, Query))
    queries = given or read_diagnostics(find_sets(manifest, inputs), corpus())
    wanted = set(asked)
    questions = tuple(
        sorted((q for q in queries if q.query_id in wanted), key=lambda query: query.query_id)
    )
    if questions_fingerprint(questions) != manifest["questions"]["fingerprint"]:
        raise RunError(
            "the questions have changed since this run was made, or are others; run the experiment "
            "again, or " + NAME_SETS
        )
    return questions


def _several(given: Sets | Sequence[Query] | None) -> Sequence[object]:
    return () if given is None or isinstance(given, str | Path) else given


def questions_fingerprint(queries: Iterable[Query]) -> str:
    """SHA-256 over everything that is asked and judged, whatever the order."""
    rows = [
        [
            query.query_id,
            query.text,
            query.kind,
            dict(query.tags),
            query.answer,
            [asdict(item) for item in query.evidence],
            *_used_if_set(query),
        ]
        for query in sorted(queries, key=lambda query: query.query_id)
    ]
    return fingerprint(rows)


def _used_if_set(query: Query) -> list[Any]:
    """Variants and filter, then the date, then the history; nothing where a question has none of
    them, so that older fingerprints of its set hold."""
    later: list[Any] = [query.date] if query.date else []
    if query.history:
        later.append({"history": [asdict(turn) for turn in query.history]})
    if not query.variants and query.filter is None:
        return later
    return [list(query.variants), query.filter and query.filter.plain, *later]


def fingerprint(plain: Any) -> str:
    """SHA-256 of plain values as JSON."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
