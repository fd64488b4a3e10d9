"""What a foreign file holds, as read: documents, questions, judgements and what was noticed on the
way."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from lab.corpus.budget import Budget
from lab.corpus.document import Document
from lab.versions import version_of

# "read" says how something was understood, where it could have been another thing.
Action = Literal["read", "mended", "dropped", "suspicious"]
Role = Literal["documents", "questions", "judgements"]
ROLES: tuple[Role, ...] = ("documents", "questions", "judgements")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of an import report: where (`file`, `file:line` or an id), what was done, under
    which rule, and the case."""

    place: str
    action: Action
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.action} ({self.rule}): {self.message}"


@dataclass(frozen=True, slots=True)
class PlacedDocument:
    """A document and where it was read."""

    place: str
    document: Document


@dataclass(frozen=True, slots=True)
class Question:
    """A question as read; judgements refer to it by `query_id`."""

    place: str
    query_id: str
    text: str
    answer: str = ""
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), hash=False)


@dataclass(frozen=True, slots=True)
class Judgement:
    """That a document, or a `quote` in it, answers a question.

    `start` is the offset that the file claims for the quote, None where it claims none; it is
    believed only after a look at the text. Members of one `group` are alternatives. `doc_id` None
    means that only the quote is known, or the passage that it stands in (`within`).
    """

    place: str
    query_id: str
    doc_id: str | None
    grade: int = 1
    quote: str | None = None
    start: int | None = None
    group: str | None = None
    within: str | None = None


@dataclass
class Collection:
    """Documents, questions and judgements of one source, in file order, with the findings so far.
    Readers fill it.

    `root` is the folder below which text files get their paths as ids, `budget` how much text may
    still be read; `readers` are the libraries that read, with their versions.
    """

    root: Path = Path()
    budget: Budget = field(default_factory=Budget)
    documents: list[PlacedDocument] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    readers: list[str] = field(default_factory=list)

    def read_by(self, library: str) -> None:
        """Note the library that reads a file, and its version."""
        name = f"{library} {version_of(library)}"
        if name not in self.readers:
            self.readers.append(name)

    def note(self, place: str, action: Action, rule: str, message: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(place, action, rule, message))

    def name_of(self, path: Path) -> str:
        """Id of a document that is a file of its own: its path below the root."""
        return (
            path.relative_to(self.root).as_posix()
            if path.is_relative_to(self.root) and path != self.root
            else path.name
        )

    def add_document(
        self,
        place: str,
        doc_id: str,
        text: str,
        title: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Add a document whose text is complete: titles are part of it only if the reader joined
        them."""
        self.documents.append(PlacedDocument(place, Document(doc_id, text, title, metadata or {})))


def joined(title: str, text: str) -> str:
    """Title and text joined by one blank, as BEIR does; the text alone where it already begins with
    the title."""
    folded = " ".join(title.split())
    if not folded or " ".join(text[: 2 * len(title) + 20].split()).startswith(folded):
        return text
    return f"{title} {text}" if text else title
