"""bfloat16 against float32: time in interleaved rounds, cosines, and what becomes of the metrics.

Usage: dtype.py DATA [ROUNDS]. Prints one line of JSON.
"""

import json
import sys
from pathlib import Path

import numpy as np
from timing import in_process

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.retrieval.config import DEFAULT_MODEL
from lab.retrieval.encoder import SentenceEncoder
from lab.retrieval.similarity import unit
from lab.sweeping.sweep import sweep

ROOT = Path(__file__).parent.parent.parent
TEXTS = 384


def main(data: Path, rounds: int) -> None:
    texts = sorted(
        chunk(lab.read_corpus(data / "spans/chroma"), ChunkConfig(size=400)).texts[:TEXTS], key=len
    )
    models = {dtype: SentenceEncoder(DEFAULT_MODEL, dtype) for dtype in ("float32", "bfloat16")}  # type: ignore[arg-type]
    vectors = {
        dtype: model.encode(texts, "passage", lambda done: None) for dtype, model in models.items()
    }
    # The model itself brings vectors to length 1 in its own type; the index does it again in
    # float32.
    cosines = (unit(vectors["float32"]).astype(np.float64) * unit(vectors["bfloat16"])).sum(axis=1)

    def encode(dtype: str) -> object:
        return models[dtype].encode(texts, "passage", lambda done: None)

    times = in_process(
        {"float32": lambda: encode("float32"), "bfloat16": lambda: encode("bfloat16")}, rounds
    )
    corpus = lab.read_corpus(ROOT / "corpora/devices")
    queries = lab.read_diagnostics(ROOT / "diagnostic_sets/devices", corpus)
    grid = lab.Grid(mode=("dense", "hybrid"), alpha=0.5, dtype=("float32", "bfloat16"))
    table = sweep(corpus, queries, grid).table()
    found = {
        "cosine": {
            "least": round(float(cosines.min()), 6),
            "mean": round(float(cosines.mean()), 6),
        },
        **{dtype: {"wall": round(t.wall, 2), "cpu": round(t.cpu, 2)} for dtype, t in times.items()},
        "faster": {
            "wall": round(times["float32"].wall / times["bfloat16"].wall, 2),
            "cpu": round(times["float32"].cpu / times["bfloat16"].cpu, 2),
        },
        "devices": table[["system", "recall@5", "precision@3", "ndcg@10"]]
        .round(4)
        .to_dict(orient="records"),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5)
