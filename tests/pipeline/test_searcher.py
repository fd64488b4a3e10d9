"""A searcher answers as the sweep did, to the last bit, at every stage."""

from typing import Any

import numpy as np
import pytest

import lab
from lab.corpus.document import Corpus, Document
from lab.errors import ConfigError
from lab.pipeline.resources import Resources
from lab.pipeline.searcher import Searcher
from lab.relevance.query import Evidence, Query
from lab.storage.cache import Cache
from lab.storage.progress import Silent
from tests.given import GivenEncoder, GivenReranker

TEXTS = {
    "pump.md": "The pump leaks oil at the seal. " * 4 + "A worn ring lets the oil pass.",
    "valve.md": "The valve opens at nine bar. " * 3 + "Turn the handle to the left.",
    "motor.md": "The motor hums when a phase is lost. " * 3 + "Check the fuse of the pump.",
}
CORPUS = Corpus(
    Document(doc_id, text, title=doc_id.removesuffix(".md"), metadata={"year": 2020 + number})
    for number, (doc_id, text) in enumerate(TEXTS.items())
)
QUERIES = [
    Query("q1", "oil leaks at the seal", evidence=(Evidence("pump.md", 0, 30),)),
    Query(
        "q2",
        "nine bar",
        evidence=(Evidence("valve.md", 0, 20),),
        variants=("opening pressure",),
    ),
    Query("q3", "fuse", evidence=(Evidence("motor.md", 0, 20),)),
]
GRID: dict[str, Any] = {
    "chunk_size": (40, 90),
    "mode": ("bm25", "dense", "hybrid"),
    "alpha": (0.4,),
    "deliver": ("chunk", "window(1)"),
    "views": (("text",), ("text", "title")),
    "variants": (False, True),
    "rerank_model": "given-reranker",
    "rerank_depth": (0, 4),
    "model": "given",
    "depth": 8,
}


RERANKER = GivenReranker(
    {
        text[start : start + 40]: 0.01 * start
        for text in TEXTS.values()
        for start in range(0, 200, 40)
    }
)
STAGES = ("bm25", "dense", "fused", "rerank")


def searcher_of(config: lab.Config, corpus: Corpus = CORPUS) -> Searcher:
    models = {"given": GivenEncoder()}
    resources = Resources(Cache(None), Silent(), models, {"given-reranker": RERANKER})
    return Searcher(corpus, config, resources)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> "lab.Run":
    return lab.sweep(
        CORPUS,
        QUERIES,
        lab.Grid(**GRID),
        cache=tmp_path_factory.mktemp("cache") / "cache.sqlite",
        encoders={"given": GivenEncoder()},
        rerankers={"given-reranker": RERANKER},
    )


def test_every_system_ranks_as_in_its_sweep(run: "lab.Run") -> None:
    table = run.tables.rankings
    asking, _ = lab.Grid(**GRID).asking(QUERIES)
    configs = asking.systems()[0]
    assert len(configs) > 60
    for config in configs:
        rows = table[(table["system"] == config.name) & (table["rank"].fillna(0) > 0)]
        for query, hits in zip(QUERIES, searcher_of(config).search_many(QUERIES, 5), strict=True):
            wanted = rows[(rows["query_id"] == query.query_id) & (rows["rank"] <= len(hits))]
            kept = {
                (row.rank, row.doc_id, row.shown_start, row.shown_end, row.start, row.end): row
                for row in wanted.itertuples()
            }
            for hit in hits:
                span = hit.doc_id, hit.start, hit.end, hit.chunk_start, hit.chunk_end
                row = kept[(hit.rank, *span)]
                assert hit.text == TEXTS[hit.doc_id][hit.start : hit.end]
                for stage in STAGES:
                    score = getattr(row, f"{stage}_score")
                    if stage in hit.stages:
                        assert hit.stages[stage].score == score, (config.name, stage)
                    else:
                        assert score is None or np.isnan(score), (config.name, stage)


def test_one_question_is_answered_as_many_are() -> None:
    searcher = searcher_of(lab.Grid(mode="hybrid", model="given", chunk_size=40).systems()[0][0])
    alone = [searcher.search(query.text, 4) for query in QUERIES]
    assert alone == searcher.search_many([query.text for query in QUERIES], 4)
    assert [hit.rank for hit in alone[0]] == [1, 2, 3, 4]
    assert {stage for hit in alone[0] for stage in hit.stages} == {"bm25", "dense", "fused"}
    assert repr(searcher) == "Searcher('fixed-40 hybrid given alpha=0.5', 3 documents)"


def test_filters_hold_whatever_the_system_and_blank_questions_find_nothing() -> None:
    searcher = searcher_of(lab.Grid(mode="bm25", chunk_size=40).systems()[0][0])
    hits = searcher.search("pump", 10, {"year": {"gte": 2021}})
    assert {hit.doc_id for hit in hits} == {"motor.md"}
    assert {hit.doc_id for hit in searcher.search("pump", 10)} == {"pump.md", "motor.md"}
    # A question's own filter is used by systems that use filters, as in a sweep.
    asked = lab.Query("q", "pump", filter=searcher._parsed({"year": 2021}))
    assert searcher.search_many([asked], 9) == [searcher.search("pump", 9)]
    assert searcher.search("  ") == ()
    assert searcher.search_many([]) == []


def test_what_cannot_be_asked_is_told() -> None:
    searcher = searcher_of(lab.Grid(mode="bm25", chunk_size=40).systems()[0][0])
    with pytest.raises(ConfigError, match="k is 0"):
        searcher.search("pump", 0)
    with pytest.raises(ConfigError, match="filter"):
        searcher.search("pump", 1, {"year": {"above": 3}})
    with pytest.raises(ConfigError, match="a retriever of your own"):
        searcher_of(lab.Config(retriever="mine", bm25=None))
