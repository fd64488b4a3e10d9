"""Batches of texts of one length: what a text gets never depends on the texts beside it.

Padding changes the sums of a model in their last bits, and so a text's vector would depend on which
other texts were missing in the cache. Rows of one batch without padding are computed alike whatever
their number, but for matrices of very few rows, for which the libraries have other kernels: short
batches are filled up with copies. Measured on CPUs with 1 and 2 threads (see tests/README.md).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

BATCH = 32
# Tokens of a batch from which on its number of texts makes no difference, for each thread.
FEW = 64


def token_counts(features: Mapping[str, Any], texts: int) -> list[int]:
    """Tokens of every text as a tokenizer gives them to a model; all alike where it pads none."""
    mask = features.get("attention_mask")
    return [0] * texts if mask is None else [int(count) for count in mask.sum(dim=1)]


def equal_lengths(lengths: Sequence[int], size: int = BATCH) -> Iterator[list[int]]:
    """Places of texts with one length, `size` at most together, the longest first."""
    places: dict[int, list[int]] = {}
    for place, length in enumerate(lengths):
        places.setdefault(length, []).append(place)
    for length in sorted(places, reverse=True):
        alike = places[length]
        for first in range(0, len(alike), size):
            yield alike[first : first + size]


def filled(places: Sequence[int], length: int, threads: int) -> list[int]:
    """The places, and copies of the first until the batch has tokens enough."""
    wanted = -(-FEW * threads // max(length, 1))
    return [*places, *[places[0]] * (wanted - len(places))]
