"""A Haystack pipeline: BM25 and vectors of its in-memory store, joined by its DocumentJoiner, as a
foreign retriever that shows its stages.

pip install 'retrieval-diagnostics-lab[haystack]', then in an experiment file, run with `lab run
FILE --allow-commands`:

    [[retriever]]
    name = "haystack"
    command = "python experiments/retrievers/haystack_stages.py corpora/devices"
"""

import os
import sys
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.document_stores.in_memory import InMemoryDocumentStore

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.pipeline.foreign.retriever import serve
from lab.retrieval.encoder import Encoder, SentenceEncoder

CANDIDATES = 50


class Haystack:
    """A pipeline over chunks of a corpus; every document's meta says where it is from."""

    def __init__(self, corpus: lab.Corpus, encoder: Encoder, size: int = 400) -> None:
        self.encoder = encoder
        chunks = chunk(corpus, ChunkConfig(size=size))
        vectors = encoder.encode(chunks.texts, "passage", lambda steps: None).tolist()
        store = InMemoryDocumentStore(embedding_similarity_function="cosine")
        store.write_documents(
            [
                Document(
                    id=c.chunk_id,
                    content=text,
                    meta={"doc_id": c.doc_id, "start": c.start, "end": c.end},
                    embedding=vector,
                )
                for text, c, vector in zip(chunks.texts, chunks, vectors, strict=True)
            ]
        )
        self.pipeline = Pipeline()
        self.pipeline.add_component("bm25", InMemoryBM25Retriever(store, top_k=CANDIDATES))
        self.pipeline.add_component("vectors", InMemoryEmbeddingRetriever(store, top_k=CANDIDATES))
        joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=CANDIDATES)
        self.pipeline.add_component("joined", joiner)
        for leg in ("bm25", "vectors"):
            self.pipeline.connect(leg, "joined")

    def search(self, queries: Sequence[str], depth: int) -> list[dict[str, Any]]:
        vectors = self.encoder.encode(list(queries), "query", lambda steps: None).tolist()
        pairs = zip(queries, vectors, strict=True)
        return [{"stages": self.stages(query, vector, depth)} for query, vector in pairs]

    def stages(self, query: str, vector: list[float], depth: int) -> list[dict[str, Any]]:
        asked = {"bm25": {"query": query}, "vectors": {"query_embedding": vector}}
        ran = self.pipeline.run(asked, include_outputs_from={"bm25", "vectors", "joined"})
        lexical, dense, joined = (
            hits(ran[name]["documents"]) for name in ("bm25", "vectors", "joined")
        )
        return [
            {"name": "bm25", "kind": "lexical", "hits": lexical},
            {"name": "vectors", "kind": "dense", "hits": dense},
            {"name": "joined", "kind": "fused", "normalization": "rrf", "hits": joined},
            {"name": "answer", "kind": "final", "hits": joined[:depth]},
        ]


def hits(documents: Sequence[Document]) -> list[dict[str, Any]]:
    return [{**document.meta, "score": document.score} for document in documents]


if __name__ == "__main__":
    serve(Haystack(lab.read_corpus(sys.argv[1]), SentenceEncoder("all-MiniLM-L6-v2")))
