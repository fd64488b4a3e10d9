"""Predictors: what is known of a question before the legs are joined, from its words, the lexical
index and both legs' lists."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from lab.arrays import NONE, Bools, Floats, Ints
from lab.chunking.units import words
from lab.config.config import Config
from lab.pipeline.stages import Stages
from lab.retrieval.ranking import Ranking
from lab.sets.identifiers import find_identifiers

# Hits at the head of a list; WIG looks at the first five (Zhou & Croft 2007).
HEAD, WIG_HEAD = 10, 5


def length(texts: tuple[str, ...]) -> Floats:
    """Words of every question, a Chinese, Japanese or Korean character being one."""
    return np.array([len(words(text)) for text in texts], dtype=np.float64)


def predictors(stages: Stages, config: Config) -> dict[str, Floats]:
    """Figures of every question for a hybrid system, each finite; none depends on alpha or on any
    judgement.

    `words`, `identifiers` and `unknown` are ln(1 + words), how many words are identifiers, and the
    share of its terms that no chunk holds; `idf_max` and `idf_mean` are over its known terms.
    `bm25_drop`, `bm25_fall` are (s1 - s2) / s1 and (s1 - s10) / s1 of the lexical list,
    `dense_top`, `dense_drop`, `dense_fall` the first score of the dense one and by how much the
    second and the tenth are lower. `overlap` is the share of the first ten that both lists hold,
    `bm25_of_dense` and `dense_of_bm25` 1 / rank of one list's first hit in the other, 0 beyond it.

    WIG (Zhou & Croft, SIGIR 2007) is the mean of the first five scores less that of the
    collection, over the root of the question's terms; NQC (Shtok et al., TOIS 2012) the deviation
    of the list's scores over that of the collection. Both ask for a score of the whole collection,
    which neither leg has: the mean of the list's own stands for it.
    """
    assert config.bm25 is not None  # hybrid systems have both legs
    assert config.dense is not None
    texts = stages.questions.texts
    lexical, nearest = (
        stages.own_bm25(config.bm25, config.depth),
        stages.own_dense(config.dense, config.depth),
    )
    bm25, dense = _scores(lexical), _scores(nearest)
    index = stages.indexes.bm25_index(config.bm25).own
    asked = index.terms.counts(texts)
    count = np.maximum([len(index.terms(text)) for text in texts], 1).astype(np.float64)
    known = np.asarray(asked.sum(axis=1), dtype=np.float64)
    idf = _over_terms(asked, index.idf)
    top = np.where(bm25[:, 0] > 0, bm25[:, 0], 1.0)
    return {
        "words": np.log1p(length(texts)),
        "identifiers": np.array([sum(1 for _ in find_identifiers(text)) for text in texts], float),
        "unknown": 1 - known / count,
        "idf_max": idf(np.max),
        "idf_mean": idf(np.mean),
        "bm25_drop": (bm25[:, 0] - bm25[:, 1]) / top,
        "bm25_fall": (bm25[:, 0] - bm25[:, HEAD - 1]) / top,
        "dense_top": dense[:, 0],
        "dense_drop": dense[:, 0] - dense[:, 1],
        "dense_fall": dense[:, 0] - dense[:, HEAD - 1],
        "overlap": _overlap(lexical.chunks[:, :HEAD], nearest.chunks[:, :HEAD]),
        "bm25_of_dense": _reciprocal_rank(lexical, nearest),
        "dense_of_bm25": _reciprocal_rank(nearest, lexical),
        "wig_bm25": _wig(lexical, count),
        "wig_dense": _wig(nearest, count),
        "nqc_bm25": _nqc(lexical),
        "nqc_dense": _nqc(nearest),
    }


def scq(stages: Stages, config: Config) -> Floats:
    """SCQ of every question (Zhao, Scholer & Tsegay, ECIR 2008): the sum over its known terms of
    (1 + ln cf) * ln(1 + N / df), with the term's occurrences cf, the chunks df that hold it, and N
    chunks."""
    assert config.bm25 is not None  # hybrid systems have both legs
    counts = stages.indexes.term_counts(config.bm25.analyzer, config.bm25.views)
    occurrences = np.asarray(counts.counts.sum(axis=1), dtype=np.float64)
    weight = (1 + np.log(occurrences)) * np.log1p(counts.indexed / counts.frequency)
    asked = stages.indexes.bm25_index(config.bm25).own.terms.counts(stages.questions.texts)
    return np.asarray(asked @ weight, dtype=np.float64)


def _scores(ranking: Ranking) -> Floats:
    """The first ten scores of every question, 0 where there is no hit."""
    scores = np.zeros((len(ranking.scores), HEAD))
    head = ranking.scores[:, :HEAD]
    scores[:, : head.shape[1]] = np.where(np.isfinite(head), head, 0.0)
    return scores


def _over_terms(asked: csr_array, weights: Floats) -> Callable[[Callable[[Floats], float]], Floats]:
    """A statistic of the weights of every question's known terms, 0 without any."""

    def over(statistic: Callable[[Floats], float]) -> Floats:
        rows = np.split(weights[asked.indices], asked.indptr[1:-1])
        return np.array([statistic(row) if len(row) else 0.0 for row in rows], dtype=np.float64)

    return over


def _overlap(a: Ints, b: Ints) -> Floats:
    both = (a[:, :, None] == b[:, None, :]) & (a != NONE)[:, :, None]
    return np.asarray(both.any(axis=2).sum(axis=1) / HEAD)


def _reciprocal_rank(of: Ranking, within: Ranking) -> Floats:
    """1 / rank of a list's first hit in another list, 0 where it is not among its hits."""
    first = of.chunks[:, :1]
    held = (within.chunks == first) & (first != NONE)
    return np.where(held.any(axis=1), 1.0 / (1 + held.argmax(axis=1)), 0.0)


def _real(ranking: Ranking) -> tuple[Floats, Bools, Floats]:
    """Scores with 0 where there is no hit, where there is one, and the mean of every list."""
    real = ranking.chunks != NONE
    scores = np.where(real, ranking.scores, 0.0)
    return scores, real, scores.sum(axis=1) / np.maximum(real.sum(axis=1), 1)


def _wig(ranking: Ranking, terms: Floats) -> Floats:
    scores, real, mean = _real(ranking)
    head = np.maximum(real[:, :WIG_HEAD].sum(axis=1), 1)
    return np.asarray((scores[:, :WIG_HEAD].sum(axis=1) / head - mean) / np.sqrt(terms))


def _nqc(ranking: Ranking) -> Floats:
    scores, real, mean = _real(ranking)
    squares = np.where(real, (scores - mean[:, None]) ** 2, 0.0).sum(axis=1)
    spread = np.sqrt(squares / np.maximum(real.sum(axis=1), 1))
    known = np.abs(mean) > 1e-9
    return np.where(known, spread / np.where(known, np.abs(mean), 1.0), 0.0)
