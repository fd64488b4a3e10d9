"""Reading documents: a folder of .txt and .md files, `documents.jsonl`, or a BEIR folder."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lab.corpus.budget import Budget
from lab.corpus.document import Corpus, Document
from lab.corpus.front_matter import blanked, first_heading, front_matter
from lab.corpus.lines import identifier, note_repeat, optional_text, read_records, read_text
from lab.corpus.unread import Unread
from lab.errors import CorpusError, TooMuchTextError, encodable

TEXT_FILES = (".md", ".txt")
BEIR = "corpus.jsonl"
TABLES = ("documents.jsonl", BEIR)


def read_corpus(path: str | Path) -> Corpus:
    """Read the documents at `path`.

    `path` is a folder with `documents.jsonl` (doc_id, text, title, anything else is metadata), a
    BEIR folder with `corpus.jsonl` (_id, title, text: title and text are joined by one blank; its
    `metadata` and other keys are metadata), or a folder of .txt and .md files (its folder
    `documents/` if it has one), whose ids are their paths below it; or one of these files. YAML
    front matter of a .md file is its title and metadata, not text; offsets stay those of the file.
    Where nothing else names it, its first `# ` heading is its title. Files that are not read stand
    in `unread`; links that lead out of the folder are never followed.

    Raises CorpusError with every bad line or file, and as soon as there is more text than memory
    has room for (see `lab.corpus.budget`).
    """
    path = Path(path)
    try:
        file, absent = _table(path), not path.exists()
    except (OSError, ValueError) as fault:  # a folder without leave to enter, a name with NUL
        reason = getattr(fault, "strerror", None) or fault
        raise CorpusError(f"{path}: cannot be read ({reason})") from None
    if absent:
        raise CorpusError(
            f"{path}: no such folder or file; expected documents (.txt, .md, documents.jsonl or "
            "BEIR corpus.jsonl)"
        )
    unread = Unread(path)
    if file is None:
        return Corpus(_text_files(path, unread), unread.notes, str(path))
    problems: list[str] = []
    documents = list(_jsonl(file, problems))
    if not documents and not problems:
        problems.append(f"{file}: holds no document")
    if problems:
        raise CorpusError(problems)
    unread.beside(file)
    return Corpus(documents, unread.notes, str(path))


def _table(path: Path) -> Path | None:
    """The JSONL file that holds the documents, or None for a folder of text files."""
    if path.is_file():
        return path if path.suffix == ".jsonl" else None
    file = next((path / name for name in TABLES if (path / name).is_file()), None)
    if file is not None and not file.resolve().is_relative_to(path.resolve()):
        raise CorpusError(
            f"{file}: is a link that leads out of its folder, to {file.resolve()}; name that file "
            "itself, or put a copy there"
        )
    return file


def _jsonl(file: Path, problems: list[str]) -> Iterable[Document]:
    beir = file.name == BEIR
    key = "_id" if beir else "doc_id"
    seen: dict[str, str] = {}
    for place, record in read_records(file, problems, CorpusError):
        doc_id = identifier(record, key, place, problems)
        if doc_id is None:
            continue
        note_repeat(place, key, doc_id, seen, problems)
        text, title = (optional_text(record, part, place, problems) for part in ("text", "title"))
        rest = {name: value for name, value in record.items() if name not in (key, "text", "title")}
        if beir:
            inner = rest.pop("metadata", None)
            metadata = (inner if isinstance(inner, dict) else {}) | rest
            yield Document(
                doc_id, " ".join(part for part in (title, text) if part), title, metadata
            )
        else:
            yield Document(doc_id, text, title, rest)


def _text_files(path: Path, unread: Unread) -> list[Document]:
    problems: list[str] = []
    folder = path / "documents" if (path / "documents").is_dir() else path
    if path.is_file():
        if path.suffix.lower() not in TEXT_FILES and unread.is_foreign(path):
            raise CorpusError(f"{path}: is no .txt, .md or .jsonl file; `lab import` may read it")
        files = [path]
    else:
        files = sorted(_walk(folder, unread, problems))
        if folder != path:
            unread.beside(folder)
    documents: list[Document] = []
    budget = Budget()
    for file in files:
        doc_id = file.name if path.is_file() else file.relative_to(folder).as_posix()
        if not encodable(doc_id):
            problems.append(f"{os.fsencode(file)!r}: the file's name is not UTF-8; rename it")
            continue
        try:
            documents.append(text_document(doc_id, read_text(file, CorpusError, budget)))
        except TooMuchTextError:
            raise
        except CorpusError as fault:
            problems.extend(fault.problems)
    if not files and not problems:
        problems = [
            f"{folder}: no .txt or .md file, no documents.jsonl, no corpus.jsonl in it",
            *unread.notes,
        ]
    if problems:
        raise CorpusError(problems)
    return documents


def _walk(folder: Path, unread: Unread, problems: list[str]) -> Iterator[Path]:
    """Text files below a folder. What cannot be entered is a problem, anything else is unread."""

    def refused(fault: OSError) -> None:
        problems.append(f"{fault.filename}: cannot be read ({fault.strerror})")

    inside = folder.resolve()
    for place, folders, names in os.walk(folder, onerror=refused):
        folders.sort()
        for name in sorted((*names, *folders)):
            file = Path(place, name)
            if file.is_symlink() and not file.resolve().is_relative_to(inside):
                unread.add(file, "links that lead out of the folder")
            elif name in folders:
                if file.is_symlink():
                    unread.add(file, "links to folders")
            elif file.suffix.lower() not in TEXT_FILES:
                unread.add(file)
            elif file.is_file():
                yield file
            else:
                unread.add(file, "what is no file")


def text_document(doc_id: str, text: str) -> Document:
    """A text file as a document; of a Markdown file also what its head says."""
    if not doc_id.lower().endswith(".md"):
        return Document(doc_id, text)
    fields, end = front_matter(text)
    body = blanked(text, end) if end else text
    title = fields.pop("title", None)
    return Document(doc_id, body, _words(title) or first_heading(body), fields)


def _words(title: Any) -> str:
    parts = title if isinstance(title, list) else [title]
    return ", ".join(part for part in parts if isinstance(part, str))
