"""Dense search with faiss; scores and order are settled in float64, so that no batch's make-up
decides a rank."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import faiss
import numpy as np

from lab.arrays import NONE, Floats, Ints, Vectors
from lab.chunking.chunk import Chunking
from lab.errors import ModelError
from lab.retrieval.ranking import Ranking, rank_lists
from lab.retrieval.similarity import METRICS, most, prepared, scores
from lab.retrieval.sketch import Sketch
from lab.retrieval.stored import FLOAT32, SignProposals, bytes_each, oversampled

MARGIN = 16


@dataclass(frozen=True, eq=False)
class Dense:
    """Vectors of all chunks (chunks x dimension; of length 1 for the cosine) and what proposes some
    of them to a question: an index of faiss, or a sketch."""

    vectors: Vectors
    index: faiss.Index | Sketch | SignProposals
    similarity: str = "cosine"
    storage: str = FLOAT32

    @property
    def size(self) -> int:
        """Bytes of the vectors, of what the sketch or faiss's index holds of them, and of the links
        of an HNSW graph; of vectors in other storage than float32 those that it takes."""
        links = 4 * self.index.hnsw.neighbors.size() if hasattr(self.index, "hnsw") else 0
        if self.storage != FLOAT32:
            return int(len(self.vectors) * bytes_each(self.vectors.shape[1], self.storage) + links)
        if isinstance(self.index, Sketch):
            return self.vectors.nbytes + self.index.size
        return int(2 * self.vectors.nbytes + links)

    def only(self, chunks: Ints) -> "Dense":
        """The vectors of some chunks (ascending), which are numbered anew and searched exactly: a
        graph or cells built over all chunks lose what passes a narrow filter."""
        vectors = self.vectors[chunks]
        return Dense(vectors, exact_index(vectors, self.similarity), self.similarity)

    @cached_property
    def _longest(self) -> float:
        return float(np.linalg.norm(self.vectors, axis=1).max(initial=0))

    def search(self, queries: Vectors, depth: int) -> Ranking:
        """The best `depth` chunks of every question (vectors as `prepared`) by similarity; no
        deeper than there are chunks.

        faiss proposes, exact scores decide. faiss keeps an arbitrary few of equally scored chunks,
        so more are asked for until the last one lies clearly below the last place of the ranking.
        A sketch proposes all that can be among the first, signs what they find nearest.
        """
        if isinstance(self.index, Sketch | SignProposals):
            starts, chunks = self.index.contenders(queries, depth)
            values = self._exact(queries, starts, chunks)
            return rank_lists(starts, chunks, values, max(1, min(depth, len(self.vectors))))
        rows: list[tuple[Ints, Floats]] = [(np.zeros(0, dtype=np.int64), np.zeros(0))] * len(
            queries
        )
        depth = max(1, min(depth, len(self.vectors)))
        pending, k = np.arange(len(queries)), depth + MARGIN
        while len(pending) and len(self.vectors):
            k = min(k, len(self.vectors))
            proposed, chunks_near = self.index.search(queries[pending], k)
            exact = scores(self.vectors, queries[pending], chunks_near, self.similarity)
            lengths = np.linalg.norm(queries[pending], axis=1)
            bounds = most(proposed[:, -1], lengths * self._longest, self.similarity)
            unsettled = []
            for query, bound, ids, values in zip(pending, bounds, chunks_near, exact, strict=True):
                hits, similarities = ids[ids != NONE], values[ids != NONE]
                rows[query] = (hits, similarities)
                if (
                    len(hits) == k < len(self.vectors)
                    and np.partition(similarities, -depth)[-depth] <= bound
                ):
                    unsettled.append(query)
            pending, k = np.array(unsettled, dtype=np.int64), 4 * k
        starts = np.concatenate(([0], np.cumsum([len(hits) for hits, _ in rows], dtype=np.int64)))
        chunks, values = (
            np.concatenate([row[part] for row in rows] or [np.zeros(0)]) for part in (0, 1)
        )
        return rank_lists(starts, chunks.astype(np.int64), values, depth)

    def _exact(self, queries: Vectors, starts: Ints, chunks: Ints) -> Floats:
        """Exact similarities of lists of chunks, laid end to end."""
        rows = [
            scores(self.vectors, queries[[row]], chunks[None, first:last], self.similarity)[0]
            for row, (first, last) in enumerate(pairwise(starts.tolist()))
        ]
        return np.concatenate([*rows, np.zeros(0)])

    def scores(self, queries: Vectors, chunks: Ints) -> Floats:
        """Exact similarities of given candidates (questions x candidates, NONE for absent, there
        NaN)."""
        if not len(self.vectors):  # a view that no document has; its dimension is not known
            return np.full(chunks.shape, np.nan)
        return scores(self.vectors, queries, chunks, self.similarity)


def build(vectors: Vectors, kind: str, chunking: Chunking, similarity: str = "cosine") -> Dense:
    """Index one vector a chunk. Raises ModelError that names the chunks whose vector holds NaN or
    infinity."""
    check_finite(vectors, lambda i: f"chunk '{chunking[i].chunk_id}'")
    return index(vectors, kind, similarity)


def index(vectors: Vectors, kind: str, similarity: str = "cosine") -> Dense:
    """Index vectors that are known to be finite."""
    vectors = prepared(vectors, similarity)
    built = INDEXES[kind](vectors, METRICS[similarity])
    if len(vectors):
        built.add(vectors)
    return Dense(vectors, built, similarity)


def stored_by(index: Dense, storage: str) -> Dense:
    """An index of vectors `as_stored` that counts their bytes, and proposes by signs where these
    are rescored."""
    times = oversampled(storage)
    proposed = index.index if times is None else SignProposals(index.vectors, times)
    return replace(index, index=proposed, storage=storage)


def check_finite(vectors: Vectors, name: Callable[[int], str]) -> None:
    """Raises ModelError that names everything whose vector holds NaN or infinity: faiss would
    silently never return it."""
    faulty = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(faulty):
        raise ModelError(
            f"{name(int(i))}: the model gave a vector with NaN or infinity; it cannot be ranked"
            for i in faulty
        )


def exact_index(vectors: Vectors, similarity: str) -> faiss.Index:
    """faiss's flat index over vectors as they are compared."""
    index = _exact_index(vectors, METRICS[similarity])
    if len(vectors):
        index.add(vectors)
    return index


def _exact_index(vectors: Vectors, metric: int) -> faiss.Index:
    return faiss.IndexFlat(vectors.shape[1], metric)


def _hnsw(vectors: Vectors, metric: int) -> faiss.Index:
    index = faiss.IndexHNSWFlat(vectors.shape[1], 32, metric)
    index.hnsw.efConstruction, index.hnsw.efSearch = 200, 128
    return index


def _ivf(vectors: Vectors, metric: int) -> faiss.Index:
    # 4 sqrt(n) cells, an eighth of them visited: the middle of the range that faiss's guidelines
    # give.
    cells = max(1, min(int(4 * len(vectors) ** 0.5), len(vectors) // 39))
    index = faiss.IndexIVFFlat(
        faiss.IndexFlat(vectors.shape[1], metric), vectors.shape[1], cells, metric
    )
    index.nprobe = max(1, cells // 8)
    if len(vectors):
        index.train(vectors)
    return index


INDEXES = {"exact": _exact_index, "hnsw": _hnsw, "ivf": _ivf}
