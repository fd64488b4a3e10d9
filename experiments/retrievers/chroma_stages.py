"""Chroma's server, asked over HTTP: its HNSW as a foreign retriever that shows its stages.

pip install 'retrieval-diagnostics-lab[chroma]' brings the server (`chroma run`); one of your own is
named by its port. In an experiment file, run with `lab run FILE --allow-commands`:

    [[retriever]]
    name = "chroma"
    command = "python experiments/retrievers/chroma_stages.py corpora/devices"
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")

import chromadb

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.pipeline.foreign.retriever import serve
from lab.retrieval.encoder import Encoder, SentenceEncoder

CANDIDATES = 100
# Points that one request may hold, and seconds that a server may take to start.
BATCH, START_SECONDS = 1000, 60.0


class Chroma:
    """A collection of its own on a server at a port; it is deleted by `close`."""

    def __init__(self, corpus: lab.Corpus, encoder: Encoder, port: int, size: int = 400) -> None:
        self.encoder = encoder
        self.chunks = list(chunks := chunk(corpus, ChunkConfig(size=size)))
        self.client = chromadb.HttpClient(host="127.0.0.1", port=port)
        self.name = f"lab-{os.getpid()}-{id(self)}"
        self.collection = self.client.create_collection(
            self.name, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )
        vectors = encoder.encode(chunks.texts, "passage", lambda steps: None)
        for first in range(0, len(vectors), BATCH):
            some = vectors[first : first + BATCH]
            ids = [str(first + place) for place in range(len(some))]
            self.collection.add(ids=ids, embeddings=some)

    def search(self, queries: Sequence[str], depth: int) -> list[dict[str, Any]]:
        vectors = self.encoder.encode(list(queries), "query", lambda steps: None)
        count = min(max(CANDIDATES, depth), len(self.chunks))
        found = self.collection.query(
            query_embeddings=vectors, n_results=count, include=["distances"]
        )
        replies = []
        for ids, distances in zip(found["ids"], found["distances"] or [], strict=True):
            # Cosine distances, of which less is better: 1 less them is the cosine.
            pairs = zip(map(int, ids), distances, strict=True)
            hits = [self.hit(number, 1.0 - float(distance)) for number, distance in pairs]
            legs = {"name": "hnsw", "kind": "dense", "hits": hits}
            replies.append(
                {"stages": [legs, {"name": "answer", "kind": "final", "hits": hits[:depth]}]}
            )
        return replies

    def hit(self, number: int, score: float) -> dict[str, Any]:
        c = self.chunks[number]
        return {"doc_id": c.doc_id, "start": c.start, "end": c.end, "score": score}

    def close(self) -> None:
        self.client.delete_collection(self.name)


@contextlib.contextmanager
def server() -> Iterator[int]:
    """The port of a server started here, over a folder that goes with it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    beside = Path(sys.executable).parent / "chroma"
    program = str(beside) if beside.exists() else shutil.which("chroma") or "chroma"
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "run", "--path", folder, "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            _wait(port, process)
            yield port
        finally:
            process.terminate()
            process.wait()


def _wait(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Until the server answers."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(Exception):
            chromadb.HttpClient(host="127.0.0.1", port=port).heartbeat()
            return
        time.sleep(0.2)
    raise lab.LabError(f"chroma run gave no server at port {port} in {START_SECONDS:g} s")


if __name__ == "__main__":
    with server() as own:
        serve(Chroma(lab.read_corpus(sys.argv[1]), SentenceEncoder("all-MiniLM-L6-v2"), own))
