"""Joining the legs: candidates with both legs' exact scores, normalised and weighted, or reciprocal
rank fusion."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from lab.arrays import NONE, Bools, Floats, Ints
from lab.retrieval.config import FusionConfig
from lab.retrieval.ranking import DECIMALS, Ranking, rank, ranks_of

# Cormack, Clarke & Buettcher, SIGIR 2009.
RRF_K = 60
# How a leg without another is normalised where features are added to it.
ALONE = "min-max"


@dataclass(frozen=True, eq=False)
class Candidates:
    """The union of both legs' first `depth`, per question (all arrays questions x candidates,
    NONE-padded).

    `bm25` and `dense` are exact scores, NaN where a leg has none (BM25: no shared term).
    `bm25_rank` and `dense_rank` count from 1 and are 0 beyond the leg's depth.
    """

    chunks: Ints
    bm25: Floats
    dense: Floats
    bm25_rank: Ints
    dense_rank: Ints
    _normalized: dict[str, tuple[Floats, Floats]] = field(default_factory=dict, repr=False)

    def of(self, query: Ints) -> "Candidates":
        """Those of some questions, one row each; every row is normalised by itself, so what is
        known stays so."""
        known = {
            name: (bm25[query], dense[query]) for name, (bm25, dense) in self._normalized.items()
        }
        legs = self.bm25[query], self.dense[query], self.bm25_rank[query], self.dense_rank[query]
        return Candidates(self.chunks[query], *legs, known)


def union(*rankings: Ranking) -> Ints:
    """Chunks that any of the rankings holds, questions x candidates."""
    both = np.sort(np.concatenate([ranking.chunks for ranking in rankings], axis=1), axis=1)
    both[:, 1:][both[:, 1:] == both[:, :-1]] = NONE
    # Descending puts the padding last; the order of candidates carries no meaning.
    both = -np.sort(-both, axis=1)
    width = int((both != NONE).sum(axis=1).max(initial=0))
    return both[:, :width]


def candidates(
    bm25: Ranking,
    dense: Ranking,
    bm25_scores: Callable[[Ints], Floats],
    dense_scores: Callable[[Ints], Floats],
) -> Candidates:
    """Look both legs' scores up for the union of their hits, so that an absent score means "shares
    no term"."""
    chunks = union(bm25, dense)
    return Candidates(
        chunks, bm25_scores(chunks), dense_scores(chunks), ranks(bm25, chunks), ranks(dense, chunks)
    )


def ranks(ranking: Ranking, chunks: Ints) -> Ints:
    """Rank from 1 of given chunks (questions x any, NONE for absent), 0 where the ranking does not
    hold one."""
    query, place = np.nonzero(chunks != NONE)
    ranks_of_chunks = np.zeros(chunks.shape, dtype=np.int64)
    ranks_of_chunks[query, place] = ranks_of(ranking, query, chunks[query, place])
    return ranks_of_chunks


def min_max(scores: Floats, real: Bools, lower: float = 0.0) -> Floats:
    """(s - min) / (max - min) over the scored candidates of a question; equal positive scores
    become 1, absent is 0."""
    low, high = _extremes(scores)
    # Equal means equal to the decimals that order compares; stretching float noise to [0, 1] would
    # invent an order.
    flat = np.round(high - low, DECIMALS) == 0
    # Absent (NaN) stays apart: where all found scores are equal, what was not found must not become
    # 1 with them.
    equal = np.where(np.isnan(scores), 0.0, high > 0)
    return _filled(np.where(flat, equal, (scores - low) / np.where(flat, 1, high - low)))


def theoretical(scores: Floats, real: Bools, lower: float) -> Floats:
    """(s - lower) / (max - lower) with the leg's own lower bound, 0 for BM25 and -1 for cosine
    (Bruch, Gai & Ingber, TOIS 2023, section 3.1); absent is 0."""
    _, high = _extremes(scores)
    flat = high <= lower
    return _filled(
        np.where(flat, 0.0, np.clip((scores - lower) / np.where(flat, 1, high - lower), 0, 1))
    )


def z_score(scores: Floats, real: Bools, lower: float = 0.0) -> Floats:
    """(s - mean) / deviation over the candidates of a question, an absent score counting as 0; no
    spread gives 0."""
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


# Each takes the scores (NaN for absent), which places are candidates at all, and the leg's lower
# bound.
NORMALIZATIONS: dict[str, Callable[[Floats, Bools, float], Floats]] = {
    "min-max": min_max,
    "theoretical": theoretical,
    "z-score": z_score,
}


def normalized(pool: Candidates, normalization: str) -> tuple[Floats, Floats]:
    """Both legs' contributions (bm25, dense) before weighting; for `rrf` 1 / (60 + rank), 0 beyond
    the leg's depth."""
    known = pool._normalized
    if normalization not in known:  # the same for every alpha
        if normalization == "rrf":
            known[normalization] = _reciprocal(pool.bm25_rank), _reciprocal(pool.dense_rank)
        else:
            scale, real = NORMALIZATIONS[normalization], pool.chunks != NONE
            known[normalization] = scale(pool.bm25, real, 0.0), scale(pool.dense, real, -1.0)
    return known[normalization]


def _reciprocal(ranks: Ints) -> Floats:
    return np.where(ranks > 0, 1 / (RRF_K + ranks), 0.0)


