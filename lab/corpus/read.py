"""Reading documents: a folder of .txt and .md files, `documents.jsonl`, or a BEIR folder."""

from collections.abc import Iterable
from pathlib import Path

from lab.corpus.budget import Budget
from lab.corpus.document import Corpus, Document
from lab.corpus.lines import identifier, note_repeat, optional_text, read_records, read_text
from lab.errors import CorpusError, TooMuchTextError

TEXT_FILES = (".md", ".txt")
BEIR = "corpus.jsonl"
TABLES = ("documents.jsonl", BEIR)


def read_corpus(path: str | Path) -> Corpus:
    """Read the documents at `path`.

    `path` is a folder with `documents.jsonl` (doc_id, text, title, anything else is metadata), a
    BEIR folder with `corpus.jsonl` (_id, title, text: title and text are joined by one blank; its
    `metadata` and other keys are metadata), or a folder of .txt and .md files (its folder
    `documents/` if it has one), whose ids are their paths below it; or one of these files.

    Raises CorpusError with every bad line or file, and as soon as there is more text than memory
    has room for (see `lab.corpus.budget`).
    """
    path = Path(path)
    if not path.exists():
        raise CorpusError(
            f"{path}: no such folder or file; expected documents (.txt, .md, documents.jsonl or "
            "BEIR corpus.jsonl)"
        )
    file = _table(path)
    if file is None:
        return Corpus(_text_files(path))
    problems: list[str] = []
    documents = list(_jsonl(file, problems))
    if not documents and not problems:
        problems.append(f"{file}: holds no document")
    if problems:
        raise CorpusError(problems)
    return Corpus(documents)


def _table(path: Path) -> Path | None:
    """The JSONL file that holds the documents, or None for a folder of text files."""
    if path.is_file():
        return path if path.suffix == ".jsonl" else None
    return next((path / name for name in TABLES if (path / name).is_file()), None)


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


def _text_files(path: Path) -> Iterable[Document]:
    folder = path / "documents" if (path / "documents").is_dir() else path
    files = (
        [path]
        if path.is_file()
        else sorted(p for p in folder.rglob("*") if p.suffix.lower() in TEXT_FILES and p.is_file())
    )
    if not files:
        raise CorpusError(
            f"{folder}: no .txt or .md file, no documents.jsonl, no corpus.jsonl in it"
        )
    documents: list[Document] = []
    problems: list[str] = []
    budget = Budget()
    for file in files:
        doc_id = file.name if path.is_file() else file.relative_to(folder).as_posix()
        try:
            documents.append(Document(doc_id, read_text(file, CorpusError, budget)))
        except TooMuchTextError:
            raise
        except CorpusError as fault:
            problems.extend(fault.problems)
    if problems:
        raise CorpusError(problems)
    return documents
