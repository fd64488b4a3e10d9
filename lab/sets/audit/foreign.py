"""Auditing a set in a foreign format: it is read and mended as `lab import` would, and every mend
is a finding."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.corpus.document import Corpus
from lab.errors import CorpusError, counted
from lab.importing.formats.collection import Action
from lab.importing.formats.read import read_collection
from lab.importing.mend import mend
from lab.relevance.query import Query
from lab.sets.audit.finding import Finding, Grade

GRADE: dict[Action, Grade] = {
    "read": "note",
    "mended": "warning",
    "dropped": "warning",
    "suspicious": "note",
}
REMEDY: dict[Action, str] = {
    "read": "nothing, if that is what was meant",
    "mended": "unmended, these judgements are lost or wrong; `lab import` "
    "writes the set mended as shown",
    "dropped": "`lab import` leaves these out; mend them at the source to keep them",
    "suspicious": "look at them; nothing is changed",
}
# Left as it is on import, for nobody knows what was meant; but every gain that it gives is wrong.
OFF_SCALE = "label off the scale"


@dataclass(frozen=True, eq=False)
class ForeignSet:
    """Documents and questions as `lab import` would write them, and what was found on the way."""

    corpus: Corpus
    queries: tuple[Query, ...]
    findings: tuple[Finding, ...]


def is_foreign(paths: Sequence[Path]) -> bool:
    """Whether the paths are not in the lab's own forms: documents and then .jsonl sets, or a folder
    that holds both."""
    if len(paths) > 1:
        return not all(path.is_dir() or path.suffix == ".jsonl" for path in paths[1:])
    folder = paths[0]
    if (folder / "qrels").is_dir():
        return False
    return not ((folder / "documents.jsonl").is_file() and (folder / "queries.jsonl").is_file())


def read_foreign(paths: Sequence[Path]) -> ForeignSet:
    """Read one source, or its files of documents, questions and judgements in this order. Nothing
    is written.

    Raises CorpusError with everything that cannot be read.
    """
    if len(paths) == 1:
        read = read_collection(paths[0])
    elif len(paths) == 3:
        absent = [path for path in paths if not path.exists()]
        if absent:
            raise CorpusError(f"{path}: no such file or folder" for path in absent)
        documents, questions, judgements = (str(path.resolve()) for path in paths)
        read = read_collection(
            documents, documents=documents, questions=questions, judgements=judgements
        )
    else:
        raise CorpusError(
            "a foreign set is one folder or file, or three files: its documents, questions and "
            "judgements"
        )
    mended = mend(read)
    cases: dict[tuple[Action, str], list[str]] = {}
    for finding in mended.findings:
        place = os.path.relpath(finding.place) if os.path.isabs(finding.place) else finding.place
        cases.setdefault((finding.action, finding.rule), []).append(f"{place}: {finding.message}")
    findings = tuple(
        Finding(
            "warning" if rule == OFF_SCALE else GRADE[action],
            rule,
            f"{counted(len(messages), 'case')}, {messages[0]}",
            REMEDY[action],
            tuple(messages),
        )
        for (action, rule), messages in cases.items()
    )
    return ForeignSet(Corpus(mended.documents), mended.queries, findings)
