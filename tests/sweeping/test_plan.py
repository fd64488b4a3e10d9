"""The plan of a sweep is made before any model is loaded."""

import pytest

from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.errors import ConfigError, RerankerError
from lab.relevance.evidence import Evidence
from lab.relevance.query import Query
from lab.sweeping.plan import Plan, plan_of
from lab.sweeping.tools import Tools
from tests.given import corpus_of

CORPUS = corpus_of({"a": "the heron nests here", "b": "the pump leaks"})
QUERIES = [
    Query("q2", "pump", evidence=(Evidence("b"),)),
    Query("q1", "heron", evidence=(Evidence("a"),)),
    Query("q3", "otter"),
]


class Nowhere:
    """A retriever that finds nothing."""

    def search(self, queries: list[str], depth: int) -> list[list[tuple[str, float]]]:
        return [[] for _ in queries]


def plan(grid: Grid, measure: Measure | None = None, **tools: object) -> Plan:
    return plan_of(CORPUS, QUERIES, grid, measure or Measure(), "p", Tools(**tools))


def test_foreign_systems_stand_last_and_chunkings_know_their_systems() -> None:
    made = plan(
        Grid(mode=("bm25", "dense"), chunk_size=(20, 40), model="unknown"),
        retrievers={"theirs": Nowhere()},
    )
    names = [config.name for config in made.configs]
    assert names[-1] == "theirs"
    assert [len(places) for places in made.by_chunk.values()] == [2, 2]
    for chunk, places in made.by_chunk.items():
        assert all(made.configs[place].chunk == chunk for place in places)
    assert made.counter == "unknown"  # named, never loaded


def test_questions_are_ordered_and_parted() -> None:
    made = plan(Grid(mode="bm25"))
    assert [query.query_id for query in made.queries] == ["q1", "q2", "q3"]
    assert [query.query_id for query in made.unanswerable] == ["q3"]
    assert [query.query_id for query in made.pieces.queries] == ["q1", "q2"]
    assert not made.sealed
    assert made.counter is None


def test_labels_end_with_the_weighted_mean() -> None:
    measure = Measure(metrics=("recall@1", "mrr"), select_by="mrr")
    assert plan(Grid(mode="bm25"), measure).labels == ("recall@1", "mrr")
    both = Measure(metrics=("recall@1", "mrr"), weights={"recall@1": 1.0, "mrr": 2.0})
    assert plan(Grid(mode="bm25"), both).labels == ("recall@1", "mrr", "weighted")


def test_a_reranker_that_failed_takes_its_systems_out_and_is_noted() -> None:
    grid = Grid(mode="bm25", rerank_depth=(0, 5), rerank_model="broken")
    made = plan(grid, failed=(RerankerError("no answer", "broken"),))
    assert [config.rerank for config in made.systems] == [None]
    assert any("no answer" in note for note in made.notes)


def test_a_retriever_may_not_take_the_name_of_a_system() -> None:
    (name,) = (config.name for config in plan(Grid(mode="bm25")).systems)
    with pytest.raises(ConfigError, match="has the name of a system of the grid"):
        plan(Grid(mode="bm25"), retrievers={name: Nowhere()})
