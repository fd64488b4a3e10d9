"""Tantivy's BM25 (English stems) over 400-character chunks, as a foreign retriever.

pip install 'retrieval-diagnostics-lab[tantivy]', then in an experiment file, run with `lab run FILE
--allow-commands`:

    [[retriever]]
    name = "tantivy"
    command = "python experiments/retrievers/tantivy_bm25.py corpora/devices"
"""

import re
import sys
from collections.abc import Sequence

import tantivy

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.pipeline.foreign.hits import Hit
from lab.pipeline.foreign.retriever import serve


class Tantivy:
    """An index in memory, built once."""

    def __init__(self, corpus: lab.Corpus, size: int = 400) -> None:
        self.chunks = list(chunks := chunk(corpus, ChunkConfig(size=size)))
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("text", tokenizer_name="en_stem")
        schema.add_integer_field("number", stored=True)
        self.index = tantivy.Index(schema.build())
        writer = self.index.writer(num_threads=1)
        for number, text in enumerate(chunks.texts):
            writer.add_document(tantivy.Document(text=text, number=number))
        writer.commit()
        writer.wait_merging_threads()
        self.index.reload()

    def search(self, queries: Sequence[str], depth: int) -> list[list[Hit]]:
        searcher = self.index.searcher()
        rankings = []
        for query in queries:
            # A question is words, whatever its punctuation means in Tantivy's query language.
            words = self.index.parse_query(" ".join(re.findall(r"\w+", query)).lower(), ["text"])
            numbers = [
                searcher.doc(address)["number"][0]
                for _, address in searcher.search(words, depth).hits
            ]
            found = [self.chunks[number] for number in numbers]
            rankings.append([Hit(c.doc_id, c.start, c.end) for c in found])
        return rankings


if __name__ == "__main__":
    serve(Tantivy(lab.read_corpus(sys.argv[1])))
