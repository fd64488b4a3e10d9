"""Reading any known source into one Collection: a folder, a file, or an ir_datasets id."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.errors import CorpusError, TooMuchTextError
from lab.sets.importing.formats import columns as two_columns
from lab.sets.importing.formats import (
    contexts,
    docx,
    html,
    ir_datasets,
    pdf,
    smart,
    spans,
    squad,
    tables,
    trec,
)
from lab.sets.importing.formats.collection import ROLES, Collection, Role
from lab.sets.importing.formats.decode import decode
from lab.sets.importing.formats.sniff import sniff

Columns = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Format:
    """What a kind of file can hold, and how it is read (path, into, columns)."""

    roles: tuple[Role, ...]
    read: Callable[[Path, Collection, Columns], None]


def _plain(
    reader: Callable[[Path, Collection], None],
) -> Callable[[Path, Collection, Columns], None]:
    return lambda path, into, columns: reader(path, into)


def _text(path: Path, into: Collection) -> None:
    into.add_document(str(path), into.name_of(path), decode(path, into))


FORMATS: dict[str, Format] = {
    "smart documents": Format(("documents",), _plain(smart.read_documents)),
    "smart questions": Format(("questions",), _plain(smart.read_questions)),
    "smart judgements": Format(("judgements",), _plain(smart.read_judgements)),
    "trec documents": Format(("documents",), _plain(trec.read_documents)),
    "trec documents as questions": Format(("questions",), _plain(trec.read_documents_as_questions)),
    "trec topics": Format(("questions",), _plain(trec.read_topics)),
    "trec qrels": Format(("judgements",), _plain(trec.read_qrels)),
    "trec run": Format((), lambda path, into, columns: None),
    "trec pairs": Format((), lambda path, into, columns: None),
    "columns documents": Format(("documents",), _plain(two_columns.read_documents)),
    "columns questions": Format(("questions",), _plain(two_columns.read_questions)),
    "table documents": Format(
        ("documents",), lambda path, into, columns: tables.read(path, into, "documents", columns)
    ),
    "table questions": Format(
        ("questions",), lambda path, into, columns: tables.read(path, into, "questions", columns)
    ),
    "table judgements": Format(
        ("judgements",), lambda path, into, columns: tables.read(path, into, "judgements", columns)
    ),
    "text": Format(("documents",), _plain(_text)),
    "html": Format(("documents",), _plain(html.read)),
    "docx": Format(("documents",), _plain(docx.read)),
    "pdf": Format(("documents",), _plain(pdf.read)),
    "squad": Format(ROLES, _plain(squad.read)),
    "chroma": Format(ROLES, _plain(spans.read_chroma)),
    "cuad": Format(ROLES, _plain(spans.read_cuad)),
    "hotpot": Format(ROLES, _plain(contexts.read_hotpot)),
    "rgb": Format(ROLES, _plain(contexts.read_rgb)),
    "mtrag": Format(ROLES, _plain(contexts.read_mtrag)),
    "ragas": Format(ROLES, contexts.read_ragas),
}
# Formats of which one file is one document, read only where no file holds many.
ALONE = ("text", "html", "docx", "pdf")
# Files that speak about a set and are no part of it.
LISTED = 10
ABOUT = ("readme", "license", "licence", "notice", "changelog", "thirdpartynotices")


def read_collection(
    source: str | Path,
    *,
    documents: str | None = None,
    questions: str | None = None,
    judgements: str | None = None,
    columns: Columns | None = None,
) -> Collection:
    """Read documents, questions and judgements of `source`, each file in the format that its
    content shows.

    `documents`, `questions` and `judgements` name the file of a role, below a source folder or by
    path, where several could be it. `columns` maps a noun of `tables.NAMES` to the column that
    holds it.

    Raises CorpusError with what is missing, unreadable or ambiguous. What could be read with doubts
    is in `findings`.
    """
    into = Collection()
    if str(source).startswith(ir_datasets.PREFIX):
        ir_datasets.read(str(source), into)
        return into
    source = Path(source)
    if not source.exists():
        raise CorpusError(f"{source}: no such file or folder")
    columns = columns or {}
    wrong = [
        f"{noun}={name}" for noun, name in columns.items() if noun not in tables.NAMES or not name
    ]
    if wrong:
        raise CorpusError(
            f"column '{pair}'; expected NOUN=NAME, the noun one of {', '.join(tables.NAMES)}"
            for pair in wrong
        )
    named = {
        role: _named(source, name)
        for role, name in zip(ROLES, (documents, questions, judgements), strict=True)
        if name
    }
    folder = named.get("documents")
    root = folder if folder is not None and folder.is_dir() else source
    problems: list[str] = []
    for path, (name, roles) in _choose(source, named, columns, into).items():
        part = Collection(root, into.budget)
        try:
            FORMATS[name].read(path, part, columns)
        except TooMuchTextError:
            raise
        except CorpusError as fault:
            problems.extend(fault.problems)
        except (KeyError, TypeError, AttributeError) as fault:
            # A record that lacks a key of its own format; the format was recognised by its first
            # record only.
            problems.append(
                f"{path}: a record does not have the form of '{name}' ({type(fault).__name__}: "
                f"{fault})"
            )
        for role in roles:
            getattr(into, role).extend(getattr(part, role))
        into.findings.extend(part.findings)
    if problems:
        raise CorpusError(problems)
    return into


def _named(source: Path, name: str) -> Path:
    path = next((p for p in (source / name, Path(name)) if p.exists()), None)
    if path is None:
        raise CorpusError(f"{name}: no such file, neither below {source} nor from here")
    return path


Chosen = dict[Path, tuple[str, list[Role]]]


def _choose(source: Path, named: Mapping[Role, Path], columns: Columns, into: Collection) -> Chosen:
    """The files to read, each with its format and the roles it fills; a file in no known format is
    a finding."""
    roles_of = {path: role for role, path in named.items()}
    formats: dict[Path, str] = {}
    for file in dict.fromkeys((*roles_of, *_files(source))):
        name = sniff(file, roles_of.get(file), columns) if file.is_file() else None
        if name:
            formats[file] = name
        elif file.is_file():
            into.note(
                str(file),
                "dropped",
                "unknown format",
                "the file was not read; name it with --documents, --questions ...",
            )
    chosen: Chosen = {}
    problems: list[str] = []
    for role in ROLES:
        fitting = [
            path
            for path, name in formats.items()
            if role in FORMATS[name].roles and name not in ALONE
        ]
        alone: Chosen = {
            path: (name, [role])
            for path, name in formats.items()
            if role == "documents" and name in ALONE
        }
        if (path := named.get(role)) is not None:
            if path.is_dir():
                chosen |= {
                    file: (name, [role])
                    for file in _files(path)
                    if (name := sniff(file, None, columns)) in ALONE
                }
            elif path not in formats or role not in FORMATS[formats[path]].roles:
                problems.append(
                    f"{path}: not read as {role}; it looks like "
                    f"{formats.get(path, 'no known format')}"
                )
            else:
                chosen.setdefault(path, (formats[path], []))[1].append(role)
        elif len(fitting) > 1:
            listed = ", ".join(_relative(path, source) for path in fitting[:LISTED]) + (
                ", ..." if len(fitting) > LISTED else ""
            )
            problems.append(
                f"{source}: {len(fitting)} files hold {role}: {listed}; name one with --{role}"
            )
        elif fitting:
            chosen.setdefault(fitting[0], (formats[fitting[0]], []))[1].append(role)
        else:
            chosen |= alone
    if not chosen and not problems:
        problems.append(f"{source}: no file there is in a known format; see `lab import --help`")
    if problems:
        raise CorpusError(problems)
    return chosen


def _files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    return [
        path
        for path in sorted(source.rglob("*"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(source).parts)
        and not path.name.lower().startswith(ABOUT)
    ]


def _relative(path: Path, source: Path) -> str:
    return (
        path.relative_to(source).as_posix()
        if path.is_relative_to(source) and path != source
        else str(path)
    )
