"""The sealed split: questions that no choice has seen, scored once for the system that was
recommended."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.config.config import Config
from lab.config.grid import Grid
from lab.evaluation.clusters import FEWEST_GROUPS, clustered, main_documents
from lab.relevance.pieces import pieces
from lab.relevance.query import Query
from lab.retrieval.config import DEFAULT_MODEL


@dataclass(frozen=True, slots=True)
class Sealed:
    """What the sealed questions say about one system: metric -> mean, lower and upper end of its
    95% interval."""

    system: str
    query_ids: tuple[str, ...]
    scores: dict[str, tuple[float, float, float]]


def seal(
    queries: Sequence[Query], unit: str, share: float, seed: int
) -> tuple[tuple[Query, ...], tuple[Query, ...]]:
    """Part the questions into open ones and about `share` sealed ones, whole documents at a time.

    The split depends on ids, evidence and seed alone, so that a later run of the same set seals the
    same questions. Questions without evidence stay open; they are not scored anyway.
    """
    if not share:
        return tuple(queries), ()
    asked = pieces(queries, unit)
    groups = clustered(main_documents(asked), FEWEST_GROUPS)
    sizes, goal = np.bincount(groups.of), share * len(asked.queries)
    taken, chosen = 0, set()
    for group in np.random.default_rng(seed).permutation(len(groups)).tolist():
        if abs(taken + sizes[group] - goal) < abs(taken - goal):
            chosen.add(group)
            taken += int(sizes[group])
    sealed = {
        query.query_id
        for query, group in zip(asked.queries, groups.of.tolist(), strict=True)
        if group in chosen
    }
    return (
        tuple(query for query in queries if query.query_id not in sealed),
        tuple(query for query in queries if query.query_id in sealed),
    )


def one_cell(config: Config) -> Grid:
    """The grid whose only system is this one; for a foreign system, which no grid makes, the
    cheapest there is."""
    if config.retriever is not None:
        return Grid(mode="bm25", chunk_strategy="document")
    values = {key: value for key, value in config.settings().items() if value is not None}
    # A system without a dense leg may still cut by a model's tokens or sentences.
    values.setdefault("model", config.chunk.tokenizer or config.chunk.embedder or DEFAULT_MODEL)
    return Grid(**{key: (value,) for key, value in values.items()})
