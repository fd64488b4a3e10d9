"""Unread: files of a corpus folder that are no documents to the lab, so that nothing is left out
without a word."""

import re
from pathlib import Path

from lab.errors import visible

SHOWN = 3
# What people keep text in. Beside a table of documents or a folder `documents/` only these are
# told; scripts, pictures and the like are not meant to be documents there.
FOREIGN = frozenset(
    ".csv .doc .docx .epub .gz .htm .html .json .md .odt .parquet .pdf .pptx .rst .rtf .tsv .txt "
    ".xhtml .xls .xlsx .xml .zip".split()
)
ABOUT = re.compile(
    r"(readme|licen[cs]e|changelog|notice|import-report|import-manifest)\b.*", re.IGNORECASE
)


class Unread:
    """Counts files that are not read, by why."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[str, list[str]] = {}

    def add(self, file: Path, why: str = "") -> None:
        """Count one; without a reason it is a file of its kind. Hidden files are not meant."""
        if not file.name.startswith("."):
            kind = why or (
                f"{file.suffix.lower()} files" if file.suffix else "files without a kind"
            )
            shown = file.relative_to(self._root) if file.is_relative_to(self._root) else file
            self._files.setdefault(kind, []).append(shown.as_posix())

    def beside(self, read: Path) -> None:
        """Count what lies beside the one table or folder that was read, if it looks like text."""
        if self._root.is_dir():
            for file in sorted(read.parent.iterdir()):
                if file != read and self.is_foreign(file) and not ABOUT.fullmatch(file.name):
                    self.add(file)

    @staticmethod
    def is_foreign(file: Path) -> bool:
        """Whether the file looks like a text of another format."""
        return file.suffix.lower() in FOREIGN

    @property
    def notes(self) -> tuple[str, ...]:
        """A line for every kind, with the first names."""
        return tuple(self._note(kind, names) for kind, names in sorted(self._files.items()))

    def _note(self, kind: str, names: list[str]) -> str:
        shown = ", ".join(map(visible, names[:SHOWN])) + (", ..." if len(names) > SHOWN else "")
        remedy = "; `lab import` reads more formats" if kind.split()[0] in FOREIGN else ""
        return f"{self._root}: not read: {len(names)} {kind} ({shown}){remedy}"
