"""Qrels: judgements in columns, read alike by every command."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from warnings import warn

from lab.corpus.lines import numbered_lines
from lab.corpus.values import GRADE, grade
from lab.errors import DiagnosticsError, LabWarning

# What the first and the last column of a header are called, where the first line is no judgement.
QUERIES = {"query-id", "query_id"}
GRADES = {"score", "grade", "rel", "relevance", "relevancy", "label", "judgement", "judgment"}


@dataclass(frozen=True, slots=True)
class Judged:
    """One judgement as its file has it, at `file:line`."""

    place: str
    query_id: str
    doc_id: str
    grade: int


def read_qrels(file: Path, problems: list[str]) -> Iterator[Judged]:
    """Every judgement of a file, packed (.gz) or not; bad lines go to `problems`.

    Raises DiagnosticsError when the file cannot be read.
    """
    lines = numbered_lines(file, DiagnosticsError)
    yield from once(parse_qrels(((f"{file}:{n}", line) for n, line in lines), problems), problems)


def parse_qrels(lines: Iterable[tuple[str, str]], problems: list[str]) -> Iterator[Judged]:
    """Judgements of placed lines: query, document, grade (BEIR, with or without its header); query,
    iteration, document, grade (TREC); or query, document, 0, 0 (SMART), which means relevant.

    Columns part at tabs, so that ids may hold blanks, else at blanks. Lines that begin with `#` are
    comments. Grades are whole numbers, also written `1.0`. Bad lines go to `problems`.
    """
    rows: list[tuple[str, list[str]]] = []
    for place, line in lines:
        if line.startswith("#") or not line.strip():
            continue
        columns = _columns(line)
        if len(columns) not in (3, 4):
            problems.append(
                f"{place}: {len(columns)} columns; expected query, document, grade (BEIR) or "
                "query, 0, document, grade (TREC)"
            )
            continue
        rows.append((place, columns))
    if rows and _is_header(rows[0][1]):
        del rows[0]
    if rows and all(_is_smart(columns) for _, columns in rows):
        yield from (Judged(place, columns[0], columns[1], 1) for place, columns in rows)
        return
    for place, columns in rows:
        value = grade(columns[-1])
        if value is None:
            problems.append(f"{place}: grade is {columns[-1][:80]!r}; {GRADE}")
        else:
            yield Judged(place, columns[0], columns[-2], value)


def once(judgements: Iterable[Judged], problems: list[str]) -> Iterator[Judged]:
    """Each pair of question and document once: repeated alike it is a warning, with another grade a
    problem that names both places."""
    seen: dict[tuple[str, str], Judged] = {}
    for row in judgements:
        first = seen.setdefault((row.query_id, row.doc_id), row)
        if first is row:
            yield row
        elif first.grade == row.grade:
            warn(
                f"{row.place}: '{row.query_id}' and '{row.doc_id}' were judged alike at "
                f"{first.place}; counted once",
                LabWarning,
                stacklevel=2,
            )
        else:
            problems.append(
                f"{row.place}: '{row.query_id}' and '{row.doc_id}' have grade {row.grade} here and "
                f"{first.grade} at {first.place}; keep one"
            )


def _columns(line: str) -> list[str]:
    by_tab, by_blank = [column.strip() for column in line.split("\t")], line.split()
    # SMART's files part the ids by blanks, and only the zeros by tabs.
    mixed = len(by_tab) == 3 and len(by_blank) == 4 and by_tab[1] == "0" and _is_smart(by_blank)
    return by_tab if len(by_tab) in (3, 4) and all(by_tab) and not mixed else by_blank


def _is_header(columns: list[str]) -> bool:
    return columns[0].lower() in QUERIES or columns[-1].lower() in GRADES


def _is_smart(columns: list[str]) -> bool:
    """Query, document, 0, 0: what SMART collections have; no set has a document `0` throughout, all
    of them not relevant."""
    return len(columns) == 4 and columns[2] == "0" and grade(columns[3]) == 0
