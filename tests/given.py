"""Models that a test gives: vectors by text, scores by text, and a corpus in one line."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lab.corpus.document import Corpus, Document
from lab.retrieval.encoder import Vectors


def corpus_of(texts: Mapping[str, str]) -> Corpus:
    """A corpus of texts by document id."""
    return Corpus(Document(doc_id, text) for doc_id, text in texts.items())


def hashed(text: str, dimension: int = 16) -> list[float]:
    """A vector that depends on every byte of the text and nothing else."""
    digest = hashlib.sha256(text.encode()).digest()
    return [byte / 255 - 0.5 for byte in digest[:dimension]]


@dataclass
class GivenEncoder:
    """An encoder whose vectors are looked up or hashed; it counts what it was asked, and reads `max_tokens` words."""

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
        rows = [self.vectors.get(text, hashed(words)) for text, words in zip(texts, read, strict=True)]
        return np.array(rows, dtype=np.float32)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\S+", text)]


@dataclass
class GivenReranker:
    """A reranker whose scores are looked up by text, 0 for others."""

    scores: Mapping[str, float]
    identity: str = "given reranker"
    scored: list[tuple[str, str]] = field(default_factory=list)

    def score(self, questions: Sequence[str], texts: Sequence[str], progress: Callable[[int], None]) -> np.ndarray:
        self.scored.extend(zip(questions, texts, strict=True))
        progress(len(texts))
        return np.array([self.scores.get(text, 0.0) for text in texts])
