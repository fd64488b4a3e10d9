"""Memory of one shard by how many there are: `python experiments/bench/shards.py [CHUNKS]`.

Made documents of ten chunks (words by Zipf's law) lie in 1, 2, 4 and 8 shards, and 100 questions
are asked over both legs with their exact scores. Printed are, for every number of shards, the most
memory that a shard's process held, and held before it had cut anything, the processor time of all
shards, seconds a question, and whether rankings and scores are those of the first line.
"""

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from lab.arrays import Vectors
from lab.chunking.config import ChunkConfig
from lab.cluster.cluster import Cluster
from lab.config.config import Config
from lab.corpus.document import Corpus, Document
from lab.pipeline.resources import Resources
from lab.pipeline.sharded import ShardedIndexes
from lab.pipeline.shards import Shards
from lab.retrieval.config import BM25Config, DenseConfig
from lab.retrieval.fusion import candidates
from lab.storage.cache import Cache

WORDS, PER_CHUNK, PER_DOCUMENT, DIMENSION, DEPTH = 200_000, 16, 10, 64, 100


class MadeEncoder:
    """Vectors that depend on every byte of a text and mean nothing."""

    identity, max_tokens, similarity = "made", 10_000, "cosine"

    def prompt(self, role: str) -> str:
        return ""

    def encode(self, texts: Sequence[str], role: str, progress: Callable[[int], None]) -> Vectors:
        progress(len(texts))
        digests = [hashlib.blake2b(text.encode(), digest_size=DIMENSION).digest() for text in texts]
        return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, DIMENSION) - np.float32(127.5)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return []


def made(chunks: int) -> Corpus:
    """Documents whose words are drawn by Zipf's law; every word has seven letters, so that a chunk
    is sixteen of them."""
    draw, documents = np.random.default_rng(1), []
    for number in range(chunks // PER_DOCUMENT):
        drawn = draw.zipf(1.3, PER_CHUNK * PER_DOCUMENT) % WORDS
        documents.append(Document(f"{number:09}", " ".join(f"w{word:06}" for word in drawn)))
    return Corpus(documents)


def measure(corpus: Corpus, count: int, folder: Path) -> tuple[dict[str, float], list[bytes]]:
    """Figures of one number of shards, and what the questions found."""
    models = {"made": MadeEncoder()}
    with Cluster() as cluster:
        resources = Resources(Cache(folder / f"{count}.sqlite"), encoders=models, cluster=cluster)
        shards = Shards(corpus, count, resources)
        empty = max(shards.ask("peak_megabytes", [()] * count))
        chunk = ChunkConfig(size=8 * PER_CHUNK)
        lexical, semantic = BM25Config(), DenseConfig(model="made")
        indexes = ShardedIndexes(corpus, chunk, resources, shards)
        shards.encode([Config(chunk=chunk, bm25=lexical, dense=semantic)])
        bm25, dense = indexes.bm25_index(lexical), indexes.dense_index(semantic)
        texts = [document.text[:50] for document in corpus.documents[:: len(corpus) // 100][:100]]
        vectors = models["made"].encode(texts, "query", lambda done: None)
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        found: list[bytes] = []
        for turn in range(2):  # indexes are built at the first
            begin = time.perf_counter()
            hits = bm25.search(texts, DEPTH), dense.search(vectors, DEPTH)
            both = candidates(
                *hits,
                lambda chunks: bm25.scores(texts, chunks),
                lambda chunks: dense.scores(vectors, chunks),
            )
            seconds = time.perf_counter() - begin
            if turn:
                found = [part.tobytes() for part in (both.chunks, both.bm25, both.dense)]
        peaks = shards.ask("peak_megabytes", [()] * count)
        figures = {
            "shards": count,
            "chunks": len(indexes.chunking),
            "empty_mb": empty,
            "peak_mb": max(peaks),
            "index_mb": round((bm25.size + dense.size) / 2**20, 1),
            "processor_seconds": round(sum(shards.ask("processor_seconds", [()] * count)), 1),
            "seconds_a_question": round(seconds / len(texts), 4),
        }
        shards.end()
    return figures, found


def main(chunks: int) -> None:
    corpus, rows, first = made(chunks), [], None
    with tempfile.TemporaryDirectory() as folder:
        for count in (1, 2, 4, 8):
            figures, found = measure(corpus, count, Path(folder))
            first = first or found
            rows.append({**figures, "same": found == first})
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    print(json.dumps(rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
