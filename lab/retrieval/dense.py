"""Dense search with faiss; scores and order are settled in float64, so that no batch's make-up
decides a rank."""

from collections.abc import Callable
from dataclasses import dataclass

import faiss
import numpy as np

from lab.arrays import NONE, Floats, Ints, Vectors
from lab.chunking.chunk import Chunking
from lab.errors import ModelError
from lab.retrieval.products import inner_products
from lab.retrieval.ranking import DECIMALS, Ranking, rank_lists

MARGIN = 16
BLOCK = 2**16
# How far faiss's float32 sums may lie from the exact score, with room to spare.
NOISE = 4 * 10.0**-DECIMALS


@dataclass(frozen=True, eq=False)
class Dense:
    """Unit vectors of all chunks (chunks x dimension) and the faiss index over them."""

    vectors: Vectors
    index: faiss.Index

    @property
    def size(self) -> int:
        """Bytes of the vectors, of faiss's copy of them, and of the links of an HNSW graph."""
        links = 4 * self.index.hnsw.neighbors.size() if hasattr(self.index, "hnsw") else 0
        return int(2 * self.vectors.nbytes + links)

    def only(self, chunks: Ints) -> "Dense":
        """The vectors of some chunks (ascending), which are numbered anew and searched exactly: a
        graph or cells built over all chunks lose what passes a narrow filter."""
        vectors = self.vectors[chunks]
        index = _exact_index(vectors)
        if len(vectors):
            index.add(vectors)
        return Dense(vectors, index)

    def search(self, queries: Vectors, depth: int) -> Ranking:
        """The best `depth` chunks of every question by inner product; no deeper than there are
        chunks.

        faiss proposes, exact scores decide. faiss keeps an arbitrary few of equally scored chunks,
        so more are asked for until the last one lies clearly below the last place of the ranking.
        """
        rows: list[tuple[Ints, Floats]] = [(np.zeros(0, dtype=np.int64), np.zeros(0))] * len(
            queries
        )
        depth = max(1, min(depth, len(self.vectors)))
        pending, k = np.arange(len(queries)), depth + MARGIN
        while len(pending) and len(self.vectors):
            k = min(k, len(self.vectors))
            proposed, found = self.index.search(queries[pending], k)
            exact = inner_products(self.vectors, queries[pending], found)
            unsettled = []
            for query, last, ids, scores in zip(
                pending, proposed[:, -1], found, exact, strict=True
            ):
                hits, own = ids[ids != NONE], scores[ids != NONE]
                rows[query] = (hits, own)
                if (
                    len(hits) == k < len(self.vectors)
                    and np.partition(own, -depth)[-depth] <= last + NOISE
                ):
                    unsettled.append(query)
            pending, k = np.array(unsettled, dtype=np.int64), 4 * k
        starts = np.concatenate(([0], np.cumsum([len(hits) for hits, _ in rows], dtype=np.int64)))
        chunks, scores = (
            np.concatenate([row[part] for row in rows] or [np.zeros(0)]) for part in (0, 1)
        )
        return rank_lists(starts, chunks.astype(np.int64), scores, depth)

    def scores(self, queries: Vectors, chunks: Ints) -> Floats:
        """Exact inner products of given candidates (questions x candidates, NONE for absent, there
        NaN)."""
        return inner_products(self.vectors, queries, chunks)


def build(vectors: Vectors, kind: str, chunking: Chunking) -> Dense:
    """Index one vector a chunk. Raises ModelError that names the chunks whose vector holds NaN or
    infinity."""
    check_finite(vectors, lambda i: f"chunk '{chunking[i].chunk_id}'")
    return index(vectors, kind)


def index(vectors: Vectors, kind: str) -> Dense:
    """Index vectors that are known to be finite."""
    vectors = unit(vectors)
    built = INDEXES[kind](vectors)
    if len(vectors):
        built.add(vectors)
    return Dense(vectors, built)


def check_finite(vectors: Vectors, name: Callable[[int], str]) -> None:
    """Raises ModelError that names everything whose vector holds NaN or infinity: faiss would
    silently never return it."""
    faulty = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(faulty):
        raise ModelError(
            f"{name(int(i))}: the model gave a vector with NaN or infinity; it cannot be ranked"
            for i in faulty
        )


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


def _exact_index(vectors: Vectors) -> faiss.Index:
    return faiss.IndexFlatIP(vectors.shape[1])


def _hnsw(vectors: Vectors) -> faiss.Index:
    index = faiss.IndexHNSWFlat(vectors.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction, index.hnsw.efSearch = 200, 128
    return index


def _ivf(vectors: Vectors) -> faiss.Index:
    # 4 sqrt(n) cells, an eighth of them visited: the middle of the range that faiss's guidelines
    # give.
    cells = max(1, min(int(4 * len(vectors) ** 0.5), len(vectors) // 39))
    index = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(vectors.shape[1]), vectors.shape[1], cells, faiss.METRIC_INNER_PRODUCT
    )
    index.nprobe = max(1, cells // 8)
    if len(vectors):
        index.train(vectors)
    return index


INDEXES = {"exact": _exact_index, "hnsw": _hnsw, "ivf": _ivf}
