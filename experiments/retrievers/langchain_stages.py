"""LangChain's in-memory vector store and a BM25 retriever of one's own, joined by reciprocal ranks,
as a foreign retriever that shows its stages.

pip install 'retrieval-diagnostics-lab[langchain]', then in an experiment file, run with `lab run
FILE --allow-commands`:

    [[retriever]]
    name = "langchain"
    command = "python experiments/retrievers/langchain_stages.py corpora/devices"
"""

import re
import sys
from collections.abc import Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from rank_bm25 import BM25Okapi

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.pipeline.foreign.retriever import serve
from lab.retrieval.encoder import Encoder, SentenceEncoder

# Candidates of each retriever, and the constant of reciprocal rank fusion.
CANDIDATES, RRF_K = 50, 60


class BM25Retriever(BaseRetriever):
    """The documents that share a word with the question, by rank-bm25."""

    documents: list[Document]
    bm25: Any
    k: int

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        scores = self.bm25.get_scores(words(query))
        best = sorted(range(len(scores)), key=lambda place: -scores[place])[: self.k]
        return [scored(self.documents[i], float(scores[i])) for i in best if scores[i] > 0]


class VectorRetriever(BaseRetriever):
    """A vector store that says its scores, which `as_retriever` keeps to itself."""

    store: InMemoryVectorStore
    k: int

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [scored(*pair) for pair in self.store.similarity_search_with_score(query, k=self.k)]


class Joined(BaseRetriever):
    """Both retrievers' documents by reciprocal ranks."""

    retrievers: list[BaseRetriever]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        config = {"callbacks": run_manager.get_child()}
        return join([retriever.invoke(query, config=config) for retriever in self.retrievers])


class Embedded(Embeddings):
    """The lab's encoder as LangChain asks for vectors."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.encoder.encode(texts, "passage", lambda steps: None).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self.encoder.encode([text], "query", lambda steps: None)[0].tolist()


class LangChain:
    """A pipeline over chunks of a corpus; every document's metadata says where it is from."""

    def __init__(self, corpus: lab.Corpus, encoder: Encoder, size: int = 400) -> None:
        chunks = chunk(corpus, ChunkConfig(size=size))
        documents = [
            Document(text, metadata={"doc_id": c.doc_id, "start": c.start, "end": c.end})
            for text, c in zip(chunks.texts, chunks, strict=True)
        ]
        store = InMemoryVectorStore(Embedded(encoder))
        store.add_documents(documents)
        self.bm25 = BM25Retriever(
            documents=documents,
            bm25=BM25Okapi([words(d.page_content) for d in documents]),
            k=CANDIDATES,
        )
        self.vectors = VectorRetriever(store=store, k=CANDIDATES)
        self.joined = Joined(retrievers=[self.bm25, self.vectors])

    def search(self, queries: Sequence[str], depth: int) -> list[dict[str, Any]]:
        return [{"stages": self.stages(query, depth)} for query in queries]

    def stages(self, query: str, depth: int) -> list[dict[str, Any]]:
        lexical, dense = self.bm25.invoke(query), self.vectors.invoke(query)
        joined = join([lexical, dense])
        return [
            {"name": "bm25", "kind": "lexical", "hits": hits(lexical)},
            {"name": "vectors", "kind": "dense", "hits": hits(dense)},
            {
                "name": "joined",
                "kind": "fused",
                "normalization": "rrf",
                "alpha": 0.5,
                "hits": hits(joined),
            },
            {"name": "answer", "kind": "final", "hits": hits(joined[:depth])},
        ]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def scored(document: Document, score: float) -> Document:
    metadata = document.metadata | {"score": float(score)}
    return Document(document.page_content, metadata=metadata)


def join(rankings: Sequence[Sequence[Document]]) -> list[Document]:
    """Reciprocal rank fusion of documents, known by where they are from."""
    total: dict[tuple[str, int], float] = {}
    known: dict[tuple[str, int], Document] = {}
    for ranking in rankings:
        for rank, document in enumerate(ranking, start=1):
            key = document.metadata["doc_id"], document.metadata["start"]
            total[key] = total.get(key, 0.0) + 1 / (RRF_K + rank)
            known[key] = document
    best = sorted(total, key=lambda key: (-total[key], key))
    return [scored(known[key], total[key]) for key in best]


def hits(documents: Sequence[Document]) -> list[dict[str, Any]]:
    return [document.metadata for document in documents]


if __name__ == "__main__":
    serve(LangChain(lab.read_corpus(sys.argv[1]), SentenceEncoder("all-MiniLM-L6-v2")))
