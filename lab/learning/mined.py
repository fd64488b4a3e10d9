"""Mined: examples to learn from, and the folder that keeps them.

mined.json       what they were mined from: run, documents, systems, teacher, what is sealed, counts
examples.jsonl   one a line: question, positive and negative text, their places and scores, origins
dataset/         the same as `anchor`, `positive`, `negative`, in Parquet, as sentence-transformers'
                 trainers take them: `datasets.load_dataset("FOLDER/dataset")`
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab.corpus.lines import read_json, read_records, read_text
from lab.errors import LearningError
from lab.learning.sealed import Sealed
from lab.storage.folder import obstacle, replacing

FORMAT = 1
# What evidence that was not missed has in place of a cause.
FOUND = "found"
MANIFEST, EXAMPLES, DATASET = "mined.json", "examples.jsonl", "dataset"


@dataclass(frozen=True, slots=True)
class Text:
    """A chunk [start, end) of a document, its text, and what the teacher says of it and the
    question (None where none was asked)."""

    doc_id: str
    start: int
    end: int
    text: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The system whose hit the negative was, at which rank, and what lost the evidence there."""

    system: str
    rank: int
    cause: str


@dataclass(frozen=True, slots=True)
class Example:
    """A question, a text that answers one of its pieces of evidence, and one that stood before it.
    `origins` are in the order in which the systems were named."""

    query_id: str
    kind: str
    piece: int
    question: str
    positive: Text
    negative: Text
    origins: tuple[Origin, ...]

    @property
    def cause(self) -> str:
        """What lost the evidence under the first system that missed it; `found` where none did."""
        causes = [origin.cause for origin in self.origins]
        return next((cause for cause in causes if cause != FOUND), FOUND)


@dataclass(frozen=True, eq=False)
class Mined:
    """Examples with what is known of where they come from (`facts`, as mined.json has it)."""

    examples: tuple[Example, ...]
    facts: Mapping[str, Any]

    @property
    def sealed(self) -> Sealed:
        """What was sealed when they were mined."""
        return Sealed.of(self.facts["sealed"])

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """Examples by cause and kind."""
        return Counter((example.cause, example.kind) for example in self.examples)

    @property
    def digest(self) -> str:
        """SHA-256 of the examples."""
        return hashlib.sha256(_lines(self.examples).encode()).hexdigest()


def check_place(path: Path) -> None:
    """Raises LearningError when examples cannot be written there."""
    reason = obstacle(path)
    if reason:
        raise LearningError(f"{path}: cannot be written ({reason}); name another with --out")
    if path.exists() and not (path / MANIFEST).is_file():
        raise LearningError(f"{path}: exists and holds no mined examples; name another with --out")


def write_mined(mined: Mined, path: Path) -> Path:
    """Write the folder beside its place, then rename; an older one there is replaced."""
    import pandas as pd

    check_place(path)
    rows = [(e.question, e.positive.text, e.negative.text) for e in mined.examples]
    facts = {"format": FORMAT, **mined.facts}
    with replacing(path) as fresh:
        (fresh / EXAMPLES).write_text(_lines(mined.examples), "utf-8")
        (fresh / DATASET).mkdir()
        pd.DataFrame(rows, columns=["anchor", "positive", "negative"]).to_parquet(
            fresh / DATASET / "train.parquet", index=False
        )
        text = json.dumps(facts, indent=1, ensure_ascii=False, sort_keys=True)
        (fresh / MANIFEST).write_text(text + "\n", "utf-8")
    return path


def read_mined(path: Path) -> Mined:
    """Read a folder of examples. Raises LearningError with every bad line."""
    if not (path / MANIFEST).is_file():
        raise LearningError(f"{path}: holds no mined examples ({MANIFEST}); `lab mine RUN` does")
    try:
        facts = read_json(read_text(path / MANIFEST, LearningError))
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise ValueError(f"expected format {FORMAT}")
        Sealed.of(facts["sealed"])
    except (ValueError, KeyError, TypeError) as fault:
        raise LearningError(f"{path / MANIFEST}: cannot be read ({fault}); mine again") from None
    problems: list[str] = []
    examples = []
    for place, record in read_records(path / EXAMPLES, problems, LearningError):
        try:
            examples.append(_example(record))
        except (KeyError, TypeError, ValueError) as fault:
            problems.append(f"{place}: no example ({type(fault).__name__}: {fault})")
    if problems:
        raise LearningError(problems)
    if not examples:
        raise LearningError(f"{path / EXAMPLES}: holds no example")
    return Mined(tuple(examples), facts)


def _lines(examples: Iterable[Example]) -> str:
    rows = ({"cause": example.cause} | asdict(example) for example in examples)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _example(record: Mapping[str, Any]) -> Example:
    origins = tuple(Origin(**origin) for origin in record["origins"])
    positive, negative = (Text(**record[name]) for name in ("positive", "negative"))
    said = [record["question"], positive.text, negative.text]
    if not origins or not all(isinstance(text, str) and text.strip() for text in said):
        raise ValueError("expected origins, and texts that are not blank")
    return Example(
        query_id=str(record["query_id"]),
        kind=str(record["kind"]),
        piece=int(record["piece"]),
        question=str(record["question"]),
        positive=positive,
        negative=negative,
        origins=origins,
    )
