"""HostedEncoder: a model of dense vectors behind HTTP."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lab.arrays import Span, Vectors
from lab.chunking.units import words
from lab.config.hosted import TOKENS, HostedEncoderConfig
from lab.pipeline.hosted.server import Server, server_of
from lab.pipeline.hosted.usage import Usage, count_of
from lab.retrieval.encoder import Progress, SentenceEncoder
from lab.retrieval.prompts import Role


@dataclass
class HostedEncoder:
    """Vectors that a server computes, in requests of at most `config.batch` texts. Whoever asks
    keeps them after every request, so that one which fails loses nothing."""

    config: HostedEncoderConfig
    usage: Usage = field(default_factory=Usage)

    @cached_property
    def server(self) -> Server:
        """With the key of the environment. Raises ConfigError (see `server_of`)."""
        return server_of(self.config.url, self.config.timeout_seconds)

    @property
    def identity(self) -> str:
        """What a server computes under this name may change without a word; then `lab cache
        --forget NAME` helps."""
        return f"http {self.config.api} {self.config.url} {self.config.model}"

    @property
    def counted_by(self) -> str:
        """The identity of what counts tokens."""
        return "words" if self._tokenizer is None else self._tokenizer.identity

    @property
    def similarity(self) -> str:
        """How the model's authors compare its vectors."""
        return self.config.similarity

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that the server reads."""
        if self.config.max_tokens is not None:
            return self.config.max_tokens
        return TOKENS if self._tokenizer is None else self._tokenizer.max_tokens

    def prompt(self, role: Role) -> str:
        return self.config.query_prompt if role == "query" else self.config.passage_prompt

    def offsets(self, text: str) -> list[Span]:
        """Character spans of the tokenizer's tokens; of words without one."""
        return words(text) if self._tokenizer is None else self._tokenizer.offsets(text)

    @cached_property
    def _tokenizer(self) -> SentenceEncoder | None:
        return SentenceEncoder(self.config.tokenizer) if self.config.tokenizer else None

    def encode(self, texts: Sequence[str], role: Role, progress: Progress) -> Vectors:
        """One vector a text. Raises ServerError where the server gives up."""
        parts = [vectors for _, vectors in self.parts(texts, role, progress)]
        return np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)

    def parts(
        self, texts: Sequence[str], role: Role, progress: Progress
    ) -> Iterator[tuple[range, Vectors]]:
        """The same request by request: places of texts and their vectors."""
        prompt = self.prompt(role)
        for first in range(0, len(texts), self.config.batch):
            # Servers refuse an empty text; a blank has the same tokens.
            some = [prompt + text or " " for text in texts[first : first + self.config.batch]]
            yield range(first, first + len(some)), self._vectors(some)
            progress(len(some))

    def _vectors(self, texts: list[str]) -> Vectors:
        if self.config.api == "tei":
            body: dict[str, Any] = {"inputs": texts, "truncate": True}
            vectors = self.server.ask("/embed", body, lambda said: _matrix(said, len(texts)))
            self.usage.add(None)
            return vectors
        body = {"model": self.config.model, "input": texts, "encoding_format": "float"}
        vectors, tokens = self.server.ask(
            "/embeddings", body, lambda said: _embeddings(said, len(texts))
        )
        self.usage.add(tokens)
        return vectors


def _embeddings(said: Any, texts: int) -> tuple[Vectors, int | None]:
    """OpenAI's form: vectors by `index`, and the tokens that are billed. Raises ValueError."""
    try:
        by_index = {item["index"]: item["embedding"] for item in said["data"]}
        rows = [by_index[place] for place in range(texts)]
        exact = len(said["data"]) == texts
    except (KeyError, TypeError):
        rows, exact = [], False
    if not exact:
        raise ValueError(f"no list of {texts} embeddings, each with its index")
    return _matrix(rows, texts), count_of(said, "usage", "prompt_tokens")


def _matrix(rows: Any, texts: int) -> Vectors:
    """Vectors of one length as rows. Raises ValueError for what is none, for a number that is no
    finite one among them: nothing of it may be kept."""
    try:
        matrix = np.array(rows, dtype=np.float64)
    except (ValueError, TypeError):
        matrix = np.zeros(0)
    with np.errstate(over="ignore"):
        vectors = matrix.astype(np.float32)
    if vectors.ndim != 2 or len(vectors) != texts or not vectors.shape[1]:
        raise ValueError(f"no {texts} vectors of one length")
    if not np.isfinite(vectors).all():
        raise ValueError("a vector with a number that is not finite")
    return vectors
