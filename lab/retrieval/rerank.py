"""Re-scoring the head of a ranking: cross-encoders, and late interaction over the dense model's
token vectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from lab.arrays import NONE, Floats, Vectors
from lab.errors import ModelError
from lab.retrieval.config import RerankConfig
from lab.retrieval.encoder import SentenceEncoder
from lab.retrieval.fusion import min_max
from lab.retrieval.models import model_folder, model_identity
from lab.retrieval.ranking import DECIMALS, Ranking

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

Progress = Callable[[int], None]
BATCH = 32
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


@dataclass(frozen=True)
class MaxSim:
    """Late interaction (Khattab & Zaharia, SIGIR 2020): the mean over a question's tokens of the
    best cosine with any token of the text, in [-1, 1]. Needs no weights beyond the dense
    model's."""

    encoder: SentenceEncoder
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
        asked = self._asked_before
        if len(asked) > QUESTIONS:
            asked.clear()
        distinct = [question for question in dict.fromkeys(questions) if question not in asked]
        asked.update(zip(distinct, self.encoder.token_vectors(distinct, "query"), strict=True))
        wanted: dict[str, list[int]] = {}
        for pair, text in enumerate(texts):
            wanted.setdefault(text, []).append(pair)
        order = sorted(wanted, key=len)
        scores = np.zeros(len(texts))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            for text, vectors in zip(
                batch, self.encoder.token_vectors(batch, "passage"), strict=True
            ):
                pairs = wanted[text]
                tokens = [asked[questions[pair]] for pair in pairs]
                best = (np.concatenate(tokens) @ vectors.T).max(axis=1).astype(np.float64)
                lengths = np.array([len(token) for token in tokens])
                starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
                scores[pairs] = np.add.reduceat(best, starts) / lengths
                progress(len(pairs))
        return scores


@dataclass(frozen=True)
class CrossEncoderScorer:
    """A sentence-transformers CrossEncoder from a local folder or a hub id, with the activation its
    config names."""

    name: str

    @cached_property
    def identity(self) -> str:
        return f"cross-encoder {model_identity(self.name)}"

    def score(self, questions: Sequence[str], texts: Sequence[str], progress: Progress) -> Floats:
        order = sorted(range(len(texts)), key=lambda i: len(questions[i]) + len(texts[i]))
        scores = np.zeros(len(texts))
        for first in range(0, len(order), BATCH):
            batch = order[first : first + BATCH]
            found = self.model.predict(
                [(questions[i], texts[i]) for i in batch], batch_size=BATCH, show_progress_bar=False
            )
            scores[batch] = np.asarray(found, dtype=np.float64).reshape(len(batch), -1)[:, 0]
            progress(len(batch))
        return scores

    @cached_property
    def model(self) -> "CrossEncoder":
        from sentence_transformers import CrossEncoder

        folder = model_folder(self.name)
        try:
            model: CrossEncoder = CrossEncoder(str(folder), local_files_only=True)
        except (OSError, ValueError, KeyError) as fault:
            raise ModelError(
                f"reranker '{self.name}': {folder} cannot be loaded as a CrossEncoder ({fault})"
            ) from None
        if model.num_labels != 1:
            raise ModelError(
                f"reranker '{self.name}': gives {model.num_labels} labels a pair; expected a "
                "CrossEncoder with one score"
            )
        return model


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
    own = np.where(pool == NONE, np.nan, pair_scores[:, :width])
    scores = own
    if config.blend < 1:
        real = pool != NONE
        first_stage = min_max(np.where(real, fused, np.nan), real)
        scores = config.blend * min_max(own, real) + (1 - config.blend) * first_stage
    keep = pool != NONE
    if config.threshold is not None:
        keep &= np.nan_to_num(own, nan=-np.inf) >= np.array(config.cuts(questions))[:, None]
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
