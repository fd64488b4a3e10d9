"""The winner in use: the index of made documents is opened and asked, one question at a time.

Usage: use.py [ROUNDS] [CHUNKS]. Prints one line of JSON. What a model takes is left out: the
encoder makes its vectors of nothing.
"""

import json
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path

import bm25s
import faiss
import numpy as np
from growth import DIMENSION, LENGTH, WORDS, topic_vectors, zipf_texts
from timing import in_process

import lab
from lab.config.config import Config
from lab.pipeline.index_folder import open_index, write_index
from lab.pipeline.resources import Resources
from lab.pipeline.searcher import Searcher
from lab.storage.cache import Cache

PER_DOCUMENT, QUESTIONS, DEPTH = 10, 200, 100
KINDS = topic_vectors(5_000, 2)


class MadeEncoder:
    """Vectors by a checksum of the text: they cost next to nothing."""

    identity = "made"
    max_tokens = 10_000
    similarity = "cosine"

    def prompt(self, role: str) -> str:
        return ""

    def encode(
        self, texts: Sequence[str], role: str, progress: Callable[[int], None]
    ) -> np.ndarray:
        progress(len(texts))
        marks = np.array([zlib.crc32(text.encode()) for text in texts], dtype=np.int64)
        first, second = KINDS[marks % len(KINDS)], KINDS[marks // 7919 % len(KINDS)]
        return np.asarray(first + 0.5 * second, dtype=np.float32)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return []


def corpus_of(chunks: int) -> lab.Corpus:
    """Documents that are cut into `PER_DOCUMENT` chunks of `LENGTH` words each."""
    texts = zipf_texts(chunks // PER_DOCUMENT, PER_DOCUMENT * LENGTH, 0)
    return lab.Corpus(lab.Document(f"d{place:06}", text) for place, text in enumerate(texts))


def system(mode: str) -> Config:
    """A plain system over chunks of `LENGTH` words."""
    return lab.Grid(mode=mode, model="made", unit="words", chunk_size=LENGTH).systems()[0][0]


def seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def asked(texts: list[str], ask: Callable[[str], object]) -> Callable[[], object]:
    """One more question at every call."""
    turn: Iterator[str] = cycle(texts)
    return lambda: ask(next(turn))


def by_hand(searcher: Searcher, encoder: MadeEncoder) -> dict[str, Callable[[str], object]]:
    """BM25 and hybrid search as one would write them down with bm25s and faiss, over the same terms
    and vectors, without ties settled, stages told or texts shown."""
    chunking = searcher.indexes.chunking
    texts = [chunking.text(place) for place in range(len(chunking))]
    lexical = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba")
    lexical.index([text.split() for text in texts], show_progress=False)
    near = faiss.IndexFlatIP(DIMENSION)
    near.add(searcher.indexes.dense_index(searcher.config.dense).own.vectors)

    def bm25(text: str) -> tuple[np.ndarray, np.ndarray]:
        found, scores = lexical.retrieve([text.split()], k=DEPTH, show_progress=False)
        return found[0], scores[0]

    def hybrid(text: str) -> np.ndarray:
        ids, scores = bm25(text)
        vector = encoder.encode([text], "query", lambda count: None)
        products, places = near.search(vector / np.linalg.norm(vector), DEPTH)
        fused: dict[int, float] = {}
        for chunks, values in ((ids, scores), (places[0], products[0])):
            low, high = float(values.min()), float(values.max())
            for chunk, value in zip(chunks.tolist(), values.tolist(), strict=True):
                fused[chunk] = fused.get(chunk, 0) + 0.5 * (value - low) / (high - low or 1)
        return np.array(sorted(fused, key=lambda chunk: -fused[chunk])[:DEPTH])

    return {"bm25": bm25, "hybrid": hybrid}


def main(rounds: int, chunks: int) -> None:
    corpus, encoder = corpus_of(chunks), MadeEncoder()
    rng = np.random.default_rng(1)
    words = 1 + np.minimum(WORDS - 1, (rng.pareto(0.5, (QUESTIONS, 6)) * 20).astype(np.int64))
    questions = [" ".join(f"w{word}" for word in row) for row in words.tolist()]
    rows = []
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "index"

        def resources() -> Resources:
            return Resources(Cache(Path(work) / "cache.sqlite"), encoders={"made": encoder})

        first = lab.Document(corpus.documents[0].doc_id, "w1 w2 changed " * LENGTH)
        changed = lab.Corpus([first, *corpus.documents[1:]])
        config = system("hybrid")
        cold = seconds(lambda: write_index(folder, corpus, config, resources()))
        update = seconds(lambda: write_index(folder, changed, config, resources()))
        write_index(folder, corpus, config, resources())
        opened = [seconds(lambda: open_index(folder, resources())) for _ in range(rounds)]
        ready = sorted(opened)[rounds // 2]
        for what, taken in (("build", cold), ("one document changed", update), ("open", ready)):
            rows.append({"bench": what, "who": "lab", "seconds": taken, "ratio": taken / ready})
        searcher = open_index(folder, resources())
        lexical = Searcher(searcher.corpus, system("bm25"), resources(), searcher.indexes)
        peers = by_hand(searcher, encoder)
        for name, ours in (("bm25", lexical), ("hybrid", searcher)):
            tasks = {
                "lab": asked(questions, lambda text, own=ours: own.search(text, 10)),
                "by hand": asked(questions, peers[name]),
            }
            timed = in_process(tasks, rounds)
            for who, timing in timed.items():
                row = {"bench": f"{name}, one question", "who": who, "seconds": timing.wall}
                rows.append(row | {"ratio": timing.wall / timed["lab"].wall})
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        shutil.rmtree(folder)
    facts = {"chunks": len(searcher.indexes.chunking), "megabytes": round(size / 1e6)}
    print(json.dumps([facts, *rows]))


if __name__ == "__main__":
    main(*(int(argument) for argument in (*sys.argv[1:], "5", "100000")[:2]))
