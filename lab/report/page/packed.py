"""Arrays of numbers in the page's JSON; `html/data.js` unpacks them."""

import base64
from typing import Any

import numpy as np

# What the letter before the base64 stands for; whole numbers take the smallest that holds them.
WHOLE = {"B": "<u1", "H": "<u2", "I": "<u4"}
REAL = {"f": "<f4", "d": "<f8"}


def packed(values: Any, real: str = "") -> str:
    """Numbers as base64 of little-endian bytes, after a letter that says their type: whole numbers
    from 0, or with `real` as `f` or `d` numbers of that width."""
    array = np.asarray(values)
    kind = real or next(
        letter for letter, name in WHOLE.items() if int(array.max(initial=0)) <= np.iinfo(name).max
    )
    plain = np.ascontiguousarray(array, dtype=(WHOLE | REAL)[kind])
    return kind + base64.b64encode(plain.tobytes()).decode()