@dataclass(frozen=True, eq=False)
class Boost:
    """Features in the weighted sum: `weights`, one a feature, add up to at most 1; `of` looks
    chunks up (questions x candidates) and gives features x questions x candidates, in [0, 1], NaN
    where a document lacks the feature."""

    weights: tuple[float, ...]
    of: Callable[[Ints], Floats]

    def mix(self, relevance: Floats, chunks: Ints, normalization: str) -> Floats:
        """(1 - sum of w) * relevance + sum of w * feature: still a line in alpha, for the features
        do not depend on it.

        A feature is on the scale of the legs: as it is for `min-max` and `theoretical`, its z-score
        over the candidates for `z-score`, and for `rrf` 1 / (60 + rank) in the order of the
        feature, equal values at their best rank. A lacking one counts as 0.
        """
        mixed = (1 - sum(self.weights)) * relevance
        for weight, values in zip(self.weights, self.of(chunks), strict=True):
            mixed = mixed + weight * _scaled(
                np.where(chunks == NONE, np.nan, values), chunks != NONE, normalization
            )
        return mixed


def _scaled(values: Floats, real: Bools, normalization: str) -> Floats:
    if normalization == "z-score":
        return z_score(values, real)
    if normalization != "rrf":
        return _filled(values)
    ordered = np.sort(np.where(np.isnan(values), np.inf, -values), axis=1)
    ahead = [np.searchsorted(row, -of_row) for row, of_row in zip(ordered, values, strict=True)]
    return np.where(np.isnan(values), 0.0, 1 / (RRF_K + 1 + np.array(ahead).reshape(values.shape)))


def boosted(leg: Ranking, lower: float, normalization: str, boost: Boost, depth: int) -> Ranking:
    """One leg's hits in the order of their normalised scores and features; `lower` is the leg's
    lower bound."""
    real = leg.chunks != NONE
    if normalization == "rrf":
        relevance = _reciprocal(np.where(real, np.arange(1, real.shape[1] + 1), 0))
    else:
        relevance = NORMALIZATIONS[normalization](np.where(real, leg.scores, np.nan), real, lower)
    return rank(leg.chunks, boost.mix(relevance, leg.chunks, normalization), depth)


def weigh(bm25: Floats, dense: Floats, alpha: float | Floats) -> Floats:
    """alpha * dense + (1 - alpha) * bm25: alpha is the weight of the dense leg."""
    return alpha * dense + (1 - alpha) * bm25


def contributions(
    pool: Candidates, normalization: str, boost: Boost | None
) -> tuple[Floats, Floats]:
    """What is weighed: both legs' normalised scores (bm25, dense), each with the features mixed
    in."""
    parts = normalized(pool, normalization)
    if boost is None:
        return parts
    return boost.mix(parts[0], pool.chunks, normalization), boost.mix(
        parts[1], pool.chunks, normalization
    )


def fuse_at(
    pool: Candidates, config: FusionConfig, alphas: Floats, depth: int, boost: Boost | None = None
) -> Ranking:
    """`fuse` with an alpha of its own for every question; the config's means nothing."""
    rows, parts = [], []
    between = np.flatnonzero((alphas > 0) & (alphas < 1))
    if between.size or not alphas.size:
        inner = pool.of(between)
        scores = weigh(*contributions(inner, config.normalization, boost), alphas[between, None])
        rows.append(between)
        parts.append(rank(inner.chunks, scores, depth))
    for end in (0.0, 1.0):
        at_end = np.flatnonzero(alphas == end)
        if at_end.size:
            whole = config.model_copy(update={"alpha": end})
            rows.append(at_end)
            parts.append(fuse(pool.of(at_end), whole, depth, boost))
    back = np.argsort(np.concatenate(rows))
    return Ranking(
        np.concatenate([part.chunks for part in parts])[back],
        np.concatenate([part.scores for part in parts])[back],
    )


def fuse(pool: Candidates, config: FusionConfig, depth: int, boost: Boost | None = None) -> Ranking:
    """The fused ranking. A leg of weight 0 contributes no candidates: alpha 0 is exactly BM25's
    list, alpha 1 exactly the dense one; with features, the order that these give to that list."""
    assert isinstance(config.alpha, float)  # alphas of questions are `fuse_at`'s
    if config.alpha in (0, 1) and boost is not None:
        scores, places, lower = (
            (pool.bm25, pool.bm25_rank, 0.0)
            if config.alpha == 0
            else (pool.dense, pool.dense_rank, -1.0)
        )
        return boosted(
            _leg(pool.chunks, scores, places, depth), lower, config.normalization, boost, depth
        )
    scores = weigh(*contributions(pool, config.normalization, boost), config.alpha)
    if config.alpha == 0:
        return _leg(pool.chunks, scores, pool.bm25_rank, depth)
    if config.alpha == 1:
        return _leg(pool.chunks, scores, pool.dense_rank, depth)
    return rank(pool.chunks, scores, depth)


def _leg(chunks: Ints, scores: Floats, ranks: Ints, depth: int) -> Ranking:
    """One leg's list in its own order. Sorting its normalised scores again would tie what the leg
    tells apart, or the reverse, for normalising stretches the sixth decimal."""
    held = ranks > 0
    order = np.argsort(np.where(held, ranks, np.iinfo(np.int64).max), axis=1, kind="stable")[
        :, :depth
    ]
    ranked = np.take_along_axis(np.where(held, chunks, NONE), order, axis=1)
    return Ranking(ranked, np.take_along_axis(np.where(held, scores, -np.inf), order, axis=1))
