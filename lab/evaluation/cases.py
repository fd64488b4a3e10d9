"""Case by case, where questions are too few for averages: which ones everybody finds, nobody finds,
or only some do."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.arrays import Floats
from lab.evaluation.intervals import NOISE


@dataclass(frozen=True, slots=True)
class Cases:
    """Question ids. `by_all`, `by_none`, `by_some` part the set by how many systems score above 0;
    `by_some` starts with those that the fewest systems find. `won` and `lost` are the questions on
    which one system is above or below another, the largest differences first."""

    by_all: tuple[str, ...]
    by_none: tuple[str, ...]
    by_some: tuple[tuple[str, int], ...]
    won: tuple[str, ...]
    lost: tuple[str, ...]


def cases(scores: Floats, query_ids: Sequence[str], system: int, other: int) -> Cases:
    """Sort questions x systems into cases; `system` is compared with `other`."""
    finders = (scores > NOISE).sum(axis=1)
    some = np.flatnonzero((finders > 0) & (finders < scores.shape[1]))
    gap = scores[:, system] - scores[:, other]
    order = np.argsort(-np.abs(gap), kind="stable").tolist()
    return Cases(
        by_all=tuple(query_ids[q] for q in np.flatnonzero(finders == scores.shape[1]).tolist()),
        by_none=tuple(query_ids[q] for q in np.flatnonzero(finders == 0).tolist()),
        by_some=tuple(
            (query_ids[q], int(finders[q]))
            for q in some[np.argsort(finders[some], kind="stable")].tolist()
        ),
        won=tuple(query_ids[q] for q in order if gap[q] > NOISE),
        lost=tuple(query_ids[q] for q in order if gap[q] < -NOISE),
    )
