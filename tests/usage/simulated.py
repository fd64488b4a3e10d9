"""Logs of users who look at a hit by its rank and click it by its relevance, and rankings of
several systems judged by the truth behind them."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import Floats, Ints
from lab.usage.log import Asked

DEPTH = 10


@dataclass(frozen=True, eq=False)
class World:
    """`relevance` is the chance that a looked-at document is clicked (questions x documents),
    `rankings` the documents of every system (systems x questions x documents, best first), the
    worse the later; `looked` the chance that a rank is looked at."""

    relevance: Floats
    rankings: Ints
    looked: Floats


def world(seed: int, queries: int = 40, documents: int = 20, systems: int = 4) -> World:
    """Systems rank by the truth with noise, the first with the least."""
    generator = np.random.default_rng(seed)
    relevance = generator.beta(1, 2, (queries, documents))
    noise = [generator.normal(0, 0.15 * (n + 1), relevance.shape) for n in range(systems)]
    rankings = np.array([np.argsort(-(relevance + each), axis=1) for each in noise])
    return World(relevance, rankings, np.arange(1, DEPTH + 1) ** -0.7)


def clicked(
    of: World, systems: tuple[int, ...], sessions: int, seed: int, swapped: float = 0.0
) -> list[Asked]:
    """Sessions, each of one question under one of the `systems`; in a share of them two hits, of
    the first twelve, have changed places."""
    generator = np.random.default_rng(seed)
    log = []
    for number in range(sessions):
        query = int(generator.integers(len(of.relevance)))
        hits = of.rankings[generator.choice(systems), query, : DEPTH + 2].copy()
        if generator.random() < swapped:
            places = generator.choice(DEPTH + 2, 2, replace=False)
            hits[places] = hits[places[::-1]]
        hits = hits[:DEPTH]
        chance = of.looked * of.relevance[query, hits]
        ranks = np.flatnonzero(generator.random(DEPTH) < chance) + 1
        names = tuple(f"d{document}" for document in hits)
        log.append(Asked(f"log:{number}", f"q{query}", None, names, tuple(ranks.tolist())))
    return log


def grades_of(relevance: Floats, thresholds: tuple[float, ...]) -> Floats:
    return np.searchsorted(thresholds, relevance, side="right").astype(np.float64)


def quality(of: World, grades: Floats) -> Floats:
    """nDCG@10 of every system under grades (questions x documents)."""
    discount = 1 / np.log2(np.arange(2, DEPTH + 2))
    best = -np.sort(-grades, axis=1)[:, :DEPTH] @ discount
    gains = np.take_along_axis(grades[None], of.rankings[:, :, :DEPTH], axis=2) @ discount
    return np.asarray((gains / np.maximum(best, 1e-12)).mean(axis=1))
