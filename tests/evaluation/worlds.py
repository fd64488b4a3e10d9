"""Sets of questions whose truth is known: scores of many systems drawn from a stated law."""

from collections.abc import Callable

import numpy as np

from lab.arrays import Floats

# Share of a score's variance that all systems share, as questions are hard or easy for all of them.
SHARED = 0.5


def equal_systems(seed: tuple[int, ...], questions: int, systems: int) -> Floats:
    """Questions x systems, all equally good: 0, a fraction or 1 a question, as NDCG@10 of one piece
    of evidence has it."""
    return scored(ability(seed, questions, systems))


def ability(seed: tuple[int, ...], questions: int, systems: int) -> Floats:
    """Normal abilities whose question effect all systems share."""
    draw = np.random.default_rng(seed)
    return np.sqrt(SHARED) * draw.standard_normal((questions, 1)) + np.sqrt(
        1 - SHARED
    ) * draw.standard_normal((questions, systems))


def scored(abilities: Floats) -> Floats:
    """Score of the rank at which the piece arrives: 1, 0.631, 0.5, 0.431, 0.387 or 0, by equal
    steps of ability."""
    return np.array([0.0, 0.387, 0.431, 0.5, 0.631, 1.0])[
        np.searchsorted([-0.2, -0.1, 0.0, 0.15, 0.3], abilities)
    ]


# Documents x systems of mean scores, all systems equally good, and the questions of each document.
World = Callable[[np.random.Generator, int, int], tuple[Floats, Floats]]


def equal_shape(draw: np.random.Generator, documents: int, systems: int) -> tuple[Floats, Floats]:
    """Normal noise."""
    return 0.14 * draw.standard_normal((documents, systems)), np.ones(documents)


def rare_losses(share: float, loss: float, jitter: float = 0.0) -> World:
    """Against the first system every other loses much in a few documents and gains a little in the
    rest, which makes nothing on average."""

    def draw_world(
        draw: np.random.Generator, documents: int, systems: int
    ) -> tuple[Floats, Floats]:
        gain = share * loss / (1 - share)
        means = np.where(draw.random((documents, systems)) < share, -loss, gain)
        means[:, 0] = 0
        return means + jitter * draw.standard_normal(means.shape), np.ones(documents)

    return draw_world


def pareto_sizes(draw: np.random.Generator, documents: int, systems: int) -> tuple[Floats, Floats]:
    """A few documents hold most of the questions; noise of documents and of questions."""
    sizes = np.ceil(draw.pareto(1.2, documents) + 1e-9)
    noise = 0.1 * draw.standard_normal((documents, systems))
    noise += 0.2 * draw.standard_normal((documents, systems)) / np.sqrt(sizes)[:, None]
    return noise, sizes


WORLDS: dict[str, World] = {
    "equal shape": equal_shape,
    "one in ten loses 0.9": rare_losses(0.1, 0.9),
    "one in four loses 0.45": rare_losses(0.25, 0.45),
    "sizes by a Pareto law": pareto_sizes,
}
