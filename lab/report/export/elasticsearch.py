"""A system as Elasticsearch has it: index and search. From its documentation (9.x): dense vector,
linear retriever, RRF retriever (weights from 9.2 on), kNN retriever."""

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
    WINDOW,
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

ENGINE = "Elasticsearch"
SIMILARITIES = {"cosine": "cosine", "dot": "max_inner_product", "euclidean": "l2_norm"}
GRAPH = {"type": "hnsw", "m": 32, "ef_construction": 200}
MIN_MAX = "minmax"


def elasticsearch_files(config: Config, vectors: Vectors | None) -> Iterator[tuple[str, str]]:
    """The files of the export. Raises ConfigError for a similarity that it does not search by."""
    requests = {
        "index.json": ("PUT /chunks", _index(config, vectors)),
        "search.json": ("POST /chunks/_search", _search(config)),
    }
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
        if vectors.similarity not in SIMILARITIES:
            raise ConfigError(
                f"{ENGINE}: no vectors are searched by the {vectors.similarity} distance; expected "
                f"{', '.join(SIMILARITIES)}"
            )
        assert config.dense is not None  # whose vectors they are
        exact = config.dense.index == "exact"
        properties[VECTOR] = {
            "type": "dense_vector",
            "dims": vectors.dimension,
            "index": True,
            "similarity": SIMILARITIES[vectors.similarity],
            "index_options": {"type": "flat"} if exact else GRAPH,
        }
    return {"settings": settings, "mappings": {"properties": properties}}


def _search(config: Config) -> dict[str, Any]:
    lexical, semantic = legs(config)
    retrievers: list[dict[str, Any]] = []
    if lexical:
        retrievers.append({"standard": {"query": {"match": {TEXT: {"query": QUESTION}}}}})
    if semantic:
        near = {"field": VECTOR, "query_vector": QUESTION_VECTOR, "k": depth(config)}
        candidates = min(WINDOW, 2 * depth(config))
        retrievers.append({"knn": near | {"num_candidates": candidates}})
    retriever = retrievers[0] if len(retrievers) == 1 else _joined(config, retrievers)
    return {"size": SIZE, "_source": {"excludes": [VECTOR]}, "retriever": retriever}


def _joined(config: Config, retrievers: list[dict[str, Any]]) -> dict[str, Any]:
    assert config.fusion is not None  # asked of a hybrid alone
    window = {"rank_window_size": max(SIZE, depth(config))}
    weighed = [
        {"retriever": retriever, "weight": weight}
        for retriever, weight in zip(retrievers, weights(config), strict=True)
    ]
    if config.fusion.normalization == "rrf":
        return {"rrf": {"retrievers": weighed, "rank_constant": RRF_K, **window}}
    scaled = [each | {"normalizer": MIN_MAX} for each in weighed]
    return {"linear": {"retrievers": scaled, **window}}


def _lost(config: Config) -> Iterator[str]:
    if config.dense is not None and config.dense.index == "ivf":
        yield "dense index: `ivf` is not there; an HNSW graph stands in"
    if all(legs(config)):
        assert config.fusion is not None
        yield (
            "normalisation: each leg's own hits only; the lab looks both legs' scores up for the "
            "hits of either, and a chunk that one leg lacks counts 0 here"
        )
        normalization = config.fusion.normalization
        if normalization in ("z-score", "theoretical"):
            yield (
                f"normalisation: `{normalization}` is not there; minmax stands in, so sweep "
                "`min-max` to see what that costs"
            )
