"""Sketch: vectors in eight bits, which propose what exact scores then order; nothing that belongs
to the ranking is left out."""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lab.arrays import Ints, Vectors
from lab.retrieval.postings import SLACK

STEPS = 127
BLOCK = 2**14
# The unit roundoff of float32, twice: for a product and for the sum it joins.
ROUNDOFF = 2.0**-23


@dataclass(frozen=True, eq=False)
class Sketch:
    """Vectors v as `codes * scales`, a row each: `codes` in [-127, 127], one scale a vector, and
    `slacks` >= |v - codes * scale| and what float32 can lose in a sum. So v's product with a
    question q lies within |q| * slack of the sketch's (Cauchy and Schwarz)."""

    codes: NDArray[np.int8]
    scales: Vectors
    slacks: Vectors

    @staticmethod
    def of(vectors: Vectors) -> "Sketch":
        """Linear in the vectors; each row depends on its own vector alone."""
        codes = np.empty(vectors.shape, dtype=np.int8)
        scales = np.empty(len(vectors), dtype=np.float32)
        slacks = np.empty(len(vectors), dtype=np.float32)
        for first in range(0, len(vectors), BLOCK):
            rows = slice(first, first + BLOCK)
            exact = vectors[rows].astype(np.float64)
            scale = (np.abs(exact).max(axis=1, initial=0) / STEPS).astype(np.float32)
            steps = np.divide(
                exact, scale[:, None], out=np.zeros(exact.shape), where=scale[:, None] > 0
            )
            codes[rows] = np.clip(np.rint(steps), -STEPS, STEPS)
            shown = codes[rows] * scale[:, None].astype(np.float64)
            lost = np.linalg.norm(exact - shown, axis=1)
            summed = ROUNDOFF * (vectors.shape[1] + 2) * np.linalg.norm(shown, axis=1)
            scales[rows] = scale
            slacks[rows] = np.nextafter((lost + summed).astype(np.float32), np.float32(np.inf))
        return Sketch(codes, scales, slacks)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.codes.nbytes + self.scales.nbytes + self.slacks.nbytes

    def contenders(self, queries: Vectors, depth: int) -> tuple[Ints, Ints]:
        """For every question all vectors that can be among its `depth` greatest products, laid end
        to end: those of question i at [starts[i], starts[i + 1])."""
        depth = max(1, min(depth, len(self.codes)))
        lists = [np.zeros(0, dtype=np.int64)]
        for query in queries:
            if not len(self.codes):
                lists.append(lists[0])
                continue
            near = np.empty(len(self.codes), dtype=np.float32)
            _products(self.codes, self.scales, query.astype(np.float32), near)
            slack = self.slacks * np.float32(np.linalg.norm(query.astype(np.float64)) + ROUNDOFF)
            certain = np.partition(near - slack, -depth)[-depth]
            lists.append(np.flatnonzero(near + slack >= certain - SLACK))
        starts = np.cumsum([len(part) for part in lists], dtype=np.int64)
        return starts, np.concatenate(lists)


# Any order of the sum will do: `slacks` has room for it.
@njit(cache=True, fastmath=True)
def _products(codes, scales, query, near):  # type: ignore[no-untyped-def]
    for row in range(codes.shape[0]):
        total = np.float32(0)
        for place in range(codes.shape[1]):
            total += query[place] * np.float32(codes[row, place])
        near[row] = total * scales[row]
