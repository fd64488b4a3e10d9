"""A system for other engines: what is written has the shape that their documentation states, and
says what the system says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import lab
from lab.cli import app
from lab.config.config import Config
from lab.errors import ConfigError
from lab.report.export.elasticsearch import elasticsearch_files
from lab.report.export.engines import Vectors
from lab.report.export.opensearch import opensearch_files
from tests.conftest import ROOT

VECTORS = Vectors(384, "cosine")
ENGINES = {"opensearch": opensearch_files, "elasticsearch": elasticsearch_files}

# The documented shapes, stated a second time: a dict has these keys and no others, of which those
# in OPTIONAL may be absent; a list holds its one shape; a tuple lists the values; a type or a
# function tests one.
OPTIONAL = {"filter", "analysis", "similarity", "parameters", "index", "text", "vector"}


def number(low: float, high: float, kind: type | tuple[type, ...] = int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind) and low <= value <= high


def vector(value: Any) -> bool:
    """Where a program puts the list of numbers."""
    return value == "{{question_vector}}"


WEIGHT = number(0, 1, (int, float))
BM25_SIMILARITY = {"type": ("BM25",), "k1": number(0, 1e6, (int, float)), "b": WEIGHT}
ANALYSIS = {
    "analyzer": {"lab_text": {"type": ("custom",), "tokenizer": ("standard",), "filter": [str]}},
    "filter": lambda value: all(
        one.get("type") in ("stop", "snowball") and len(one) == 2 for one in value.values()
    ),
}
PLACE = {
    "doc_id": {"type": ("keyword",)},
    "start": {"type": ("integer",)},
    "end": {"type": ("integer",)},
}


def text_field(value: Any) -> bool:
    return value in (
        {"type": "text", "analyzer": "lab_text", "similarity": "lab_bm25"},
        {"type": "text", "index": False},
    )


# k-NN vector and methods: https of docs.opensearch.org, "k-NN vector", "Methods and engines".
OPENSEARCH_VECTOR = {
    "type": ("knn_vector",),
    "dimension": number(1, 16_000),
    "method": {
        "name": ("hnsw",),
        "engine": ("lucene", "faiss"),
        "space_type": ("l2", "cosinesimil", "innerproduct"),
        "parameters": {"m": number(2, 100), "ef_construction": number(1, 10_000)},
    },
}
OPENSEARCH_INDEX = {
    "settings": {
        "index": {"knn": (True,)},
        "analysis": ANALYSIS,
        "similarity": {"lab_bm25": BM25_SIMILARITY},
    },
    "mappings": {"properties": {**PLACE, "text": text_field, "vector": OPENSEARCH_VECTOR}},
}
BOUND = {"mode": ("apply", "clip", "ignore"), "min_score": number(-10_000, 10_000, float)}
NORMALIZED = {
    "normalization-processor": {
        "normalization": {
            "technique": ("min_max", "l2", "z_score"),
            "parameters": {"lower_bounds": [BOUND]},
        },
        "combination": {
            "technique": ("arithmetic_mean", "geometric_mean", "harmonic_mean"),
            "parameters": {"weights": [WEIGHT]},
        },
    }
}
RANKED = {
    "score-ranker-processor": {
        "combination": {
            "technique": ("rrf",),
            "rank_constant": number(1, 10_000),
            "parameters": {"weights": [WEIGHT]},
        }
    }
}
MATCH = {"match": {"text": {"query": str}}}
KNN = {"knn": {"vector": {"vector": vector, "k": number(1, 10_000)}}}
# Elasticsearch: "Dense vector field type", "Linear retriever", "RRF retriever", "kNN retriever".
ELASTIC_VECTOR = {
    "type": ("dense_vector",),
    "dims": number(1, 4096),
    "index": (True,),
    "similarity": ("cosine", "dot_product", "max_inner_product", "l2_norm"),
    "index_options": lambda value: (
        value == {"type": "flat"}
        or (value["type"] == "hnsw" and set(value) == {"type", "m", "ef_construction"})
    ),
}
ELASTIC_INDEX = {
    "settings": {"analysis": ANALYSIS, "similarity": {"lab_bm25": BM25_SIMILARITY}},
    "mappings": {"properties": {**PLACE, "text": text_field, "vector": ELASTIC_VECTOR}},
}
STANDARD = {"standard": {"query": MATCH}}
ELASTIC_KNN = {
    "knn": {
        "field": ("vector",),
        "query_vector": vector,
        "k": number(1, 10_000),
        "num_candidates": number(1, 10_000),
    }
}
SEARCH = {"size": number(1, 10_000), "_source": {"excludes": [("vector",)]}}


def fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, dict):
        return (
            isinstance(value, dict)
            and value.keys() <= shape.keys()
            and all(key in value or key in OPTIONAL for key in shape)
            and all(fits(part, shape[key]) for key, part in value.items())
        )
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(part, shape[0]) for part in value)
    if isinstance(shape, tuple):
        return value in shape
    return isinstance(value, shape) if isinstance(shape, type) else bool(shape(value))


def configs(**more: Any) -> list[Config]:
    settings: dict[str, Any] = {"mode": "hybrid", "alpha": (0.2, 0.55), "model": "given"}
    return lab.Grid(**settings | more).systems()[0]


EVERY = [
    *configs(
        normalization=("min-max", "theoretical", "z-score", "rrf"), index=("exact", "hnsw", "ivf")
    ),
    *configs(analyzer=("auto", "stop", "stem", "english"), k1=(0.9, 2)),
    *configs(mode=("bm25", "dense"), depth=(20, 20_000)),
    *configs(alpha=(0.0, 1.0)),
]


def written(engine: str, config: Config, vectors: Vectors | None = VECTORS) -> dict[str, Any]:
    files = dict(ENGINES[engine](config, vectors if config.dense else None))
    return {
        name: json.loads(text) if name.endswith("json") else text for name, text in files.items()
    }


@pytest.mark.parametrize("config", EVERY, ids=lambda config: config.name)
def test_the_shape_is_the_documented_one(config: Config) -> None:
    made = written("opensearch", config)
    assert fits(made["index.json"], OPENSEARCH_INDEX)
    query = made["search.json"].pop("query")
    assert fits(made["search.json"], SEARCH)
    if "pipeline.json" in made:
        (processor,) = made["pipeline.json"]["phase_results_processors"]
        assert fits(processor, NORMALIZED) or fits(processor, RANKED)
        first, second = query["hybrid"]["queries"]
        assert fits(first, MATCH)
        assert fits(second, KNN)
        assert fits(query["hybrid"]["pagination_depth"], number(1, 10_000))
    else:
        assert fits(query, MATCH) or fits(query, KNN)

    made = written("elasticsearch", config)
    assert fits(made["index.json"], ELASTIC_INDEX)
    retriever = made["search.json"].pop("retriever")
    assert fits(made["search.json"], SEARCH)
    window = number(made["search.json"]["size"], 10_000)
    if fits(retriever, STANDARD) or fits(retriever, ELASTIC_KNN):
        return
    weighed = {"retriever": lambda value: fits(value, STANDARD) or fits(value, ELASTIC_KNN)}
    linear = [{**weighed, "weight": WEIGHT, "normalizer": ("none", "minmax", "l2_norm")}]
    ranked = [{**weighed, "weight": WEIGHT}]
    assert fits(retriever, {"linear": {"retrievers": linear, "rank_window_size": window}}) or fits(
        retriever,
        {
            "rrf": {
                "retrievers": ranked,
                "rank_constant": number(1, 1e9),
                "rank_window_size": window,
            }
        },
    )


@pytest.mark.parametrize("config", EVERY, ids=lambda config: config.name)
def test_it_says_what_the_system_says(config: Config) -> None:
    opensearch, elasticsearch = written("opensearch", config), written("elasticsearch", config)
    alpha = config.fusion.alpha if config.fusion else None
    if config.bm25 is not None:
        for made in (opensearch, elasticsearch):
            similarity = made["index.json"]["settings"]["similarity"]["lab_bm25"]
            assert (similarity["k1"], similarity["b"]) == (config.bm25.k1, config.bm25.b)
    if alpha in (None, 0, 1):
        assert "pipeline.json" not in opensearch
        lexical = config.bm25 is not None and alpha != 1
        assert ("match" in opensearch["search.json"]["query"]) == lexical
        assert ("standard" in elasticsearch["search.json"]["retriever"]) == lexical
        return
    assert config.fusion is not None
    (processor,) = opensearch["pipeline.json"]["phase_results_processors"]
    (inside,) = processor.values()
    assert inside["combination"]["parameters"]["weights"] == pytest.approx([1 - alpha, alpha])
    (joined,) = elasticsearch["search.json"]["retriever"].values()
    assert [each["weight"] for each in joined["retrievers"]] == pytest.approx([1 - alpha, alpha])
    assert [*joined["retrievers"][0]["retriever"]] == ["standard"]
    assert joined["rank_window_size"] == config.depth
    technique = {"min-max": "min_max", "theoretical": "min_max", "z-score": "z_score"}
    if config.fusion.normalization == "rrf":
        assert (inside["combination"]["rank_constant"], joined["rank_constant"]) == (60, 60)
    else:
        named = inside["normalization"]
        assert named["technique"] == technique[config.fusion.normalization]
        bounds = named.get("parameters", {}).get("lower_bounds")
        assert bool(bounds) == (config.fusion.normalization == "theoretical")


@pytest.mark.parametrize("engine", ENGINES)
def test_what_does_not_carry_over_is_listed(engine: str) -> None:
    rich: dict[str, Any] = {
        "analyzer": "jieba",
        "variant": "plus",
        "synonyms": "rules.txt",
        "views": (("text", "title"),),
        "deliver": "window(1)",
        "prefix": "headings",
        "rerank_model": "maxsim",
        "rerank_depth": 20,
        "features": {"year": 0.1},
        "depth": 20_000,
        "normalization": "z-score",
    }
    page = written(engine, configs(**rich)[0])["README.md"]
    lost = page.partition("What does not carry over:")[2]
    for word in (
        "chunking:", "prefix:", "delivery:", "`jieba`", "scores:", "`plus`", "rules.txt",
        "title", "features:", "maxsim", "10,000", "model:",
    ):  # fmt: skip
        assert word in lost, word
    assert ("minmax stands in" in lost) == (engine == "elasticsearch")
    assert "not run against a server" in page
    plain = written(engine, configs()[0])["README.md"]
    assert not any(word in plain for word in ("delivery:", "synonyms:", "reranker:", "features:"))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_distance_that_the_engine_has_not_is_refused(engine: str) -> None:
    with pytest.raises(ConfigError, match="manhattan"):
        written(engine, configs()[0], Vectors(8, "manhattan"))
    for similarity in ("dot", "euclidean"):
        assert written(engine, configs()[0], Vectors(8, similarity))


def test_the_command_writes_the_recommended_system(tmp_path: Path) -> None:
    corpus = lab.read_corpus(ROOT / "corpora" / "devices")
    sets = ROOT / "diagnostic_sets" / "devices" / "exact_id.jsonl"
    run = lab.sweep(corpus, lab.read_diagnostics(sets, corpus), lab.Grid(mode="bm25", k1=(0.9, 2)))
    folder = run.write(tmp_path / "run")
    for engine in ENGINES:
        done = CliRunner().invoke(app, ["export", str(folder), "--to", engine])
        assert done.exit_code == 0, done.output
        files = {file.name for file in (folder / "export" / engine).iterdir()}
        assert files == {"README.md", "index.json", "search.json"}
        page = (folder / "export" / engine / "README.md").read_text()
        assert page.startswith(f"# {run.recommended}, for ")
