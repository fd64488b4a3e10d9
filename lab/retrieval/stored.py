"""Vectors as an index would store them: fewer dimensions, and fewer bits of each.

What is stored is read back as numbers again, so that all that follows (search, fusion, diagnosis)
is the same whatever the storage; the bytes are those of a real index, not of the lab's memory.

int8: one scale a vector, its greatest number 127 steps. binary: the sign of every number, compared
by how many differ (Hamming), for questions too. binary+rescore(n): the n x depth chunks that are
nearest by that are ordered anew by the product of the question's own numbers with the stored signs,
as sentence-transformers' `semantic_search_faiss` does (Yamada, Asai & Hajishirzi, ACL 2021);
nothing but the signs is kept.
"""

import re
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import AfterValidator

from lab.arrays import Ints, Vectors
from lab.retrieval.similarity import prepared, unit
from lab.retrieval.sketch import Sketch

FLOAT32, INT8, BINARY = "float32", "int8", "binary"
STORAGE = re.compile(r"float32|int8|binary|binary\+rescore\(([1-9]\d{0,3})\)", re.ASCII)
# Signs of equal products differ by 2 / dimensions at least.
BELOW = 1e-6


def _storage(value: str) -> str:
    if not STORAGE.fullmatch(value):
        raise ValueError("expected float32, int8, binary or binary+rescore(n), like rescore(4)")
    return value


Storage = Annotated[str, AfterValidator(_storage)]


def is_binary(storage: str) -> bool:
    """Whether signs alone are stored."""
    return storage.startswith(BINARY)


def oversampled(storage: str) -> int | None:
    """How many times the depth are proposed by their signs; None where nothing is rescored."""
    match = STORAGE.fullmatch(storage)
    return int(match[1]) if match and match[1] else None


def bytes_each(dimensions: int, storage: str) -> int:
    """Bytes of one vector, the scale of int8 among them."""
    if is_binary(storage):
        return -(-dimensions // 8)
    return dimensions + 4 if storage == INT8 else 4 * dimensions


def as_stored(vectors: Vectors, dims: int, storage: str, similarity: str) -> Vectors:
    """Vectors of texts (texts x dimension, as the model gives them), their first `dims` numbers (0:
    all), once they were stored, ready to be compared, and read back."""
    kept = _first(vectors, dims)
    if storage == FLOAT32:
        return kept
    kept = prepared(kept, similarity)
    if is_binary(storage):
        return _signs(kept)
    sketch = Sketch.of(kept)
    return sketch.codes * sketch.scales[:, None]


def as_asked(vectors: Vectors, dims: int, storage: str, similarity: str) -> Vectors:
    """Vectors of questions as they are compared with stored ones: in full precision, but where
    signs are compared with signs."""
    kept = prepared(_first(vectors, dims), similarity)
    return _signs(kept) if storage == BINARY else kept


def _first(vectors: Vectors, dims: int) -> Vectors:
    return np.ascontiguousarray(vectors[:, :dims]) if dims else vectors


def _signs(vectors: Vectors) -> Vectors:
    """+1 for numbers above 0, else -1, scaled to length 1: the product of two is 1 - 2h/d for d
    dimensions of which h differ. A zero vector stays one."""
    signs = np.where(vectors > 0, np.float32(1), np.float32(-1))
    return unit(signs * vectors.any(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class SignProposals:
    """Proposes the `times` x depth chunks whose stored signs differ least from the question's."""

    signs: Vectors
    times: int

    @property
    def size(self) -> int:
        """Bytes beside the vectors."""
        return 0

    def contenders(self, queries: Vectors, depth: int) -> tuple[Ints, Ints]:
        """For every question the proposals laid end to end, all that tie for the last place among
        them: those of question i at [starts[i], starts[i + 1])."""
        wanted = max(1, min(self.times * depth, len(self.signs)))
        lists = [np.zeros(0, dtype=np.int64)]
        for query in _signs(queries):
            near = self.signs @ query
            last = np.partition(near, -wanted)[-wanted] if len(near) else 0
            lists.append(np.flatnonzero(near >= last - BELOW))
        return np.cumsum([len(part) for part in lists], dtype=np.int64), np.concatenate(lists)
