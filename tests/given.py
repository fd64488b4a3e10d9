"""Models that a test gives: vectors by text, scores by text, and a corpus in one line."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from lab.arrays import NONE, Vectors
from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.document import Corpus, Document
from lab.relevance.query import Query
from lab.retrieval.ranking import Ranking, rank
from lab.runs.run import Run
from lab.sweeping.measured import Measured
from lab.sweeping.sweep import measured as measure_systems
from lab.sweeping.tables import run_of as tables_of
from lab.sweeping.tools import Tools


def corpus_of(texts: Mapping[str, str]) -> Corpus:
    """A corpus of texts by document id."""
    return Corpus(Document(doc_id, text) for doc_id, text in texts.items())


def ranking_of(rows: Sequence[Mapping[int, float]], depth: int) -> Ranking:
    """The ranking of chunk -> score, one mapping a question, in the mapping's order of
    insertion."""
    width = max(map(len, rows), default=0)
    chunks = np.array(
        [[*row, *[NONE] * (width - len(row))] for row in rows], dtype=np.int64
    ).reshape(len(rows), width)
    scores = np.array(
        [[*row.values(), *[0.0] * (width - len(row))] for row in rows], dtype=np.float64
    ).reshape(len(rows), width)
    return rank(chunks, scores, depth)


def hashed(text: str, dimension: int = 16) -> list[float]:
    """A vector that depends on every byte of the text and nothing else."""
    digest = hashlib.sha256(text.encode()).digest()
    return [byte / 255 - 0.5 for byte in digest[:dimension]]


@dataclass
class GivenEncoder:
    """An encoder whose vectors are looked up or hashed; it counts what it was asked, and reads
    `max_tokens` words."""

    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    identity: str = "given"
    max_tokens: int = 10_000
    prompts: Mapping[str, str] = field(default_factory=dict)
    encoded: list[str] = field(default_factory=list)

    def prompt(self, role: str) -> str:
        return self.prompts.get(role, "")

    def encode(self, texts: Sequence[str], role: str, progress: Callable[[int], None]) -> Vectors:
        self.encoded.extend(texts)
        progress(len(texts))
        read = [" ".join((self.prompt(role) + text).split()[: self.max_tokens]) for text in texts]
        rows = [
            self.vectors.get(text, hashed(words)) for text, words in zip(texts, read, strict=True)
        ]
        return np.array(rows, dtype=np.float32)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\S+", text)]


@dataclass
class GivenReranker:
    """A reranker whose scores are looked up by text, 0 for others."""

    scores: Mapping[str, float]
    identity: str = "given reranker"
    scored: list[tuple[str, str]] = field(default_factory=list)

    def score(
        self, questions: Sequence[str], texts: Sequence[str], progress: Callable[[int], None]
    ) -> np.ndarray:
        self.scored.extend(zip(questions, texts, strict=True))
        progress(len(texts))
        return np.array([self.scores.get(text, 0.0) for text in texts])


def measured(
    corpus: Corpus,
    queries: Sequence[Query],
    grid: Grid,
    measure: Measure,
    **tools: Any,
) -> Measured:
    """A sweep's arrays, for tests of what stands behind the tables."""
    return measure_systems(corpus, queries, grid, measure, "measured", Tools(**tools))


@lru_cache(maxsize=8)
def run_of(result: Measured) -> Run:
    """The run of a sweep's arrays; its tables are laid down once for all tests that read them."""
    return tables_of(result)
