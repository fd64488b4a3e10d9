"""Equal systems appear once: what is dropped ranks exactly as what is kept, and what ranks
otherwise is kept."""

import itertools
from collections import defaultdict

import numpy as np
import pytest

from lab.config.config import Config
from lab.config.distinct import distinct, reduced
from lab.config.grid import Grid, system_of
from lab.config.settings import SETTINGS
from lab.corpus.document import Corpus, Document
from lab.corpus.filter import Filter
from lab.pipeline.indexes import Indexes
from lab.pipeline.pairs import prepare_pairs
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.pipeline.stages import Stages
from lab.relevance.query import Query
from lab.relevance.record import read_filter
from lab.retrieval.ranking import Ranking
from lab.storage.cache import Cache
from tests.diagnosis.planted import Scorer
from tests.given import GivenEncoder

WORDS = [f"w{i}" for i in range(25)]
# Every setting that could keep a leg of weight 0 in sight, and a few that could not.
WIDE = Grid(
    chunk_size=60,
    mode=("bm25", "dense", "hybrid"),
    alpha=(0.0, 1.0),
    normalization=("min-max", "z-score", "rrf"),
    features=({}, {"year": 0.3}),
    views=("text", ["text", "title"]),
    variants=(False, True),
    filter=(False, True),
    depth=7,
    model="given",
    rerank_model="overlap",
    rerank_depth=(0, 1, 5),
    blend=(0.0, 0.5, 1.0),
    threshold=(None, 0.4),
)


def overlap(question: str, text: str) -> float:
    return len(set(question.split()) & set(text.split())) / 4


def spread(question: str, text: str) -> float:
    """A score that has nothing to do with either, and hardly ever ties."""
    return sum(map(ord, question + text)) % 97 / 97


def world(seed: int) -> tuple[Corpus, list[Query]]:
    draw = np.random.default_rng(seed)
    documents = [
        Document(
            f"d{i:02}",
            " ".join(draw.choice(WORDS, 30)),
            " ".join(draw.choice(WORDS, 2)),
            {"year": int(draw.integers(2000, 2020))},
        )
        for i in range(15)
    ]
    corpus = Corpus(documents)
    recent: Filter | None = read_filter('{"year": {"gte": 2008}}', corpus)
    queries = [
        Query(
            f"q{i}",
            " ".join(draw.choice(WORDS, 3)),
            variants=(" ".join(draw.choice(WORDS, 2)),) * (i % 2),
            filter=recent if i % 3 else None,
        )
        for i in range(8)
    ]
    return corpus, queries


def cut(ranking: Ranking) -> list[list[int]]:
    """The hits of every question, without the padding."""
    return [ranking.hits(query).tolist() for query in range(len(ranking))]


def all_cells(grid: Grid) -> list[Config]:
    """Every cell with the slices that its mode reads, equal ones included."""
    axes = (getattr(grid, name) for name in SETTINGS)
    cells = (dict(zip(SETTINGS, cell, strict=True)) for cell in itertools.product(*axes))
    return list(dict.fromkeys(map(system_of, cells)))


@pytest.mark.parametrize("seed", [1, 2])
def test_systems_that_are_one_rank_alike_to_the_last_chunk(seed: int) -> None:
    corpus, queries = world(seed)
    encoder, scorer = GivenEncoder(), Scorer(overlap)
    resources = Resources(Cache(None), encoders={"given": encoder}, scorers={"overlap": scorer})
    cells = all_cells(WIDE)
    stages = Stages(Indexes(corpus, cells[0].chunk, resources), Questions.of(queries))
    by_switches: defaultdict[tuple[bool, bool], list[Config]] = defaultdict(list)
    for config in cells:
        by_switches[config.filter, config.variants].append(config)
    merged = 0
    for group in by_switches.values():
        asking = stages.asked_by(group[0])
        prepare_pairs([(asking, group)])
        rankings: dict[Config, list[list[int]]] = {}
        for config in group:
            ranking = cut(asking.ranking(config))
            first = rankings.setdefault(reduced(config), ranking)
            assert ranking == first, (config.name, reduced(config).name)
            merged += first is not ranking
    assert merged > 500


