"""Every engine and type of one model against torch in float32: figures, cosine, seconds.

python experiments/engines.py [CORPUS SETS] [--model MODEL] [--rounds N] [--json]

Figures are those of the dense leg over structured chunks of 400 characters. Seconds are processor
time for 1,000 of them, medians of interleaved rounds. Needs the extras onnx and openvino.
"""

import json
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.cli import run_script
from lab.retrieval.config import COMPUTES, DEFAULT_MODEL
from lab.retrieval.encoder import SentenceEncoder
from lab.retrieval.similarity import unit

sys.path.append(str(Path(__file__).parent / "bench"))
from timing import in_process

TEXTS = 256
CHUNKS = {"strategy": "structure", "size": 400}
METRICS = ("recall@5", "ndcg@10")


def main(
    corpus: Annotated[Path, typer.Argument()] = Path("corpora/devices"),
    sets: Annotated[Path, typer.Argument()] = Path("diagnostic_sets/devices"),
    model: str = DEFAULT_MODEL,
    rounds: int = 3,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Every engine and type of one model against torch in float32."""
    every = chunk(lab.read_corpus(corpus), ChunkConfig(**CHUNKS)).texts
    texts = sorted(every[:: max(1, len(every) // TEXTS)][:TEXTS], key=len)
    kinds = [(backend, dtype) for backend, dtypes in COMPUTES.items() for dtype in dtypes]
    encoders = {
        (backend, dtype): SentenceEncoder(model, dtype, "cpu", backend) for backend, dtype in kinds
    }

    def encode(kind: tuple[str, str]) -> np.ndarray:
        return unit(encoders[kind].encode(texts, "passage", lambda done: None))

    vectors = {kind: encode(kind).astype(np.float64) for kind in kinds}
    times = in_process({" ".join(k): lambda kind=k: encode(kind) for k in kinds}, rounds)
    grid = lab.Grid(
        chunk_strategy=CHUNKS["strategy"],
        chunk_size=CHUNKS["size"],
        mode="dense",
        model=model,
        backend=tuple(COMPUTES),
        dtype=("float32", "bfloat16", "int8"),
    )
    run = lab.sweep(corpus, sets, grid, list(METRICS), name="engines", progress=False)
    figures = run.table().set_index(["backend", "dtype"])
    rows: list[dict[str, object]] = []
    for kind in kinds:
        cosines = (vectors[kind] * vectors["torch", "float32"]).sum(axis=1)
        cpu = times[" ".join(kind)].cpu
        rows.append(
            {
                "engine": " ".join(kind),
                **{metric: round(float(figures.loc[kind, metric]), 4) for metric in METRICS},
                "mean cosine": round(float(cosines.mean()), 6),
                "least cosine": round(float(cosines.min()), 6),
                "seconds a 1,000": round(1000 * cpu / len(texts), 2),
                "times as fast": round(times["torch float32"].cpu / cpu, 2),
            }
        )
    print(json.dumps(rows) if as_json else pd.DataFrame(rows).to_string(index=False))


run_script(main)
