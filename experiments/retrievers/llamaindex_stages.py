"""LlamaIndex: a vector index and a BM25 retriever of one's own, joined by QueryFusionRetriever, as
a foreign retriever that shows its stages.

pip install 'retrieval-diagnostics-lab[llama-index]', then in an experiment file, run with `lab run
FILE --allow-commands`:

    [[retriever]]
    name = "llamaindex"
    command = "python experiments/retrievers/llamaindex_stages.py corpora/devices"
"""

import re
import sys
from collections.abc import Sequence
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from rank_bm25 import BM25Okapi

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.pipeline.foreign.retriever import serve
from lab.retrieval.encoder import Encoder, SentenceEncoder

CANDIDATES = 50


class BM25Retriever(BaseRetriever):
    """The nodes that share a word with the question, by rank-bm25."""

    def __init__(self, nodes: Sequence[TextNode], k: int) -> None:
        super().__init__()
        self.nodes, self.k = nodes, k
        self.bm25 = BM25Okapi([words(node.text) for node in nodes])

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        scores = self.bm25.get_scores(words(query_bundle.query_str))
        best = sorted(range(len(scores)), key=lambda place: -scores[place])[: self.k]
        return [
            NodeWithScore(node=self.nodes[i], score=float(scores[i])) for i in best if scores[i] > 0
        ]


class Embedded(BaseEmbedding):
    """The lab's encoder as LlamaIndex asks for vectors."""

    encoder: Any

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self.encoder.encode(texts, "passage", lambda steps: None).tolist()

    def _get_query_embedding(self, query: str) -> list[float]:
        return self.encoder.encode([query], "query", lambda steps: None)[0].tolist()

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class LlamaIndex:
    """A pipeline over chunks of a corpus; every node's metadata says where it is from."""

    def __init__(self, corpus: lab.Corpus, encoder: Encoder, size: int = 400) -> None:
        chunks = chunk(corpus, ChunkConfig(size=size))
        # What a node says of itself is no part of what is embedded.
        keys = ["doc_id", "start", "end"]
        nodes = [
            TextNode(
                text=text,
                id_=c.chunk_id,
                metadata={"doc_id": c.doc_id, "start": c.start, "end": c.end},
                excluded_embed_metadata_keys=keys,
            )
            for text, c in zip(chunks.texts, chunks, strict=True)
        ]
        index = VectorStoreIndex(nodes, embed_model=Embedded(encoder=encoder))
        self.bm25 = BM25Retriever(nodes, CANDIDATES)
        self.vectors = index.as_retriever(similarity_top_k=CANDIDATES)
        self.joined = QueryFusionRetriever(
            [self.bm25, self.vectors],
            llm=MockLLM(),
            mode="reciprocal_rerank",
            similarity_top_k=CANDIDATES,
            num_queries=1,
            use_async=False,
        )

    def search(self, queries: Sequence[str], depth: int) -> list[dict[str, Any]]:
        return [{"stages": self.stages(query, depth)} for query in queries]

    def stages(self, query: str, depth: int) -> list[dict[str, Any]]:
        lexical, dense = self.bm25.retrieve(query), self.vectors.retrieve(query)
        joined = hits(self.joined.retrieve(query))
        return [
            {"name": "bm25", "kind": "lexical", "hits": hits(lexical)},
            {"name": "vectors", "kind": "dense", "hits": hits(dense)},
            {"name": "joined", "kind": "fused", "normalization": "rrf", "hits": joined},
            {"name": "answer", "kind": "final", "hits": joined[:depth]},
        ]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def hits(nodes: Sequence[NodeWithScore]) -> list[dict[str, Any]]:
    return [{**scored.node.metadata, "score": scored.score} for scored in nodes]


if __name__ == "__main__":
    serve(LlamaIndex(lab.read_corpus(sys.argv[1]), SentenceEncoder("all-MiniLM-L6-v2")))