def test_what_the_normalisation_shows_is_kept_apart() -> None:
    """Reciprocal ranks blended into a reranker's scores order otherwise than BM25's own scores."""
    corpus, queries = world(1)
    resources = Resources(
        Cache(None), encoders={"given": GivenEncoder()}, scorers={"spread": Scorer(spread)}
    )
    more = {"chunk_size": 60, "model": "given", "alpha": 0.0, "normalization": "rrf"}
    reranker = {"rerank_model": "spread", "rerank_depth": 7, "blend": 0.5}
    for settings in (reranker, {"features": {"year": 0.3}}):
        systems = Grid(mode=("bm25", "hybrid"), **more, **settings).systems()[0]
        assert [config.mode for config in systems] == ["bm25", "hybrid"]
        stages = Stages(Indexes(corpus, systems[0].chunk, resources), Questions.of(queries))
        prepare_pairs([(stages, systems)])
        bm25, hybrid = (cut(stages.ranking(config)) for config in systems)
        assert bm25 != hybrid


def names(**settings: object) -> list[str]:
    return [config.name for config in Grid(**settings).systems()[0]]


def test_a_leg_and_the_hybrid_without_the_other_appear_once() -> None:
    """The README's grid: 12 of 48 systems were the same system under two names."""
    grid = Grid(
        chunk_size=(200, 400, 800), alpha=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0), rerank_depth=(0, 20)
    )
    systems = grid.systems()[0]
    assert len(systems) == 48 - 12
    assert {config.fusion.alpha for config in systems if config.fusion} == {0.2, 0.4, 0.6, 0.8}
    assert [config.mode for config in systems[:4]] == ["bm25", "bm25", "dense", "dense"]


def test_hybrids_keep_their_ends_where_no_leg_stands_alone() -> None:
    assert names(mode="hybrid", alpha=(0.0, 0.5, 1.0)) == [
        "fixed-400 hybrid alpha=0",
        "fixed-400 hybrid alpha=0.5",
        "fixed-400 hybrid alpha=1",
    ]


def test_settings_of_a_leg_that_takes_no_part_make_no_systems() -> None:
    assert names(mode="hybrid", alpha=(0.0, 0.5), dtype=("float32", "bfloat16")) == [
        "fixed-400 hybrid alpha=0",
        "fixed-400 hybrid alpha=0.5",
        "fixed-400 hybrid bfloat16 alpha=0.5",
    ]
    assert names(mode=("hybrid", "dense"), alpha=1.0, k1=(0.9, 1.2)) == ["fixed-400 dense"]
    assert names(mode="bm25", k1=(0.0, 1.2), b=(0.3, 0.75)) == [
        "fixed-400 bm25 k1=0 b=0.3",
        "fixed-400 bm25 b=0.3",
        "fixed-400 bm25",
    ]


def test_a_reranker_that_orders_nothing_makes_no_system_beside_none() -> None:
    assert names(mode="bm25", rerank_depth=(0, 1, 20), blend=(0.0, 1.0)) == [
        "fixed-400 bm25",
        "fixed-400 bm25 rerank=maxsim@20",
    ]
    # A threshold cuts whatever the order.
    assert len(names(mode="bm25", rerank_depth=(0, 1), threshold=0.5)) == 2


def test_the_kept_system_does_not_depend_on_the_order_of_the_modes() -> None:
    for modes in (("bm25", "hybrid"), ("hybrid", "bm25")):
        assert names(mode=modes, alpha=0.0) == ["fixed-400 bm25"]


def test_the_default_reranker_by_its_full_name_is_the_default_reranker() -> None:
    models = ("maxsim", "maxsim:all-MiniLM-L6-v2")
    for mode in ("bm25", "dense"):
        assert len(names(mode=mode, rerank_depth=20, rerank_model=models)) == 1


def test_distinct_keeps_the_order() -> None:
    systems = Grid(alpha=(0.0, 0.3, 1.0), chunk_size=(200, 400)).systems()[0]
    assert distinct(systems) == systems
    assert distinct(systems + systems) == systems
