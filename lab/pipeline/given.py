"""What models hand back, checked before any of it is kept: a value in the wrong place would be
another text's."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from lab.arrays import Floats, Vectors
from lab.cluster.cluster import Cluster
from lab.errors import LabError, ModelError, RerankerError, counted
from lab.pipeline.hosted.encoder import HostedEncoder
from lab.pipeline.hosted.reranker import HostedReranker
from lab.pipeline.shares import AHEAD, SHARE, encoded_parts
from lab.pipeline.slabs import SLAB
from lab.retrieval.cross_encoder import CrossEncoderScorer
from lab.retrieval.encoder import Encode, Encoder, Keep, SentenceEncoder
from lab.retrieval.likelihood import QueryLikelihood
from lab.retrieval.rerank import MaxSim, PairScorer


@contextmanager
def asking(reranker: str) -> Iterator[None]:
    """Whatever a reranker raises, or hands back wrong, becomes a RerankerError that names it."""
    try:
        yield
    except LabError as fault:
        raise RerankerError(fault.problems, reranker) from fault
    except Exception as fault:  # anything: a reranker given in Python is the user's own code
        said = f"{type(fault).__name__}: {fault}".removesuffix(": ")
        raise RerankerError(f"reranker '{reranker}' failed with {said}", reranker) from fault


def checked_vectors(model: str, texts: int, given: Any) -> Vectors:
    """Vectors of `texts` texts (texts x dimension, float32). Raises ModelError that says what came
    instead; NaN and infinity are told later, by the name of their chunk or question."""
    array = _numbers(given)
    if array is None or array.ndim != 2 or len(array) != texts:
        raise ModelError(
            f"model '{model}' gave {_described(given)} for {counted(texts, 'text')}; expected an "
            f"array of {texts} rows of numbers, a vector a text"
        )
    return array.astype(np.float32)


def encoding(
    encoder: Encoder, name: str, cluster: Cluster | None, keep: Keep | None = None
) -> tuple[Encode, int]:
    """How texts are encoded, and how many at most are given at once: in one part by an encoder
    given in Python, part by part by a server or a model, here or in the tasks of a cluster. `keep`
    is told the token vectors that a model here makes on the way."""
    if isinstance(encoder, HostedEncoder):
        return encoder.parts, SLAB
    if not isinstance(encoder, SentenceEncoder):
        return lambda some, role, progress: iter(
            [(range(len(some)), encoder.encode(some, role, progress))]
        ), SLAB
    if cluster is None:
        return partial(encoder.parts, keep=keep), SLAB
    return partial(encoded_parts, cluster, name), SHARE * AHEAD * cluster.workers


def token_vectors(encoder: Encoder, scorers: Iterable[PairScorer]) -> Keep | None:
    """Where a late interaction over the same model wants token vectors of what is encoded, so that
    a text passes the model once for both."""
    for scorer in scorers:
        if isinstance(scorer, MaxSim) and scorer.encoder is encoder:
            return scorer.read_before.keep
    return None


def scored_parts(
    model: str,
    scorer: PairScorer,
    questions: Sequence[str],
    texts: Sequence[str],
    progress: Callable[[int], None],
) -> Iterator[tuple[Sequence[int], Floats]]:
    """Places of pairs and their scores, checked; all at once from a reranker given in Python."""
    if isinstance(scorer, CrossEncoderScorer | MaxSim | QueryLikelihood | HostedReranker):
        parts: Iterator[tuple[Sequence[int], Any]] = scorer.parts(questions, texts, progress)
    else:
        parts = iter([(range(len(texts)), scorer.score(questions, texts, progress))])
    for places, given in parts:
        asked, read = ([of[place] for place in places] for of in (questions, texts))
        yield places, checked_scores(model, asked, read, given)


def checked_scores(
    model: str, questions: Sequence[str], texts: Sequence[str], given: Any
) -> Floats:
    """Scores of pairs. Raises ModelError that says what came instead of one finite number a
    pair."""
    array = _numbers(given)
    if array is None or array.shape != (len(texts),):
        raise ModelError(
            f"reranker '{model}' gave {_described(given)} for {counted(len(texts), 'pair')}; "
            f"expected an array of {len(texts)} numbers, a score a pair"
        )
    for place in np.flatnonzero(~np.isfinite(array))[:1]:
        raise ModelError(
            f"reranker '{model}' gave a score that is no finite number for the question "
            f"{questions[place]!r} and the text {texts[place][:80]!r}; it cannot be ranked"
        )
    return array.astype(np.float64)


def _numbers(given: Any) -> Floats | None:
    try:
        array = np.asarray(given)
    except ValueError:  # rows of different lengths
        return None
    return array if array.dtype.kind in "fiu" else None


def _described(given: Any) -> str:
    try:
        array = np.asarray(given)
    except ValueError:
        return "rows of different lengths"
    if array.ndim == 0:
        return f"a single {type(given).__name__}"
    return f"an array of shape {array.shape} and type {array.dtype}"
