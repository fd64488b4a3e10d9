"""`lab import`: a foreign source becomes the lab's own files, with a report of every change."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.errors import CorpusError
from lab.relevance.query import Query, has_spans
from lab.sets.importing.formats.collection import Finding
from lab.sets.importing.formats.read import read_collection
from lab.sets.importing.mend import Mended, mend, off_scale
from lab.sets.importing.suspect import suspicious

REPORT = "import-report.txt"


@dataclass(frozen=True, slots=True)
class Imported:
    """What was written where, and what was noticed; `judgements` counts what is left of them."""

    folder: Path
    documents: int
    questions: int
    judgements: int
    spans: bool
    findings: tuple[Finding, ...]


def import_source(
    source: str,
    folder: Path,
    *,
    documents: str | None = None,
    questions: str | None = None,
    judgements: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Imported:
    """Read `source` (see `read_collection`), mend and check it, and write `folder`:

    `documents.jsonl`; questions with spans or groups as `queries.jsonl` of the lab's form, else as
    BEIR's `queries.jsonl` and `qrels/test.tsv`; and `import-report.txt`. An earlier import at the
    place is replaced; any other folder is left alone. Raises CorpusError with every problem.
    """
    if (
        folder.exists()
        and not (folder / REPORT).is_file()
        and (not folder.is_dir() or any(folder.iterdir()))
    ):
        raise CorpusError(
            f"{folder}: exists and is not an earlier import; name another folder with --to"
        )
    read = read_collection(
        source, documents=documents, questions=questions, judgements=judgements, columns=columns
    )
    if not read.documents:
        raise CorpusError(
            [
                f"{source}: no documents there, nothing is written",
                *map(str, off_scale(read.judgements)),
            ]
        )
    mended = mend(read)
    findings = (*mended.findings, *suspicious(mended.documents, mended.queries))
    evidence = sum(len(query.evidence) for query in mended.queries)
    imported = Imported(
        folder,
        len(mended.documents),
        len(mended.queries),
        evidence,
        has_spans(mended.queries),
        findings,
    )
    _write(imported, mended, source)
    return imported


def _write(imported: Imported, mended: Mended, source: str) -> None:
    """Written beside the place, then renamed: a reader finds the whole set or none."""
    folder = imported.folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            _lines(fresh / "documents.jsonl", (document.record for document in mended.documents))
            if mended.queries:
                plain = all(
                    item.whole and item.group is None
                    for query in mended.queries
                    for item in query.evidence
                )
                (_write_judged if plain else _write_spans)(fresh, mended.queries)
            (fresh / REPORT).write_text(report(imported, source), "utf-8")
            fresh.chmod(0o755)
            if folder.exists():
                old = fresh.with_name(fresh.name + "-old")
                os.rename(folder, old)
                os.rename(fresh, folder)
                shutil.rmtree(old)
            else:
                os.rename(fresh, folder)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as fault:
        raise CorpusError(f"{folder}: cannot be written ({fault.strerror})") from None


def _lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        # default: Parquet brings dates and bytes as metadata, which JSON has no word for.
        file.writelines(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)


def _write_spans(folder: Path, queries: Sequence[Query]) -> None:
    _lines(folder / "queries.jsonl", map(_query, queries))


def _query(query: Query) -> dict[str, Any]:
    evidence = []
    for item in query.evidence:
        row: dict[str, Any] = {"doc_id": item.doc_id, "grade": max(1, min(item.grade, 3))}
        if not item.whole:
            row |= {"start": item.start, "end": item.end}
        if item.group is not None:
            row["group"] = item.group
        evidence.append(row)
    return {
        "query_id": query.query_id,
        "text": query.text,
        "tags": dict(query.tags),
        "answer": query.answer,
        "evidence": evidence,
    }


def _write_judged(folder: Path, queries: Sequence[Query]) -> None:
    cut = sorted(
        {
            name
            for query in queries
            for name in (query.query_id, *(item.doc_id for item in query.evidence))
            if any(character in name for character in "\t\n\r")
        }
    )
    if cut:
        raise CorpusError(
            f"id {name!r} holds a tab or a line break, which a qrels file cannot carry; rename it"
            for name in cut
        )
    _lines(folder / "queries.jsonl", ({"_id": q.query_id, "text": q.text} for q in queries))
    (folder / "qrels").mkdir()
    with (folder / "qrels" / "test.tsv").open("w", encoding="utf-8", newline="\n") as file:
        file.write("query-id\tcorpus-id\tscore\n")
        file.writelines(
            f"{q.query_id}\t{item.doc_id}\t{item.grade}\n" for q in queries for item in q.evidence
        )


def report(imported: Imported, source: str) -> str:
    """The report's text: counts, then every finding on a line of its own."""
    counts = (
        f"{imported.documents} documents, {imported.questions} questions, "
        f"{imported.judgements} judgements"
    )
    lines = [f"imported from {source}: {counts}"]
    lines += [
        f"{action} ({rule}): {len(cases)}"
        for (action, rule), cases in by_rule(imported.findings).items()
    ]
    # Ids and quotes can hold line breaks; a finding stays on its line.
    lines += ["", *(" ".join(str(finding).splitlines()) for finding in imported.findings)]
    return "\n".join(lines).rstrip() + "\n"


def by_rule(findings: Iterable[Finding]) -> dict[tuple[str, str], list[Finding]]:
    """Findings by what was done and why, in order of first mention."""
    found: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        found.setdefault((finding.action, finding.rule), []).append(finding)
    return found
