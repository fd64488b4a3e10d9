"""Re-scoring the head of a ranking: what a reranker is, and late interaction over the dense model's
token vectors."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from lab.arrays import NONE, Floats, Vectors
from lab.corpus.budget import memory
from lab.retrieval.config import RerankConfig
from lab.retrieval.encoder import SentenceEncoder
from lab.retrieval.fusion import min_max
from lab.retrieval.ranking import DECIMALS, Ranking

Progress = Callable[[int], None]
# Texts whose token vectors are held at once, some 200 KB each.
TEXTS = 256
# The share of memory that token vectors of texts read on the way may take.
SHARE = 12
# Questions whose token vectors are remembered, some 30 KB each.
QUESTIONS = 4_000


class PairScorer(Protocol):
    """What the lab needs of a reranker."""

    @property
    def identity(self) -> str:
        """Names the model and its revision: cached pair scores are kept under it."""

    def score(self, questions: Sequence[str], texts: Sequence[str], progress: Progress) -> Floats:
        """One score a (question, text) pair, higher is better; `progress` is told how many pairs
        are done."""


@dataclass
class TokenVectors:
    """Unit vectors of the tokens of texts (tokens x dimension), as many as fit into `room` bytes;
    what does not fit is read again when it is asked for."""

    room: int
    _of: dict[str, Vectors] = field(default_factory=dict)

    def keep(self, text: str, vectors: Vectors) -> None:
        if text not in self._of and vectors.nbytes <= self.room:
            self._of[text] = vectors
            self.room -= vectors.nbytes

    def get(self, text: str) -> Vectors | None:
        return self._of.get(text)


@dataclass(frozen=True)
class MaxSim:
    """Late interaction (Khattab & Zaharia, SIGIR 2020): the mean over a question's tokens of the
    best cosine with any token of the text, in [-1, 1]. Needs no weights beyond the dense
    model's."""

    encoder: SentenceEncoder
    # What a dense leg of the same model has read on its way.
    read_before: TokenVectors = field(
        default_factory=lambda: TokenVectors(memory() // SHARE), compare=False, repr=False
    )
    # A sweep's pairs come in many slabs, most of which ask all its questions.
    _asked_before: dict[str, Vectors] = field(default_factory=dict, compare=False, repr=False)

    @property
    def identity(self) -> str:
        return (
            f"maxsim {self.encoder.identity} {self.encoder.prompt('query')!r} "
            f"{self.encoder.prompt('passage')!r}"
        )

    def score(self, questions: Sequence[str], texts: Sequence[str], progress: Progress) -> Floats:
        """Every distinct text is encoded once, whatever the number of questions that ask for it."""
        scores = np.zeros(len(texts))
        for places, cosines in self.parts(questions, texts, progress):
            scores[places] = cosines
        return scores

    def parts(
        self, questions: Sequence[str], texts: Sequence[str], progress: Progress
    ) -> Iterator[tuple[list[int], Floats]]:
        """The same part by part: places of the pairs of one text, and their scores."""
        asked = self._asked_before
        if len(asked) > QUESTIONS:
            asked.clear()
        distinct = [question for question in dict.fromkeys(questions) if question not in asked]
        asked.update(zip(distinct, self.encoder.token_vectors(distinct, "query"), strict=True))
        wanted: dict[str, list[int]] = {}
        for pair, text in enumerate(texts):
            wanted.setdefault(text, []).append(pair)
        order = sorted(wanted, key=len)
        for first in range(0, len(order), TEXTS):
            batch = order[first : first + TEXTS]
            for text, vectors in zip(batch, self._read(batch), strict=True):
                # One product a pair: of several questions at once, their number would decide the
                # last bits.
                best = [(asked[questions[pair]] @ vectors.T).max(axis=1) for pair in wanted[text]]
                yield wanted[text], np.array([row.mean(dtype=np.float64) for row in best])
                progress(len(wanted[text]))

    def _read(self, texts: Sequence[str]) -> list[Vectors]:
        known = {text: self.read_before.get(text) for text in texts}
        unread = [text for text, vectors in known.items() if vectors is None]
        fresh = dict(zip(unread, self.encoder.token_vectors(unread, "passage"), strict=True))
        return [fresh[text] if vectors is None else vectors for text, vectors in known.items()]


def rerank(
    ranking: Ranking, pair_scores: Floats, config: RerankConfig, questions: Sequence[str]
) -> Ranking:
    """Order the first `config.depth` hits by the reranker; ties keep their order and the rest
    follows unchanged.

    `pair_scores` (questions x at least the pool) are the reranker's scores of `ranking`'s hits by
    rank, `questions` the texts, whose length a threshold may depend on. With a threshold, hits
    below it are cut, and so is the rest, which the reranker never saw. Scores of the rest are set
    below the pool's, one apart, for they are on another scale.
    """
    width = min(config.depth, ranking.chunks.shape[1])
    pool, fused = ranking.chunks[:, :width], ranking.scores[:, :width]
    reranked = np.where(pool == NONE, np.nan, pair_scores[:, :width])
    scores = reranked
    if config.blend < 1:
        real = pool != NONE
        first_stage = min_max(np.where(real, fused, np.nan), real)
        scores = config.blend * min_max(reranked, real) + (1 - config.blend) * first_stage
    keep = pool != NONE
    if config.threshold is not None:
        keep &= np.nan_to_num(reranked, nan=-np.inf) >= np.array(config.cuts(questions))[:, None]
    sortable = np.where(keep, np.round(scores, DECIMALS), -np.inf)
    order = np.argsort(-sortable, axis=1, kind="stable")
    chunks = np.take_along_axis(np.where(keep, pool, NONE), order, axis=1)
    scores = np.take_along_axis(np.where(keep, scores, -np.inf), order, axis=1)
    rest = ranking.chunks[:, width:]
    if config.threshold is not None or not rest.shape[1]:
        return Ranking(chunks, scores)
    lowest = np.where(keep, scores, np.inf).min(axis=1, keepdims=True, initial=np.inf)
    below = np.where(rest == NONE, -np.inf, lowest - 1 - np.arange(rest.shape[1]))
    return Ranking(np.concatenate((chunks, rest), axis=1), np.concatenate((scores, below), axis=1))
