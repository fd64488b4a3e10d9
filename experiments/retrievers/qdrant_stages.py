"""Qdrant's engine in this process (qdrant-edge): its BM25 as sparse vectors and its HNSW, joined by
its reciprocal rank fusion, as a foreign retriever that shows its stages.

pip install 'retrieval-diagnostics-lab[qdrant]', then in an experiment file, run with `lab run FILE
--allow-commands`:

    [[retriever]]
    name = "qdrant"
    command = "python experiments/retrievers/qdrant_stages.py corpora/devices"
"""

import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import qdrant_edge as qdrant

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.pipeline.foreign.retriever import serve
from lab.retrieval.encoder import Encoder, SentenceEncoder

# Candidates of each leg. Qdrant counts ranks from 0, so that its k of 61 is 60 elsewhere.
CANDIDATES, RRF_K = 100, 61


class Qdrant:
    """A shard in a folder of its own, which goes with the object."""

    def __init__(self, corpus: lab.Corpus, encoder: Encoder, size: int = 400) -> None:
        self.encoder = encoder
        self.chunks = list(chunks := chunk(corpus, ChunkConfig(size=size)))
        self.folder = tempfile.TemporaryDirectory()
        vectors = encoder.encode(chunks.texts, "passage", lambda steps: None)
        # BM25 is told how long documents are; the index does not count them.
        words = sum(len(text.split()) for text in chunks.texts) / max(len(chunks.texts), 1)
        self.bm25 = qdrant.Bm25(qdrant.Bm25Config(language="english", avg_len=max(words, 1.0)))
        dense = qdrant.EdgeVectorParams(size=vectors.shape[1], distance=qdrant.Distance.Cosine)
        sparse = qdrant.EdgeSparseVectorParams(modifier=qdrant.Modifier.Idf)
        config = qdrant.EdgeConfig(
            vectors={"dense": dense},
            sparse_vectors={"bm25": sparse},
            # Below its thresholds Qdrant scans instead of building a graph.
            hnsw_config=qdrant.HnswIndexConfig(m=16, ef_construct=100, full_scan_threshold=10),
            optimizers=qdrant.EdgeOptimizersConfig(indexing_threshold=1),
        )
        self.shard = qdrant.EdgeShard.create(f"{self.folder.name}/shard", config)
        points = [
            qdrant.Point(n, {"dense": vector.tolist(), "bm25": self.bm25.embed_document(text)})
            for n, (text, vector) in enumerate(zip(chunks.texts, vectors, strict=True))
        ]
        self.shard.update(qdrant.UpdateOperation.upsert_points(points))
        self.shard.optimize()

    def search(self, queries: Sequence[str], depth: int) -> list[dict[str, Any]]:
        vectors = self.encoder.encode(list(queries), "query", lambda steps: None).tolist()
        pairs = zip(queries, vectors, strict=True)
        return [{"stages": self.stages(text, vector, depth)} for text, vector in pairs]

    def stages(self, text: str, vector: list[float], depth: int) -> list[dict[str, Any]]:
        nearest = qdrant.Query.Nearest
        legs = {
            "bm25": nearest(self.bm25.embed_query(text), using="bm25"),
            "dense": nearest(vector, using="dense"),
        }
        found = {
            name: self.hits(qdrant.QueryRequest(limit=CANDIDATES, query=query))
            for name, query in legs.items()
        }
        both = [qdrant.Prefetch(limit=CANDIDATES, query=query) for query in legs.values()]
        rrf = qdrant.Fusion.Rrf(k=RRF_K)
        fused = self.hits(qdrant.QueryRequest(limit=CANDIDATES, query=rrf, prefetches=both))
        joined = {"kind": "fused", "normalization": "rrf", "alpha": 0.5, "hits": fused}
        return [
            {"name": "bm25", "kind": "lexical", "hits": found["bm25"]},
            {"name": "hnsw", "kind": "dense", "hits": found["dense"]},
            {"name": "rrf", **joined},
            {"name": "answer", "kind": "final", "hits": fused[:depth]},
        ]

    def hits(self, request: qdrant.QueryRequest) -> list[dict[str, Any]]:
        scored = [(self.chunks[point.id], point.score) for point in self.shard.query(request)]
        return [
            {"doc_id": c.doc_id, "start": c.start, "end": c.end, "score": score}
            for c, score in scored
        ]


if __name__ == "__main__":
    serve(Qdrant(lab.read_corpus(sys.argv[1]), SentenceEncoder("all-MiniLM-L6-v2")))
