"""TREC runs: rankings in columns, ordered as trec_eval orders them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lab.corpus.lines import numbered_lines
from lab.corpus.values import number
from lab.errors import CorpusError

WIDTH = 6
INFINITE = {"inf": float("inf"), "infinity": float("inf")}


@dataclass(frozen=True, slots=True)
class RunLine:
    """One hit of a TREC run; the rank column is not kept, as trec_eval ignores it."""

    place: str
    query_id: str
    doc_id: str
    score: float


def read_run(path: Path) -> list[RunLine]:
    """Hits of a TREC run, packed (.gz) or not: query, Q0, document, rank, score, tag, by blanks or
    tabs. Lines that begin with `#` are comments.

    Columns are cut at tabs where all six are, so that ids with blanks survive; blanks around an id
    are padding. Raises CorpusError with every bad line.
    """
    problems: list[str] = []
    lines: list[RunLine] = []
    for position, line in numbered_lines(path, CorpusError):
        place = f"{path}:{position}"
        if line.startswith("#"):
            continue
        columns = _columns(line)
        if len(columns) != WIDTH:
            problems.append(
                f"{place}: {len(columns)} columns; expected query, Q0, document, rank, score, tag"
            )
            continue
        score = _score(columns[4])
        if score is None:
            problems.append(f"{place}: score is {columns[4][:80]!r}; expected a number")
            continue
        lines.append(RunLine(place, columns[0], columns[2], score))
    if problems:
        raise CorpusError(problems)
    return lines


def rankings_of(lines: Iterable[RunLine]) -> dict[str, tuple[str, ...]]:
    """Documents of every question, best first as trec_eval has them: by score as float32, equals by
    document id descending. A document that a question lists twice stands at its better place."""
    rows: dict[str, list[tuple[np.float32, str]]] = {}
    with np.errstate(over="ignore"):  # beyond the float32 is infinite, to trec_eval as well
        for line in lines:
            rows.setdefault(line.query_id, []).append((np.float32(line.score), line.doc_id))
    return {
        query_id: tuple(dict.fromkeys(doc_id for _, doc_id in sorted(hits, reverse=True)))
        for query_id, hits in rows.items()
    }


def _columns(line: str) -> list[str]:
    by_tab = [column.strip() for column in line.split("\t")]
    return by_tab if len(by_tab) == WIDTH and all(by_tab) else line.split()


def _score(text: str) -> float | None:
    """A finite number or an infinity; None for what is no number."""
    plain = text.lower()
    if plain.lstrip("+-") in INFINITE:
        return INFINITE[plain.lstrip("+-")] * (-1 if plain.startswith("-") else 1)
    value = number(text)
    return None if value is None else float(value)
