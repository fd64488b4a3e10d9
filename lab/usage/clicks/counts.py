"""Counts: how often every document was shown for a question at every rank, and clicked there."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import Bools, Floats, Ints
from lab.errors import UsageError
from lab.retrieval.folding import fold
from lab.usage.log import Asked

# Fewer impressions of a document for a question say nothing about it.
FEWEST = 10


@dataclass(frozen=True, eq=False)
class Counts:
    """`pairs` are (question, document), ascending. The arrays have an entry a pair and rank at
    which it was `shown`: its place in `pairs`, the rank from 1, and how often it was shown and
    `clicked` there."""

    pairs: tuple[tuple[str, str], ...]
    pair: Ints
    rank: Ints
    shown: Floats
    clicked: Floats

    @property
    def ranks(self) -> int:
        """The deepest rank."""
        return int(self.rank.max(initial=0))

    def by_pair(self, values: Floats) -> Floats:
        """The sum over all ranks of every pair."""
        return np.bincount(self.pair, values, len(self.pairs)).astype(np.float64)

    def by_rank(self, values: Floats) -> Floats:
        """The sum over all pairs at every rank."""
        return np.bincount(self.rank - 1, values, self.ranks).astype(np.float64)

    def of(self, kept: Bools) -> "Counts":
        """The counts of some pairs alone."""
        number = np.cumsum(kept) - 1
        held = kept[self.pair]
        return Counts(
            tuple(pair for pair, keep in zip(self.pairs, kept, strict=True) if keep),
            number[self.pair[held]],
            self.rank[held],
            self.shown[held],
            self.clicked[held],
        )

    def enough(self) -> "Counts":
        """Pairs that were shown ten times or more. Raises UsageError where there is none."""
        kept = self.by_pair(self.shown) >= FEWEST
        if not kept.any():
            raise UsageError(
                f"no document was shown {FEWEST} times for one question; clicks of so few "
                "impressions are no judgements: take a longer log"
            )
        return self.of(kept)


def question_key(text: str) -> str:
    """What wordings of one question share: folded characters, blanks as one."""
    return " ".join(fold(text).split())


def counts_of(log: Sequence[Asked], depth: int) -> Counts:
    """Count the first `depth` hits of every line; equal questions, whatever their case, are one,
    in its first wording.
    Raises UsageError for a log without hits or without clicks."""
    shown: Counter[tuple[str, str, int]] = Counter()
    clicked: Counter[tuple[str, str, int]] = Counter()
    first: dict[str, str] = {}
    for one in log:
        question = first.setdefault(question_key(one.query), one.query)
        places = [(question, doc, rank) for rank, doc in enumerate(one.hits[:depth], start=1)]
        shown.update(places)
        clicked.update(places[rank - 1] for rank in one.clicks if rank <= depth)
    if not shown:
        raise UsageError("no line has 'hits'; expected the shown documents, the first on top")
    if not clicked:
        raise UsageError(f"no line has a click among its first {depth} hits; nothing to learn from")
    cells = sorted(shown)
    pairs = sorted({cell[:2] for cell in cells})
    place = {pair: number for number, pair in enumerate(pairs)}
    return Counts(
        tuple(pairs),
        np.array([place[cell[:2]] for cell in cells]),
        np.array([cell[2] for cell in cells]),
        np.array([shown[cell] for cell in cells], dtype=np.float64),
        np.array([clicked[cell] for cell in cells], dtype=np.float64),
    )
