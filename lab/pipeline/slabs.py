"""Work in slabs, one commit after each."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

# Texts or pairs computed between two commits: what a killed run loses at most.
SLAB = 512


def slabs(items: Sequence[T], size: int = SLAB) -> Iterator[Sequence[T]]:
    """Parts of `size` items in order, the last one shorter."""
    return (items[first : first + size] for first in range(0, len(items), size))
