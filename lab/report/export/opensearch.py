"""A system as OpenSearch has it: index, search pipeline and search. From its documentation (3.x):
k-NN vector, hybrid query, normalization processor, score ranker processor."""

from collections.abc import Iterator
from typing import Any

from lab.config.config import Config
from lab.errors import ConfigError
from lab.report.export.engines import (
    PLACE,
    QUESTION,
    QUESTION_VECTOR,
    SIZE,
    TEXT,
    VECTOR,
    Vectors,
    depth,
    legs,
    lost_alike,
    page,
    text_field,
    text_settings,
    weights,
)
from lab.retrieval.fusion import RRF_K

ENGINE = "OpenSearch"
SPACES = {"cosine": "cosinesimil", "dot": "innerproduct", "euclidean": "l2"}
TECHNIQUES = {"min-max": "min_max", "z-score": "z_score", "theoretical": "min_max"}
GRAPH = {"m": 32, "ef_construction": 200}


def opensearch_files(config: Config, vectors: Vectors | None) -> Iterator[tuple[str, str]]:
    """The files of the export. Raises ConfigError for a similarity that it does not search by."""
    requests = {"index.json": ("PUT /chunks", _index(config, vectors))}
    if all(legs(config)):
        requests["pipeline.json"] = ("PUT /_search/pipeline/chunks-hybrid", _pipeline(config))
    address = "POST /chunks/_search"
    if all(legs(config)):
        address += "?search_pipeline=chunks-hybrid"
    requests["search.json"] = (address, _search(config))
    yield from page(ENGINE, config, requests, [*lost_alike(config), *_lost(config)])


def _index(config: Config, vectors: Vectors | None) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    properties: dict[str, Any] = dict(PLACE)
    if config.bm25 is not None:
        settings |= text_settings(config.bm25)
        properties[TEXT] = text_field()
    else:
        properties[TEXT] = {"type": "text", "index": False}
    if vectors is not None:
        if vectors.similarity not in SPACES:
            raise ConfigError(
                f"{ENGINE}: no graph searches by the {vectors.similarity} distance; expected "
                f"{', '.join(SPACES)}"
            )
        settings["index"] = {"knn": True}
        properties[VECTOR] = {
            "type": "knn_vector",
            "dimension": vectors.dimension,
            "method": {
                "name": "hnsw",
                "engine": "lucene",
                "space_type": SPACES[vectors.similarity],
                "parameters": GRAPH,
            },
        }
    return {"settings": settings, "mappings": {"properties": properties}}


def _pipeline(config: Config) -> dict[str, Any]:
    """Joins the legs, in the order of the search's queries: BM25, then the vectors."""
    assert config.fusion is not None  # asked of a hybrid alone
    given = {"weights": weights(config)}
    if config.fusion.normalization == "rrf":
        combination = {"technique": "rrf", "rank_constant": RRF_K, "parameters": given}
        processor: dict[str, Any] = {"score-ranker-processor": {"combination": combination}}
    else:
        normalization: dict[str, Any] = {"technique": TECHNIQUES[config.fusion.normalization]}
        if config.fusion.normalization == "theoretical":
            # A graph by the cosine scores (1 + cosine) / 2, so that both legs begin at 0.
            bound = {"mode": "apply", "min_score": 0.0}
            normalization["parameters"] = {"lower_bounds": [bound, bound]}
        combination = {"technique": "arithmetic_mean", "parameters": given}
        processor = {
            "normalization-processor": {
                "normalization": normalization,
                "combination": combination,
            }
        }
    return {"description": config.name, "phase_results_processors": [processor]}


def _search(config: Config) -> dict[str, Any]:
    lexical, semantic = legs(config)
    queries: list[dict[str, Any]] = []
    if lexical:
        queries.append({"match": {TEXT: {"query": QUESTION}}})
    if semantic:
        queries.append({"knn": {VECTOR: {"vector": QUESTION_VECTOR, "k": depth(config)}}})
    query = queries[0]
    if len(queries) > 1:
        query = {"hybrid": {"pagination_depth": depth(config), "queries": queries}}
    return {"size": SIZE, "_source": {"excludes": [VECTOR]}, "query": query}


def _lost(config: Config) -> Iterator[str]:
    if config.dense is not None and config.dense.index != "hnsw":
        yield f"dense index: `{config.dense.index}` becomes an HNSW graph, which may miss hits"
    if all(legs(config)):
        yield (
            "normalisation: each leg's own hits only; the lab looks both legs' scores up for the "
            "hits of either, and a chunk that one leg lacks counts 0 here"
        )
