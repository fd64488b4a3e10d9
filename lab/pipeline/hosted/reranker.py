"""HostedReranker: a model behind HTTP that scores texts for a question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lab.arrays import Floats
from lab.config.hosted import HostedRerankerConfig
from lab.pipeline.hosted.server import Server, server_of
from lab.pipeline.hosted.usage import Usage, count_of
from lab.retrieval.rerank import Progress


@dataclass
class HostedReranker:
    """Scores that a server computes, a question with at most `config.batch` texts a request. They
    are whatever the server gives, higher is better: TEI's raw scores are logits, Cohere's
    relevance lies in [0, 1]."""

    config: HostedRerankerConfig
    usage: Usage = field(default_factory=Usage)
    # A server bills and computes by the question.
    by_question = True

    @cached_property
    def server(self) -> Server:
        """With the key of the environment. Raises ConfigError (see `server_of`)."""
        return server_of(self.config.url, self.config.timeout_seconds)

    @property
    def identity(self) -> str:
        return f"http {self.config.api} {self.config.url} {self.config.model}"

    def score(self, questions: Sequence[str], texts: Sequence[str], progress: Progress) -> Floats:
        """One score a pair. Raises ServerError where the server gives up."""
        scores = np.zeros(len(texts))
        for places, given in self.parts(questions, texts, progress):
            scores[places] = given
        return scores

    def parts(
        self, questions: Sequence[str], texts: Sequence[str], progress: Progress
    ) -> Iterator[tuple[list[int], Floats]]:
        """The same request by request: places of pairs and their scores."""
        of_question: dict[str, list[int]] = {}
        for place, question in enumerate(questions):
            of_question.setdefault(question, []).append(place)
        for question, places in of_question.items():
            for first in range(0, len(places), self.config.batch):
                some = places[first : first + self.config.batch]
                # Servers refuse an empty text.
                yield some, self._scores(question or " ", [texts[i] or " " for i in some])
                progress(len(some))

    def _scores(self, question: str, texts: list[str]) -> Floats:
        count = len(texts)
        if self.config.api == "tei":
            body: dict[str, Any] = {"query": question, "texts": texts}
            body |= {"raw_scores": True, "truncate": True}
            scores = self.server.ask("/rerank", body, lambda said: _by_index(said, "score", count))
            self.usage.add(None)
            return scores
        body = {"model": self.config.model, "query": question, "documents": texts, "top_n": count}
        scores, tokens, searches = self.server.ask(
            "/rerank", body, lambda said: _cohere(said, count)
        )
        self.usage.add(tokens, searches)
        return scores


def _cohere(said: Any, texts: int) -> tuple[Floats, int | None, int | None]:
    """Cohere's form: scores by `index`, the tokens and the searches that are billed."""
    results = said.get("results") if isinstance(said, dict) else None
    return (
        _by_index(results, "relevance_score", texts),
        count_of(said, "usage", "total_tokens"),
        count_of(said, "meta", "billed_units", "search_units"),
    )


def _by_index(results: Any, key: str, texts: int) -> Floats:
    """Scores in the order of the texts. Raises ValueError where one is missing or no number."""
    try:
        by_index = {result["index"]: result[key] for result in results}
        scores = np.array([by_index[place] for place in range(texts)], dtype=np.float64)
        exact = len(results) == texts and bool(np.isfinite(scores).all())
    except (KeyError, TypeError, ValueError):
        exact = False
    if not exact:
        raise ValueError(f"no list of {texts} finite scores, each with its index")
    return scores
