"""Samples: the different questions of a set and of a log, and which are whose."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import normalize

import numpy as np

from lab.arrays import Bools
from lab.errors import UsageError
from lab.relevance.query import Query
from lab.usage.log import Asked
from lab.usage.masking import mask

# Fewer different questions than these on one side tell nothing.
FEWEST = 20


@dataclass(frozen=True, eq=False)
class Samples:
    """Different questions of both: `texts` in order, whether the set (`ours`) and the log
    (`theirs`) have each, and which the set has evidence for (`answerable`)."""

    texts: tuple[str, ...]
    ours: Bools
    theirs: Bools
    answerable: Bools

    @property
    def in_log(self) -> Bools:
        """Each question on one side: those in both count for the side that has fewer. Where a log
        is drawn from the set itself, its questions are so compared with those that were not drawn,
        and any of them could have been."""
        few = self.theirs.sum() <= self.ours.sum()
        return self.theirs if few else self.theirs & ~self.ours

    @property
    def new(self) -> Bools:
        """Questions that the log alone has."""
        return self.theirs & ~self.ours

    @property
    def comparable(self) -> bool:
        """Whether both sides have enough questions; if not, the log's are the set's own."""
        return bool(min(self.in_log.sum(), (~self.in_log).sum()) >= FEWEST)


def samples_of(queries: Sequence[Query], log: Iterable[Asked]) -> Samples:
    """The questions of a set, masked as the log's are, and those of a log. Raises UsageError where
    one of them has too few."""
    given = _different(mask(query.text) for query in queries)
    asked = _different(one.query for one in log)
    problems = [
        f"the {noun} has {len(texts)} different questions; expected at least {FEWEST} to compare"
        for noun, texts in (("log", asked), ("set", given))
        if len(texts) < FEWEST
    ]
    if problems:
        raise UsageError(problems)
    texts = asked | given
    keys = sorted(texts)
    answerable = {key_of(mask(query.text)) for query in queries if query.evidence}
    return Samples(
        tuple(texts[key] for key in keys),
        *(np.array([key in side for key in keys]) for side in (given, asked, answerable)),
    )


def key_of(text: str) -> str:
    """What equal questions share: their characters, blanks as one. Case is not folded, for it is
    part of a style."""
    return " ".join(normalize("NFC", text).split())


def _different(texts: Iterable[str]) -> dict[str, str]:
    """What equal questions share -> text as it was first written."""
    first: dict[str, str] = {}
    for text in texts:
        if text.strip():
            first.setdefault(key_of(text), text)
    return first
