"""The array types that every room speaks, and the two numbers that stand for "nothing"."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Vectors = NDArray[np.float32]  # rows of an encoder

Span = tuple[int, int]  # start, end: half-open, code points

NONE = -1  # instead of an index: no chunk, no document, no unit
NEVER = np.iinfo(np.int64).max  # instead of a rank: not at all
