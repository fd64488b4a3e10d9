"""Mined: questions that a program made, as lines of an ordinary diagnostic set."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.corpus.document import Corpus
from lab.errors import DiagnosticsError
from lab.relevance.locate import find_quote
from lab.sets.probe.passages import Passage


@dataclass(frozen=True, slots=True)
class Mined:
    """A question with the passages that answer it, alternatives of each other."""

    query_id: str
    text: str
    kind: str
    passages: tuple[Passage, ...]
    tags: Mapping[str, str] = field(hash=False)

    def line(self, corpus: Corpus) -> str:
        """The question as one line of JSON, evidence as quotes."""
        alternatives = {"group": "a"} if len(self.passages) > 1 else {}
        evidence = [
            {
                "doc_id": p.doc_id,
                "quote": p.text,
                **_occurrence(p, corpus),
                "grade": 3,
                "role": "core",
                **alternatives,
            }
            for p in self.passages
        ]
        tags = {"answer_type": "fact", "origin": "mined", **self.tags}
        record = {
            "query_id": self.query_id,
            "text": self.text,
            "kind": self.kind,
            "tags": tags,
            "evidence": evidence,
        }
        return json.dumps(record, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class MinedKind:
    """The questions of one kind, and how many things were left out, by reason."""

    questions: tuple[Mined, ...]
    left_out: Mapping[str, int] = field(hash=False)


def _occurrence(passage: Passage, corpus: Corpus) -> dict[str, int]:
    """Which of several equal stretches is meant; nothing where the quote stands once."""
    places = [start for start, _ in find_quote(corpus[passage.doc_id].text, passage.text)]
    return {"occurrence": places.index(passage.start) + 1} if len(places) > 1 else {}


def write_sets(sets: Mapping[str, MinedKind], corpus: Corpus, folder: Path) -> list[Path]:
    """Write one file a kind into `folder`, those without questions left out.

    Raises DiagnosticsError before anything is written when a file is there already: a person may
    have edited it.
    """
    files = {
        folder / f"{kind}.jsonl": mined.questions for kind, mined in sets.items() if mined.questions
    }
    present = [file for file in files if file.exists()]
    if present:
        raise DiagnosticsError(
            f"{file}: exists and may have been edited; remove it or name another --out"
            for file in present
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, questions in files.items():
            file.write_text(
                "".join(question.line(corpus) + "\n" for question in questions), "utf-8"
            )
    except OSError as fault:
        raise DiagnosticsError(f"{folder}: cannot be written ({fault.strerror})") from None
    return list(files)
