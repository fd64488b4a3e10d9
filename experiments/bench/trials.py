"""Trials of a session over SciFact, its vectors known: what one more k1, b, alpha and depth cost.

Usage: trials.py DATA [TRIALS]. DATA is the folder of ready public sets. Prints one line of JSON:
milliseconds a trial, the median.
"""

import json
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

import lab


class Made:
    """Vectors that say nothing, of MiniLM's size: what is measured is the lab's own work."""

    identity = "made"
    max_tokens = 256

    def prompt(self, role: str) -> str:
        return ""

    def encode(self, texts, role, progress):  # type: ignore[no-untyped-def]
        progress(len(texts))
        return np.random.default_rng(len(texts)).normal(size=(len(texts), 384)).astype(np.float32)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]


def main(data: Path, trials: int) -> None:
    session = lab.Session(
        data / "beir/scifact",
        data / "beir/scifact",
        ["recall@5", "ndcg@10"],
        cache=":memory:",
        encoders={"made": Made()},
    )
    whole = {"chunk_strategy": "document", "model": "made"}
    steps = np.linspace(0.1, 0.9, trials)
    kinds = {
        "bm25, another k1": [{"mode": "bm25", "k1": float(2 * step)} for step in steps],
        "hybrid, another alpha": [{"mode": "hybrid", "alpha": float(step)} for step in steps],
        "hybrid, another b and alpha": [
            {"mode": "hybrid", "alpha": float(step), "b": float(step)} for step in steps
        ],
    }
    answer: dict[str, object] = {}
    for name, settings in kinds.items():
        session.evaluate(**whole, **settings[0])
        seconds = []
        for of_trial in settings[1:]:
            start, processor = time.perf_counter(), time.process_time()
            scores = session.evaluate(**whole, **of_trial)
            seconds.append((time.perf_counter() - start, time.process_time() - processor))
        answer[name] = {
            "wall_ms": round(1000 * median(wall for wall, _ in seconds), 1),
            "cpu_ms": round(1000 * median(cpu for _, cpu in seconds), 1),
        }
    print(json.dumps({"questions": len(scores.query_ids), **answer}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 12)
