"""BM25's formulas, as rank-bm25 defines them: what a term weighs by how many chunks have it, and by
how often one has it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from lab.arrays import Floats, Ints
from lab.retrieval.config import Variant

# Chunks N, and per term the number df of those that have it -> the idf of every term.
Idf = Callable[[int, Ints], Floats]

# The part of the average idf that okapi gives terms whose own is negative (rank-bm25's epsilon).
EPSILON = 0.25
# What BM25L adds to an occurrence, and BM25+ to every chunk (rank-bm25's delta).
DELTA: Mapping[Variant, float] = {"l": 0.5, "plus": 1.0}


def lucene_idf(chunks: int, frequency: Ints) -> Floats:
    """ln(1 + (N - df + .5) / (df + .5)), never negative (Robertson & Zaragoza 2009, as in Kamphuis
    et al., ECIR 2020, table 1)."""
    return _each(frequency, lambda df: math.log(1 + (chunks - df + 0.5) / (df + 0.5)))


def okapi_idf(chunks: int, frequency: Ints) -> Floats:
    """ln((N - df + .5) / (df + .5)); where that is negative, a quarter of the average over all
    terms (`rank_bm25.BM25Okapi`)."""
    idf = _each(frequency, lambda df: math.log(chunks - df + 0.5) - math.log(df + 0.5))
    if not len(idf):
        return idf
    average = float(np.cumsum(idf)[-1]) / len(idf)
    return np.where(idf < 0, EPSILON * average, idf)


def l_idf(chunks: int, frequency: Ints) -> Floats:
    """ln((N + 1) / (df + .5)) (`rank_bm25.BM25L`)."""
    return _each(frequency, lambda df: math.log(chunks + 1) - math.log(df + 0.5))


def plus_idf(chunks: int, frequency: Ints) -> Floats:
    """ln((N + 1) / df) (`rank_bm25.BM25Plus`)."""
    return _each(frequency, lambda df: math.log((chunks + 1) / df))


IDF: Mapping[Variant, Idf] = {
    "lucene": lucene_idf,
    "okapi": okapi_idf,
    "l": l_idf,
    "plus": plus_idf,
}


def _each(frequency: Ints, idf: Callable[[int], float]) -> Floats:
    """Each distinct frequency once: few differ, and `math.log` is the same on every machine."""
    distinct, places = np.unique(frequency, return_inverse=True)
    return np.array([idf(df) for df in distinct.tolist()], dtype=np.float64)[places]


@dataclass(frozen=True, slots=True)
class TermWeight:
    """The factor beside the idf. `average` is the mean number of terms of an indexed chunk."""

    variant: Variant
    k1: float
    b: float
    average: float

    def of(self, occurrences: Floats, lengths: Floats) -> Floats:
        """For f > 0 occurrences in a chunk of that many terms: f (k1 + 1) / (f + k1 n), where n is
        1 - b + b length / average; under `l`, with c = f / n, f (k1 + 1) (c + d) / (k1 + c + d)."""
        f, n = occurrences, 1 - self.b + self.b * lengths / self.average
        if self.variant == "l":
            c = f / n
            return np.asarray(f * (self.k1 + 1) * (c + DELTA["l"]) / (self.k1 + c + DELTA["l"]))
        return np.asarray(f * (self.k1 + 1) / (f + self.k1 * n))
