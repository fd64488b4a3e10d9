"""Reading any known source into one Collection: a folder, files, or an ir_datasets id."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lab.corpus.read import text_document
from lab.errors import CorpusError, TooMuchTextError
from lab.importing.formats import columns as two_columns
from lab.importing.formats import (
    contexts,
    docx,
    html,
    ir_datasets,
    pdf,
    sheets,
    smart,
    spans,
    squad,
    tables,
    trec,
)
from lab.importing.formats.choose import choose
from lab.importing.formats.collection import (
    ROLES,
    Collection,
    Judgement,
    PlacedDocument,
    Role,
)
from lab.importing.formats.decode import decode
from lab.importing.formats.names import NAMES

Columns = Mapping[str, str]
Named = str | Sequence[str] | None
Reader = Callable[[Path, Collection, Columns], None]


def _plain(reader: Callable[[Path, Collection], None]) -> Reader:
    return lambda path, into, columns: reader(path, into)


def _table(role: Role) -> Reader:
    return lambda path, into, columns: tables.read(path, into, role, columns)


def _text(path: Path, into: Collection) -> None:
    """A text or Markdown file, with what its head says of it, as the lab's own reader has it."""
    document = text_document(into.name_of(path), decode(path, into))
    into.documents.append(PlacedDocument(str(path), document))


# How the formats of `choose.ROLES_OF` are read (path, into, columns).
READERS: dict[str, Reader] = {
    "smart documents": _plain(smart.read_documents),
    "smart questions": _plain(smart.read_questions),
    "smart judgements": _plain(smart.read_judgements),
    "trec documents": _plain(trec.read_documents),
    "trec documents as questions": _plain(trec.read_documents_as_questions),
    "trec topics": _plain(trec.read_topics),
    "trec qrels": _plain(trec.read_qrels),
    "columns documents": _plain(two_columns.read_documents),
    "columns questions": _plain(two_columns.read_questions),
    "table documents": _table("documents"),
    "table questions": _table("questions"),
    "table judgements": _table("judgements"),
    "text": _plain(_text),
    "html": _plain(html.read),
    "docx": _plain(docx.read),
    "pdf": _plain(pdf.read),
    "squad": _plain(squad.read),
    "chroma": _plain(spans.read_chroma),
    "cuad": _plain(spans.read_cuad),
    "hotpot": _plain(contexts.read_hotpot),
    "rgb": _plain(contexts.read_rgb),
    "mtrag": _plain(contexts.read_mtrag),
    "sheet": sheets.read,
    "sheet with passages": sheets.read,
}


def read_collection(
    source: str | Path,
    *,
    documents: Named = None,
    questions: Named = None,
    judgements: Named = None,
    columns: Columns | None = None,
) -> Collection:
    """Read documents, questions and judgements of `source`, each file in the format that its
    content shows.

    `documents`, `questions` and `judgements` name the files of a role, below a source folder or by
    path (of documents folders too), where several could be it. `columns` maps a noun of
    `names.NAMES` to the column that holds it. Passages that a table of questions brings are its
    documents only where there are no others: in others they are looked for.

    Raises CorpusError with everything that is missing, unreadable or ambiguous. What could be read
    with doubts, and every file that was not read, is in `findings`.
    """
    into = Collection()
    if str(source).startswith(ir_datasets.PREFIX):
        ir_datasets.read(str(source), into)
        return into
    source = Path(source)
    columns = columns or {}
    named = _check(
        source, {"documents": documents, "questions": questions, "judgements": judgements}, columns
    )
    root = _root(source, named.get("documents", []))
    problems: list[str] = []
    for path, (name, roles) in choose(source, named, columns, into).items():
        part = Collection(root, into.budget)
        problems += _read(path, name, part, columns)
        if "documents" not in roles and part.documents:
            _look_elsewhere(path, part)
        for role in roles:
            getattr(into, role).extend(getattr(part, role))
        into.findings.extend(part.findings)
        into.readers.extend(name for name in part.readers if name not in into.readers)
    if problems:
        raise CorpusError(problems)
    return into


def _read(path: Path, name: str, part: Collection, columns: Columns) -> list[str]:
    """Read one file; what is amiss with it."""
    try:
        READERS[name](path, part, columns)
    except TooMuchTextError:
        raise
    except CorpusError as fault:
        return list(fault.problems)
    except (KeyError, TypeError, AttributeError) as fault:
        # A record that lacks a key of its own format; the format was recognised by its first
        # record only.
        return [
            f"{path}: a record does not have the form of '{name}' ({type(fault).__name__}: {fault})"
        ]
    return []


def _check(source: Path, named: Mapping[Role, Named], columns: Columns) -> dict[Role, list[Path]]:
    """The files named for each role. Raises CorpusError with everything that is named and is not
    there."""
    if not os.path.exists(source):
        raise CorpusError(f"{source}: no such file or folder")
    problems = [
        f"column '{noun}={name}'; expected NOUN=NAME, the noun one of {', '.join(NAMES)}"
        for noun, name in columns.items()
        if noun not in NAMES or not name
    ]
    by_role: dict[Role, list[Path]] = {}
    for role in ROLES:
        given = named[role]
        for name in [given] if isinstance(given, str) else given or ():
            path = next((p for p in (source / name, Path(name)) if os.path.exists(p)), None)
            if path is None:
                problems.append(f"{name}: no such file, neither below {source} nor from here")
            elif not path.is_file() and not path.is_dir():
                problems.append(f"{path}: is a pipe or a device; expected a file")
            elif path.is_dir() and role != "documents":
                problems.append(f"{path}: is a folder; expected a file of {role}")
            else:
                by_role.setdefault(role, []).append(path)
    if problems:
        raise CorpusError(problems)
    return by_role


def _root(source: Path, documents: Sequence[Path]) -> Path:
    """The folder below which documents get their paths as ids: the one that holds all of them."""
    folders = [path if path.is_dir() else path.parent for path in documents]
    if len(folders) == 1 and documents[0].is_dir():
        return folders[0]
    return Path(os.path.commonpath(folders)) if len(folders) > 1 else source


def _look_elsewhere(path: Path, part: Collection) -> None:
    """Make a table's judgements of its own passages such as are looked for in other documents."""
    passages = {placed.document.doc_id: placed.document.text for placed in part.documents}
    part.judgements = [
        judgement
        if judgement.doc_id not in passages
        else _sought(judgement, passages[judgement.doc_id])
        for judgement in part.judgements
    ]
    part.note(
        str(path),
        "read",
        "passages",
        f"its {len(passages)} passages are not documents, for there are others; evidence is looked "
        "for in those",
    )


def _sought(judgement: Judgement, passage: str) -> Judgement:
    """The same evidence, known by its text. A passage counts as answering where it is all that is
    judged."""
    within = judgement.within or passage
    if judgement.quote is None:
        grade = 3 if judgement.grade > 0 else judgement.grade
        return replace(judgement, doc_id=None, grade=grade, quote=within, within=None, start=None)
    return replace(judgement, doc_id=None, start=None, within=within)
