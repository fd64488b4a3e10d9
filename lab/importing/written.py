"""What an import writes, and the list of it by which a later import knows its own files from the
user's."""

import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.corpus.read import read_corpus
from lab.errors import CorpusError, LabError, LabWarning
from lab.importing.formats.collection import Finding
from lab.importing.mend import Mended
from lab.relevance.query import Evidence, Query
from lab.relevance.read import read_diagnostics
from lab.storage.folder import replacing
from lab.versions import LAB, version_of

REPORT = "import-report.txt"
MANIFEST = "import-manifest.json"
DOCUMENTS = "documents.jsonl"
QUERIES = "queries.jsonl"
QRELS = "qrels/test.tsv"
# Grades of evidence in the lab's own form.
GRADES = range(1, 4)
# What is said of a folder that import may not replace.
ELSEWHERE = "name another folder with --to"


def readers_of(folder: str | None) -> list[str]:
    """The libraries, with versions, that read the documents of an import; none where the folder is
    no import's, or its documents are no longer what it wrote."""
    if folder is None or not (Path(folder) / MANIFEST).is_file():
        return []
    try:
        manifest = json.loads((Path(folder) / MANIFEST).read_text("utf-8"))
        unchanged = manifest["files"].get(DOCUMENTS) == _digest(Path(folder) / DOCUMENTS)
        return [str(reader) for reader in manifest["readers"]] if unchanged else []
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []


def check_place(folder: Path) -> None:
    """Raises CorpusError where `folder` cannot be written, holds what no import wrote, or was
    changed since an import wrote it."""
    if not folder.exists():
        parent = next(path for path in folder.absolute().parents if path.exists())
        if not parent.is_dir() or not os.access(parent, os.W_OK):
            raise CorpusError(f"{folder}: cannot be written, {parent} does not allow it")
        return
    if not folder.is_dir():
        raise CorpusError(f"{folder}: is not a folder; {ELSEWHERE}")
    if not any(folder.iterdir()):
        return
    changed = [
        f"{folder / name}: was changed since an import wrote it; move it away, or {ELSEWHERE}"
        for name, digest in written(folder).items()
        if (folder / name).is_file() and _digest(folder / name) != digest
    ]
    if changed:
        raise CorpusError(changed)


