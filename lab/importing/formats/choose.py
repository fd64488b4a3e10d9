"""Which files of a source are read, and as what; every other file is told."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.errors import CorpusError, TooMuchTextError, encodable
from lab.importing.formats.collection import ROLES, Collection, Role
from lab.importing.formats.rows import TABLES, columns_of, kind_of
from lab.importing.formats.sniff import sniff

# What a kind of file can hold.
ROLES_OF: dict[str, tuple[Role, ...]] = {
    "smart documents": ("documents",),
    "smart questions": ("questions",),
    "smart judgements": ("judgements",),
    "trec documents": ("documents",),
    "trec documents as questions": ("questions",),
    "trec topics": ("questions",),
    "trec qrels": ("judgements",),
    "trec run": (),
    "trec pairs": (),
    "columns documents": ("documents",),
    "columns questions": ("questions",),
    "table documents": ("documents",),
    "table questions": ("questions",),
    "table judgements": ("judgements",),
    "text": ("documents",),
    "html": ("documents",),
    "docx": ("documents",),
    "pdf": ("documents",),
    "squad": ROLES,
    "chroma": ROLES,
    "cuad": ROLES,
    "hotpot": ROLES,
    "rgb": ROLES,
    "mtrag": ROLES,
    "sheet": ("questions", "judgements"),
    "sheet with passages": ROLES,
}
# Formats of which one file is one document, read only where no file holds many.
ALONE = ("text", "html", "docx", "pdf")
# Formats whose documents are text files beside them: those files are theirs.
WITH_FILES = ("chroma", "cuad")
# Files that speak about a set and are no part of it.
ABOUT = ("readme", "license", "licence", "notice", "changelog", "thirdpartynotices")
# What an earlier import wrote about itself.
WRITTEN = ("import-report.txt", "import-manifest.json")
# Files that are listed one by one before the rest is counted.
LISTED = 10
SINGLE = 100

Chosen = dict[Path, tuple[str, list[Role]]]


def choose(
    source: Path,
    named: Mapping[Role, Sequence[Path]],
    columns: Mapping[str, str],
    into: Collection,
) -> Chosen:
    """The files to read, each with its format and the roles it fills. Files that are left are
    findings; one that was named and cannot be read is a problem. Raises CorpusError with every
    problem."""
    problems: list[str] = []
    formats = _formats(source, named, columns, into, problems)
    chosen: Chosen = {}
    for role in ROLES:
        for path in _fitting(role, source, named, formats, problems):
            chosen.setdefault(path, (formats[path], []))[1].append(role)
    if not chosen and not problems:
        problems.append(f"{source}: no file there is in a known format; see `lab import --help`")
    if problems:
        raise CorpusError(problems)
    _tell_unread(formats, chosen, into)
    return chosen


def _formats(
    source: Path,
    named: Mapping[Role, Sequence[Path]],
    columns: Mapping[str, str],
    into: Collection,
    problems: list[str],
) -> dict[Path, str]:
    """The format of every file there is. Those in none are findings, and problems where the user
    named them."""
    roles: dict[Path, Role | None] = {}
    for role in ROLES:
        for path in named.get(role, ()):
            if path.is_file():
                # A file that is named for several roles says itself what it is.
                roles[path] = None if path in roles else role
    folders = [path for path in named.get("documents", ()) if path.is_dir()]
    files = [*roles, *(file for folder in folders for file in _files(folder, into, problems))]
    files += _files(source, into, problems)
    formats: dict[Path, str] = {}
    for file in dict.fromkeys(files):
        try:
            name = sniff(file, roles.get(file), columns)
        except TooMuchTextError:
            raise
        except CorpusError as fault:
            problems.extend(fault.problems)
            continue
        if name:
            formats[file] = name
        elif file in roles or file == source:
            problems.append(f"{file}: is in no known format; see `lab import --help`")
        else:
            into.note(str(file), "dropped", "unknown format", _unknown(file))
    return formats


def _unknown(file: Path) -> str:
    """How a file in no known format can be read all the same: a table by naming its columns."""
    columns = list(columns_of(file) or ()) if kind_of(file) in TABLES else []
    if columns:
        shown = ", ".join(columns[:LISTED]) + (", ..." if len(columns) > LISTED else "")
        return (
            f"the file was not read; its columns are {shown}; name it with --documents or "
            "--questions and say with --column text=NAME, question=NAME ... what they hold"
        )
    return "the file was not read; name it with --documents, --questions ..."


def _fitting(
    role: Role,
    source: Path,
    named: Mapping[Role, Sequence[Path]],
    formats: Mapping[Path, str],
    problems: list[str],
) -> list[Path]:
    """The files that fill a role: those that are named; else the one that holds nothing else; else
    text files, for documents; else the one that holds it among others."""
    if role in named:
        return _named(role, named[role], formats, problems)
    fitting = [path for path, name in formats.items() if role in ROLES_OF[name]]
    several = [path for path in fitting if formats[path] not in ALONE]
    dedicated = [path for path in several if ROLES_OF[formats[path]] == (role,)]
    alone = [path for path in fitting if formats[path] in ALONE]
    if alone and not any(formats[path] in WITH_FILES for path in several):
        if not dedicated:
            return alone
        problems.append(
            f"{source}: {_relative(dedicated[0], source)} holds documents, and {len(alone)} text "
            f"files may be some ({_relative(alone[0], source)}); name what is meant with "
            "--documents, which may be repeated"
        )
        return []
    those = dedicated or several
    if len(those) > 1:
        shown = ", ".join(_relative(path, source) for path in those[:LISTED])
        more = ", ..." if len(those) > LISTED else ""
        problems.append(
            f"{source}: {len(those)} files hold {role}: {shown}{more}; name one with --{role}"
        )
        return []
    return those


def _named(
    role: Role, paths: Sequence[Path], formats: Mapping[Path, str], problems: list[str]
) -> list[Path]:
    """What the user named for a role: files, and the single documents of folders."""
    paths_named: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = [
                file
                for file, name in formats.items()
                if name in ALONE and file.is_relative_to(path) and file != path
            ]
            if not inside:
                problems.append(f"{path}: holds no text, HTML, Word or PDF file to be a document")
            paths_named += inside
        elif path in formats and role in ROLES_OF[formats[path]]:
            paths_named.append(path)
        elif path in formats:
            problems.append(f"{path}: not read as {role}; it looks like {formats[path]}")
    return list(dict.fromkeys(paths_named))


def _tell_unread(formats: Mapping[Path, str], chosen: Chosen, into: Collection) -> None:
    """Files in a known format that nothing was read from."""
    unread: dict[str, list[Path]] = {}
    read_along = {path.parent for path, (name, _) in chosen.items() if name in WITH_FILES}
    for path, name in formats.items():
        along = name in ALONE and path.parent.parent in read_along
        if path not in chosen and not along:
            unread.setdefault(name, []).append(path)
    for name, paths in unread.items():
        for path in paths[:SINGLE]:
            into.note(str(path), "dropped", "file not used", f"it looks like {name}")
        if len(paths) > SINGLE:
            into.note(
                str(paths[SINGLE].parent),
                "dropped",
                "file not used",
                f"and {len(paths) - SINGLE} more that look like {name}",
            )


def _files(source: Path, into: Collection, problems: list[str]) -> list[Path]:
    """The files below a folder in order, or the file itself. Folders that cannot be read are
    problems; links that lead out of the source, and what speaks about it, are findings."""
    if source.is_file():
        return [source]
    files: list[Path] = []

    def unreadable(fault: OSError) -> None:
        problems.append(f"{fault.filename}: cannot be read ({fault.strerror})")

    home = source.resolve()
    for folder, folders, names in os.walk(source, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            if name.startswith(".") or name in WRITTEN:
                continue
            if not encodable(str(path)):
                problems.append(f"{str(path)!r}: the file's name is not UTF-8; rename it")
            elif not path.is_file():
                into.note(str(path), "dropped", "no file", "a pipe, a device or a broken link")
            elif path.is_symlink() and not path.resolve().is_relative_to(home):
                into.note(
                    str(path), "dropped", "link", "it leads out of the folder; copy what it names"
                )
            elif name.lower().startswith(ABOUT):
                into.note(
                    str(path), "dropped", "about the set", "it was not read; rename it to be read"
                )
            else:
                files.append(path)
    return files


def _relative(path: Path, source: Path) -> str:
    if path.is_relative_to(source) and path != source:
        return path.relative_to(source).as_posix()
    return str(path)
