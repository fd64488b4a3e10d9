"""A LanceDB table searched by words and by vectors, joined by reciprocal ranks, as a foreign
retriever.

pip install 'retrieval-diagnostics-lab[lancedb]', then in an experiment file, run with `lab run FILE
--allow-commands`:

    [[retriever]]
    name = "lancedb"
    command = "python experiments/retrievers/lancedb_hybrid.py corpora/devices"
"""

import sys
import tempfile
from collections.abc import Sequence

import lancedb
from lancedb.index import FTS
from lancedb.rerankers import RRFReranker

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.pipeline.foreign.hits import Hit
from lab.pipeline.foreign.retriever import serve
from lab.retrieval.encoder import Encoder, SentenceEncoder


class LanceHybrid:
    """A table in a folder of its own, which goes with the object."""

    def __init__(self, corpus: lab.Corpus, encoder: Encoder, size: int = 400) -> None:
        self.encoder, self.chunks = encoder, list(chunks := chunk(corpus, ChunkConfig(size=size)))
        self.folder = tempfile.TemporaryDirectory()
        vectors = encoder.encode(chunks.texts, "passage", lambda steps: None)
        rows = [
            {"number": n, "text": text, "vector": vectors[n].tolist()}
            for n, text in enumerate(chunks.texts)
        ]
        self.table = lancedb.connect(self.folder.name).create_table("chunks", rows)
        self.table.create_index("text", config=FTS())

    def search(self, queries: Sequence[str], depth: int) -> list[list[Hit]]:
        vectors = self.encoder.encode(list(queries), "query", lambda steps: None)
        rankings = []
        for query, vector in zip(queries, vectors, strict=True):
            search = self.table.search(query_type="hybrid").vector(vector.tolist()).text(query)
            rows = search.rerank(RRFReranker()).limit(depth).to_list()
            found = [self.chunks[row["number"]] for row in rows]
            rankings.append([Hit(c.doc_id, c.start, c.end) for c in found])
        return rankings


if __name__ == "__main__":
    serve(LanceHybrid(lab.read_corpus(sys.argv[1]), SentenceEncoder("all-MiniLM-L6-v2")))
