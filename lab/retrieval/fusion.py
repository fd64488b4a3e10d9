"""Joining the legs: candidates with both legs' exact scores, normalised and weighted, or reciprocal rank fusion."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lab.retrieval.config import FusionConfig
from lab.retrieval.ranking import DECIMALS, NONE, Floats, Ints, Ranking, rank, ranks_of

Bools = NDArray[np.bool_]

# Cormack, Clarke & Buettcher, SIGIR 2009.
RRF_K = 60


@dataclass(frozen=True, eq=False)
class Candidates:
    """The union of both legs' first `depth`, per question (all arrays questions x candidates, NONE-padded).

    `bm25` and `dense` are exact scores, NaN where a leg has none (BM25: no shared term). `bm25_rank` and `dense_rank` count
    from 1 and are 0 beyond the leg's depth.
    """

    chunks: Ints
    bm25: Floats
    dense: Floats
    bm25_rank: Ints
    dense_rank: Ints
    _normalized: dict[str, tuple[Floats, Floats]] = field(default_factory=dict, repr=False)


def union(bm25: Ranking, dense: Ranking) -> Ints:
    """Chunks that either ranking holds, ascending, questions x candidates."""
    both = np.sort(np.concatenate((bm25.chunks, dense.chunks), axis=1), axis=1)
    both[:, 1:][both[:, 1:] == both[:, :-1]] = NONE
    # Descending puts the padding last; the order of candidates carries no meaning.
    both = -np.sort(-both, axis=1)
    width = int((both != NONE).sum(axis=1).max(initial=0))
    return both[:, :width]


def candidates(
    bm25: Ranking, dense: Ranking, bm25_scores: Callable[[Ints], Floats], dense_scores: Callable[[Ints], Floats]
) -> Candidates:
    """Look both legs' scores up for the union of their hits, so that an absent score means "shares no term"."""
    chunks = union(bm25, dense)
    return Candidates(chunks, bm25_scores(chunks), dense_scores(chunks), _ranks(bm25, chunks), _ranks(dense, chunks))


def _ranks(leg: Ranking, chunks: Ints) -> Ints:
    query, place = np.nonzero(chunks != NONE)
    ranks = np.zeros(chunks.shape, dtype=np.int64)
    ranks[query, place] = ranks_of(leg, query, chunks[query, place])
    return ranks


def min_max(scores: Floats, real: Bools, lower: float = 0.0) -> Floats:
    """(s - min) / (max - min) over the scored candidates of a question; equal positive scores become 1, absent is 0."""
    low, high = _extremes(scores)
    # Equal means equal to the decimals that order compares; stretching float noise to [0, 1] would invent an order.
    flat = np.round(high - low, DECIMALS) == 0
    # Absent (NaN) stays apart: where all found scores are equal, what was not found must not become 1 with them.
    equal = np.where(np.isnan(scores), 0.0, high > 0)
    return _filled(np.where(flat, equal, (scores - low) / np.where(flat, 1, high - low)))


def theoretical(scores: Floats, real: Bools, lower: float) -> Floats:
    """(s - lower) / (max - lower) with the leg's own lower bound, 0 for BM25 and -1 for cosine (Bruch, Gai & Ingber,
    TOIS 2023, section 3.1); absent is 0."""
    _, high = _extremes(scores)
    flat = high <= lower
    return _filled(np.where(flat, 0.0, np.clip((scores - lower) / np.where(flat, 1, high - lower), 0, 1)))


def z_score(scores: Floats, real: Bools, lower: float = 0.0) -> Floats:
    """(s - mean) / deviation over the candidates of a question, an absent score counting as 0; no spread gives 0."""
    count = np.maximum(real.sum(axis=1, keepdims=True), 1)
    filled = np.where(real, _filled(scores), 0.0)
    centred = np.where(real, filled - filled.sum(axis=1, keepdims=True) / count, 0.0)
    deviation = np.sqrt((centred**2).sum(axis=1, keepdims=True) / count)
    flat = np.round(deviation, DECIMALS) == 0
    return np.where(flat, 0.0, centred / np.where(flat, 1, deviation))


def _filled(scores: Floats) -> Floats:
    return np.where(np.isnan(scores), 0.0, scores)


def _extremes(scores: Floats) -> tuple[Floats, Floats]:
    """Least and greatest score a question, columns; 0 where a question has none."""
    absent = np.isnan(scores)
    low = np.where(absent, np.inf, scores).min(axis=1, keepdims=True, initial=np.inf)
    high = np.where(absent, -np.inf, scores).max(axis=1, keepdims=True, initial=-np.inf)
    empty = absent.all(axis=1, keepdims=True)
    return np.where(empty, 0.0, low), np.where(empty, 0.0, high)


# Each takes the scores (NaN for absent), which places are candidates at all, and the leg's lower bound.
NORMALIZATIONS: dict[str, Callable[[Floats, Bools, float], Floats]] = {
    "min-max": min_max,
    "theoretical": theoretical,
    "z-score": z_score,
}


def normalized(found: Candidates, normalization: str) -> tuple[Floats, Floats]:
    """Both legs' contributions (bm25, dense) before weighting; for `rrf` 1 / (60 + rank), 0 beyond the leg's depth."""
    known = found._normalized
    if normalization not in known:  # the same for every alpha
        if normalization == "rrf":
            known[normalization] = _reciprocal(found.bm25_rank), _reciprocal(found.dense_rank)
        else:
            scale, real = NORMALIZATIONS[normalization], found.chunks != NONE
            known[normalization] = scale(found.bm25, real, 0.0), scale(found.dense, real, -1.0)
    return known[normalization]


def _reciprocal(ranks: Ints) -> Floats:
    return np.where(ranks > 0, 1 / (RRF_K + ranks), 0.0)


def weigh(bm25: Floats, dense: Floats, alpha: float) -> Floats:
    """alpha * dense + (1 - alpha) * bm25: alpha is the weight of the dense leg."""
    return alpha * dense + (1 - alpha) * bm25


def fuse(found: Candidates, config: FusionConfig, depth: int) -> Ranking:
    """The fused ranking. A leg of weight 0 contributes no candidates: alpha 0 is exactly BM25's list, alpha 1 exactly the
    dense one."""
    scores = weigh(*normalized(found, config.normalization), config.alpha)
    if config.alpha == 0:
        return _leg(found.chunks, scores, found.bm25_rank, depth)
    if config.alpha == 1:
        return _leg(found.chunks, scores, found.dense_rank, depth)
    return rank(found.chunks, scores, depth)


def _leg(chunks: Ints, scores: Floats, ranks: Ints, depth: int) -> Ranking:
    """One leg's list in its own order. Sorting its normalised scores again would tie what the leg tells apart, or the
    reverse, for normalising stretches the sixth decimal."""
    held = ranks > 0
    order = np.argsort(np.where(held, ranks, np.iinfo(np.int64).max), axis=1, kind="stable")[:, :depth]
    ranked = np.take_along_axis(np.where(held, chunks, NONE), order, axis=1)
    return Ranking(ranked, np.take_along_axis(np.where(held, scores, -np.inf), order, axis=1))
