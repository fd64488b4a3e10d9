"""Identities: which analyzers, models and files of synonyms did the work."""

from collections.abc import Sequence

from lab.chunking.contexts import read_contexts
from lab.chunking.prefix import FILE
from lab.config.config import Config
from lab.pipeline.resources import Resources
from lab.retrieval.analyzer import ANALYZERS


def identities_of(configs: Sequence[Config], resources: Resources) -> dict[str, str]:
    """Name -> identity of everything that the systems used."""
    identities: dict[str, str] = {}
    for config in configs:
        prefix = config.chunk.prefix
        if prefix.startswith(FILE):
            identities[f"contexts {prefix}"] = read_contexts(prefix.removeprefix(FILE)).identity
        if config.bm25:
            analyzer, synonyms = config.bm25.analyzer, config.bm25.synonyms
            identities[f"analyzer {analyzer}"] = ANALYZERS[analyzer].identity
            if synonyms:
                identities[f"synonyms {synonyms}"] = resources.synonyms(synonyms).identity
        if config.dense:
            dense = config.dense
            identities[f"model {dense.encoder}"] = resources.encoder(dense.encoder).identity
            searched = f"similarity {dense.similarity} of {dense.model}"
            identities[searched] = resources.similarity(dense)
        if config.rerank:
            model = config.rerank.model
            identities[f"reranker {model}"] = resources.scorer(model).identity
    return identities
