"""One size of the growth test in a process of its own: time and peak memory per stage over made
text and vectors.

Usage: growth.py CHUNKS QUESTIONS [exact|hnsw|ivf]. Prints one line of JSON.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.corpus.document import Corpus, Document
from lab.pipeline.memory import peak_megabytes
from lab.retrieval import bm25, dense
from lab.retrieval.config import BM25Config, FusionConfig
from lab.retrieval.fusion import candidates, fuse
from lab.retrieval.postings import compile_all
from lab.retrieval.similarity import unit

WORDS, LENGTH, DIMENSION, TOPICS, DEPTH, BLOCK = 50_000, 60, 384, 1000, 100, 10_000
stages: dict[str, dict[str, float]] = {}


@contextmanager
def stage(name: str) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    stages[name] = {
        "seconds": round(time.perf_counter() - wall, 3),
        "cpu": round(time.process_time() - cpu, 3),
        "peak_mb": peak_megabytes(),
    }


def zipf_texts(count: int, length: int, seed: int) -> Iterator[str]:
    """Words whose frequency falls with their rank, as in natural text (exponent 1)."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, WORDS + 1)
    edges = np.cumsum(shares / shares.sum())
    for first in range(0, count, BLOCK):
        drawn = np.searchsorted(edges, rng.random((min(BLOCK, count - first), length)))
        yield from (" ".join(f"w{word}" for word in row) for row in drawn.tolist())


def topic_vectors(count: int, seed: int) -> np.ndarray:
    """Unit vectors around common centres, as texts of common topics lie."""
    rng, centres = (
        np.random.default_rng(seed),
        np.random.default_rng(0).standard_normal((TOPICS, DIMENSION), dtype=np.float32),
    )
    rows = np.empty((count, DIMENSION), dtype=np.float32)
    for first in range(0, count, BLOCK):
        part = rows[first : first + BLOCK]
        part[:] = centres[rng.integers(0, TOPICS, len(part))] + rng.standard_normal(
            part.shape, dtype=np.float32
        )
    return rows


def main(chunks: int, questions: int, kind: str) -> None:
    compile_all()
    with stage("make text"):
        corpus = Corpus(
            Document(f"{i:08}", text) for i, text in enumerate(zipf_texts(chunks, LENGTH, 1))
        )
        asked = list(zipf_texts(questions, 8, 2))
    with stage("chunk"):
        chunking = chunk(corpus, ChunkConfig(strategy="document"))
    with stage("index bm25"):
        lexical = bm25.build(chunking, BM25Config())
    with stage("search bm25"):
        words = lexical.search(asked, DEPTH)
    vectors, wanted = topic_vectors(chunks, 3), unit(topic_vectors(questions, 4))
    with stage(f"index {kind}"):
        near = dense.build(vectors, kind, chunking)
    del vectors
    with stage(f"search {kind}"):
        meant = near.search(wanted, DEPTH)
    with stage("candidates"):
        found = candidates(
            words, meant, lambda c: lexical.scores(asked, c), lambda c: near.scores(wanted, c)
        )
    with stage("fuse"):
        fuse(found, FusionConfig(), DEPTH)
    recall = 1.0
    if kind != "exact":
        exact = dense.build(near.vectors, "exact", chunking).search(wanted, DEPTH).chunks
        recall = float(
            np.mean(
                [
                    len(np.intersect1d(a, b)) / DEPTH
                    for a, b in zip(meant.chunks, exact, strict=True)
                ]
            )
        )
    print(
        json.dumps(
            {
                "chunks": chunks,
                "questions": questions,
                "index": kind,
                "recall": round(recall, 4),
                "stages": stages,
            }
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else "exact")
