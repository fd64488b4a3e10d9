"""How alike two vectors are, as sentence-transformers' `similarity_fn_name` has it: higher is
nearer, distances count negative."""

from collections.abc import Callable
from functools import partial

import faiss
import numpy as np

from lab.arrays import Floats, Ints, Vectors
from lab.retrieval.products import distances, inner_products
from lab.retrieval.ranking import DECIMALS

BLOCK = 2**16
# How far faiss's float32 sums may lie from an exact score of about 1, with room to spare.
NOISE = 4 * 10.0**-DECIMALS


def unit(vectors: Vectors) -> Vectors:
    """Scaled to length 1, so that the inner product is the cosine; zero vectors stay zero and score
    0."""
    scaled = np.empty(vectors.shape, dtype=np.float32)
    for first in range(0, len(vectors), BLOCK):  # a million vectors in float64 would be gigabytes
        part = vectors[first : first + BLOCK]
        norm = np.linalg.norm(part.astype(np.float64), axis=1, keepdims=True)
        scaled[first : first + BLOCK] = np.divide(
            part, norm, out=np.zeros(part.shape), where=norm > 0
        )
    return scaled


def prepared(vectors: Vectors, similarity: str) -> Vectors:
    """Vectors as they are compared: of length 1 for the cosine, else as they are."""
    return unit(vectors) if similarity == "cosine" else vectors


def scores(vectors: Vectors, queries: Vectors, chunks: Ints, similarity: str) -> Floats:
    """Similarity of `queries[row]` to the prepared vectors of `chunks[row]` (questions x
    candidates, NONE for absent, there NaN)."""
    return EXACT[similarity](vectors, queries, chunks)


def _negative(straight: bool, vectors: Vectors, queries: Vectors, chunks: Ints) -> Floats:
    return -distances(vectors, queries, chunks, straight=straight)


EXACT: dict[str, Callable[[Vectors, Vectors, Ints], Floats]] = {
    "cosine": inner_products,
    "dot": inner_products,
    "euclidean": partial(_negative, True),
    "manhattan": partial(_negative, False),
}
# What faiss sorts by; its L2 is squared, which sorts alike.
METRICS = {
    "cosine": faiss.METRIC_INNER_PRODUCT,
    "dot": faiss.METRIC_INNER_PRODUCT,
    "euclidean": faiss.METRIC_L2,
    "manhattan": faiss.METRIC_L1,
}


def most(proposed: Vectors, product: Vectors, similarity: str) -> Floats:
    """The best score that a vector can have which faiss sorts behind `proposed`; `product` is the
    greatest that two lengths can have, by which its float32 sums go astray."""
    last = proposed.astype(np.float64)
    noise = NOISE * np.maximum(1, product)
    if similarity == "euclidean":  # the square is summed from squares that cancel each other
        return np.asarray(-np.sqrt(np.maximum(last - 4 * noise - NOISE * last, 0)))
    if similarity == "manhattan":
        return np.asarray(NOISE * np.maximum(1, last) - last)
    return np.asarray(last + noise)
