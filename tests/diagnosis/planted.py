"""Small worlds in which one stage loses the evidence: an encoder of concepts, a reranker of words,
and one sweep."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import Span, Vectors
from lab.chunking.units import words
from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.document import Corpus, Document
from lab.diagnosis.misses import Miss
from lab.relevance.query import Evidence, Query
from lab.retrieval.encoder import Progress, Role
from lab.sweeping.measured import Measured
from tests.given import measured

MODEL = "concepts"
RERANKER = "words"


@dataclass(frozen=True)
class Concepts:
    """Counts of concepts: words of one group share a dimension, unknown words have none. It reads
    `max_tokens` words."""

    groups: tuple[str, ...]
    max_tokens: int = 1000

    @property
    def identity(self) -> str:
        return f"{MODEL} {self.groups} {self.max_tokens}"

    def prompt(self, role: Role) -> str:
        return ""

    def offsets(self, text: str) -> list[Span]:
        return words(text)

    def encode(self, texts: Sequence[str], role: Role, progress: Progress) -> Vectors:
        place = {word: n for n, group in enumerate(self.groups) for word in group.split()}
        vectors = np.zeros((len(texts), len(self.groups) + 1), dtype=np.float32)
        vectors[:, -1] = 0.1  # no vector is zero
        for row, text in enumerate(texts):
            for start, end in words(text)[: self.max_tokens]:
                word = text[start:end].strip(".,?").lower()
                if word in place:
                    vectors[row, place[word]] += 1
        progress(len(texts))
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@dataclass(frozen=True)
class Scorer:
    """A reranker that is a function of question and text."""

    rule: Callable[[str, str], float]

    @property
    def identity(self) -> str:
        return f"{RERANKER} {self.rule.__qualname__}"

    def score(
        self, questions: Sequence[str], texts: Sequence[str], progress: Progress
    ) -> np.ndarray:
        return np.array(
            [self.rule(question, text) for question, text in zip(questions, texts, strict=True)]
        )


def evidence(documents: dict[str, str], doc_id: str, quote: str) -> Evidence:
    start = documents[doc_id].index(quote)
    return Evidence(doc_id, start, start + len(quote))


def run(
    documents: dict[str, str],
    questions: dict[str, tuple[str, Evidence]],
    k: int,
    encoder: Concepts | None = None,
    rule: Callable[[str, str], float] | None = None,
    metrics: tuple[str, ...] = (),
    **grid: object,
) -> Measured:
    """Sweep one small world, missing what is not within the first k, or by the metrics given."""
    settings: dict[str, object] = {
        "chunk_strategy": "document",
        "mode": "bm25",
        "model": MODEL,
        "rerank_model": RERANKER,
    }
    return measured(
        Corpus(Document(doc_id, text) for doc_id, text in documents.items()),
        [
            Query(query_id, text, "keyword", {}, (item,))
            for query_id, (text, item) in questions.items()
        ],
        Grid(**(settings | grid)),
        Measure(metrics=metrics or (f"recall@{k}",), select_by=(*metrics, f"recall@{k}")[0]),
        encoders={MODEL: encoder or Concepts(("nothing",))},
        rerankers={RERANKER: Scorer(rule or (lambda question, text: 0.0))},
    )


def misses(result: Measured, system: int = 0) -> dict[str, Miss]:
    return {miss.query_id: miss for miss in result.findings.misses[system]}
