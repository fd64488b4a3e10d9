"""Inner products and distances of given pairs, compiled: summed in float64 in one fixed order,
whatever stands beside a pair."""

import numpy as np
from numba import njit

from lab.arrays import Floats, Ints, Vectors

# Sums that run side by side, which the processor adds in one step.
LANES = 16


def inner_products(vectors: Vectors, queries: Vectors, chunks: Ints) -> Floats:
    """Products of `queries[row]` with the vectors of `chunks[row]` (questions x candidates, NONE
    for absent, there NaN)."""
    lanes = -(-vectors.shape[1] // LANES)
    return np.asarray(_products(vectors, queries, chunks, lanes))


def distances(vectors: Vectors, queries: Vectors, chunks: Ints, *, straight: bool) -> Floats:
    """Distances from `queries[row]` to the vectors of `chunks[row]`, NaN for absent ones: Euclidean
    where `straight`, else Manhattan."""
    return np.asarray(_distances(vectors, queries, chunks, straight))


def compile_products() -> None:
    """Have numba compile what is below, or load it from its cache."""
    unit = np.ones((1, 1), dtype=np.float32)
    inner_products(unit, unit, np.zeros((1, 1), dtype=np.int64))


@njit(cache=True)
def _products(vectors, queries, chunks, lanes):  # type: ignore[no-untyped-def]
    dimension = vectors.shape[1]
    products, query, sums = np.full(chunks.shape, np.nan), np.zeros(lanes * LANES), np.zeros(LANES)
    for row in range(len(queries)):
        query[:dimension] = queries[row]
        for place in range(chunks.shape[1]):
            chunk = chunks[row, place]
            if chunk < 0:
                continue
            sums[:] = 0
            for lane in range(dimension // LANES):
                for step in range(LANES):
                    sums[step] += (
                        np.float64(vectors[chunk, lane * LANES + step]) * query[lane * LANES + step]
                    )
            for step in range(dimension // LANES * LANES, dimension):
                sums[step % LANES] += np.float64(vectors[chunk, step]) * query[step]
            total = 0.0
            for step in range(LANES):
                total += sums[step]
            products[row, place] = total
    return products


@njit(cache=True)
def _distances(vectors, queries, chunks, straight):  # type: ignore[no-untyped-def]
    distances = np.full(chunks.shape, np.nan)
    for row in range(len(queries)):
        for place in range(chunks.shape[1]):
            chunk = chunks[row, place]
            if chunk < 0:
                continue
            total = 0.0
            for step in range(vectors.shape[1]):
                gap = np.float64(vectors[chunk, step]) - np.float64(queries[row, step])
                total += gap * gap if straight else abs(gap)
            distances[row, place] = np.sqrt(total) if straight else total
    return distances