def written(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file that an import wrote there, by name. Raises CorpusError where none
    did."""
    if not (folder / MANIFEST).is_file():
        raise CorpusError(
            f"{folder}: exists and is not an earlier import (it has no {MANIFEST}); {ELSEWHERE}"
        )
    try:
        files = json.loads((folder / MANIFEST).read_text("utf-8"))["files"]
        return {str(name): str(digest) for name, digest in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as fault:
        raise CorpusError(
            f"{folder / MANIFEST}: cannot be read ({type(fault).__name__}: {fault}); {ELSEWHERE}"
        ) from None


def write(
    folder: Path,
    mended: Mended,
    findings: list[Finding],
    readers: Sequence[str],
    report: Callable[[], str],
) -> None:
    """Write the set whole or not at all, once the lab's own readers have read it. What was left out
    is added to `findings` before the report is made. Files that an import did not write stay."""
    place = folder.resolve() if folder.is_symlink() else folder
    kept = _kept(place)
    try:
        with replacing(place) as fresh:
            _lines(fresh / DOCUMENTS, (document.record for document in mended.documents))
            if mended.queries:
                _write_queries(fresh, mended.queries, findings)
            _read_back(fresh, place, bool(mended.queries))
            (fresh / REPORT).write_text(report(), "utf-8")
            _write_manifest(fresh, readers)
            _carry(place, fresh, kept)
    except OSError as fault:
        raise CorpusError(f"{folder}: cannot be written ({fault.strerror or fault})") from None


def _kept(folder: Path) -> list[str]:
    """Names of the files there that no import wrote."""
    if not folder.exists() or not any(folder.iterdir()):
        return []
    ours = {*written(folder), MANIFEST}
    names = (
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or not path.is_dir()
    )
    return [name for name in names if name not in ours]


def _carry(folder: Path, fresh: Path, kept: Sequence[str]) -> None:
    """Give the user's files a place in the new folder, as links to the same content where the file
    system has them."""
    taken = [name for name in kept if (fresh / name).exists()]
    if taken:
        raise CorpusError(
            f"{folder / name}: import would write a file of this name; move it away, or {ELSEWHERE}"
            for name in taken
        )
    for name in kept:
        (fresh / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(folder / name, fresh / name, follow_symlinks=False)
        except OSError:
            shutil.copy2(folder / name, fresh / name, follow_symlinks=False)


def _write_manifest(folder: Path, readers: Sequence[str]) -> None:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    manifest = {
        "lab": version_of(LAB) or "unknown",
        "readers": list(readers),
        "files": {path.relative_to(folder).as_posix(): _digest(path) for path in files},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1, ensure_ascii=False), "utf-8")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_back(fresh: Path, folder: Path, asked: bool) -> None:
    """Raises CorpusError where the lab would refuse what was written."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LabWarning)
            corpus = read_corpus(fresh)
            if asked:
                read_diagnostics(fresh, corpus)
    except LabError as fault:
        raise CorpusError(
            problem.replace(str(fresh), str(folder)) for problem in fault.problems
        ) from None


def _lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    problems = []
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            try:
                # default: Parquet brings dates and bytes as metadata, which JSON has no word for.
                line = json.dumps(row, ensure_ascii=False, allow_nan=False, default=str)
            except ValueError:
                name = row.get("doc_id") or row.get("query_id")
                problems.append(f"'{name}' holds a number that is not finite, or itself")
            else:
                file.write(line + "\n")
    if problems:
        raise CorpusError(problems)


def _write_queries(folder: Path, queries: Sequence[Query], findings: list[Finding]) -> None:
    """In the lab's own form where BEIR's, which knows judged documents only, would lose something;
    grades beyond 1 to 3 are BEIR's alone."""
    items = [item for query in queries for item in query.evidence]
    plain = all(item.whole and item.group is None for item in items)
    said = [query for query in queries if query.answer or query.tags]
    if plain and items and not (said and all(item.grade in GRADES for item in items)):
        findings.extend(
            Finding(
                query.query_id,
                "dropped",
                "answer or tags",
                "a set with grades beyond 1 to 3 keeps the question alone",
            )
            for query in said
        )
        _write_judged(folder, queries)
    else:
        _lines(folder / QUERIES, (_query(query, findings) for query in queries))


def _query(query: Query, findings: list[Finding]) -> dict[str, Any]:
    evidence = []
    for item in query.evidence:
        if item.grade not in GRADES:
            done = "left out, for it is not relevant" if item.grade < 1 else "written as 3"
            message = f"grade {item.grade} of '{item.doc_id}' is {done}"
            findings.append(Finding(query.query_id, "mended", "grade beyond 1 to 3", message))
        if item.grade >= 1:
            evidence.append(_evidence(item))
    return {
        "query_id": query.query_id,
        "text": query.text,
        "tags": dict(query.tags),
        "answer": query.answer,
        "evidence": evidence,
    }


def _evidence(item: Evidence) -> dict[str, Any]:
    row: dict[str, Any] = {"doc_id": item.doc_id, "grade": min(item.grade, GRADES[-1])}
    if not item.whole:
        row |= {"start": item.start, "end": item.end}
    if item.group is not None:
        row["group"] = item.group
    return row


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
    _lines(folder / QUERIES, ({"_id": q.query_id, "text": q.text} for q in queries))
    (folder / QRELS).parent.mkdir()
    with (folder / QRELS).open("w", encoding="utf-8", newline="\n") as file:
        file.write("query-id\tcorpus-id\tscore\n")
        file.writelines(
            f"{q.query_id}\t{item.doc_id}\t{item.grade}\n" for q in queries for item in q.evidence
        )
