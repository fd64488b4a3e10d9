"""Reading diagnostic sets: JSONL of questions with evidence, or a BEIR folder's queries and
qrels."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from lab.corpus.document import Corpus
from lab.corpus.filter import Fields
from lab.corpus.lines import read_records
from lab.corpus.names import Names
from lab.corpus.read import TABLES
from lab.errors import DiagnosticsError
from lab.relevance.evidence import missing
from lab.relevance.qrels import read_qrels
from lab.relevance.query import Evidence, Query
from lab.relevance.record import Reading, beir_question_of, question_of


def read_diagnostics(paths: str | Path | Iterable[str | Path], corpus: Corpus) -> tuple[Query, ...]:
    """Read the questions of one or more sets and locate their evidence in `corpus`.

    Each path is a .jsonl file, a folder of them, or a BEIR folder (`queries.jsonl` with `_id`,
    `qrels/test.tsv`), whose judgements are per document. Raises DiagnosticsError with every faulty
    line of every file.
    """
    reading = Reading(corpus, Fields(corpus))
    problems, queries = reading.problems, list[Query]()
    for path in [paths] if isinstance(paths, str | Path) else paths:
        path = Path(path)
        reads = (
            [_read_beir(path, reading)]
            if _is_beir(path, problems)
            else [_read_file(file, reading) for file in _files(path, problems)]
        )
        for read in reads:
            try:
                queries.extend(replace(query, source=str(path)) for query in read)
            except DiagnosticsError as fault:
                # A file that cannot be read: the others are checked all the same.
                problems.extend(fault.problems)
    if not queries and not problems:
        problems.append(
            f'{paths}: holds no question; expected lines like {{"query_id", "text", "evidence": '
            f"[...]}}"
        )
    return reading.finished(queries)


def _is_beir(path: Path, problems: list[str]) -> bool:
    try:
        return (path / "qrels").is_dir()
    except (OSError, ValueError) as fault:  # a folder without leave to enter, a name with NUL
        problems.append(f"{path}: cannot be read ({getattr(fault, 'strerror', None) or fault})")
        return False


def _files(path: Path, problems: list[str]) -> list[Path]:
    try:
        if path.is_file() or (path.exists() and not path.is_dir()):
            return [path]
        files = sorted(file for file in path.glob("*.jsonl") if file.name not in TABLES)
        absent = not path.exists()
    except (OSError, ValueError):
        return []  # told by now
    if not files:
        problems.append(
            f"{path}: no such file or folder"
            if absent
            else f"{path}: holds no .jsonl file of questions"
        )
    return files


def _read_file(file: Path, reading: Reading) -> Iterator[Query]:
    for place, record in read_records(file, reading.problems, DiagnosticsError):
        query = question_of(record, place, reading)
        if query is not None:
            yield query


def _read_beir(path: Path, reading: Reading) -> Iterator[Query]:
    corpus, problems = reading.corpus, reading.problems
    asked: dict[str, Query] = {}
    for place, record in read_records(path / "queries.jsonl", problems, DiagnosticsError):
        query = beir_question_of(record, place, reading)
        if query is not None:
            asked[query.query_id] = query
    names, judged = Names(asked), dict[str, list[Evidence]]()
    for row in read_qrels(path / "qrels" / "test.tsv", problems):
        query_id, doc_id = names.find(row.query_id), corpus.names.find(row.doc_id)
        if query_id is None:
            problems.append(f"{row.place}: query '{row.query_id}' is not in queries.jsonl")
            continue
        items = judged.setdefault(query_id, [])
        if doc_id is None:
            lost = missing(row.doc_id, corpus, problems)
            problems.append(f"{row.place}: document '{row.doc_id}' {lost}")
        else:
            items.append(Evidence(doc_id, grade=row.grade))
    reading.judged += len(judged)
    yield from (
        replace(asked[query_id], evidence=tuple(items)) for query_id, items in judged.items()
    )
