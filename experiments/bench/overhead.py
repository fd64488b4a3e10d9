"""66 systems with an empty cache, against what the models alone need for the same texts and pairs,
in one process.

Usage: overhead.py DATA [SIZE ...]. Prints one line of JSON.
"""

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import lab
from lab.arrays import Vectors
from lab.retrieval.config import DEFAULT_MODEL, MAXSIM
from lab.retrieval.encoder import Progress, SentenceEncoder
from lab.retrieval.prompts import Role
from lab.retrieval.rerank import MaxSim, PairScorer
from lab.sweeping.sweep import sweep

Clock = tuple[float, float]


def clock() -> Clock:
    return time.perf_counter(), time.process_time()


@dataclass(frozen=True)
class Recording(SentenceEncoder):
    """Keeps what it was asked."""

    asked: list[tuple[list[str], Role]] = field(default_factory=list, compare=False)

    def encode(self, texts: Sequence[str], role: Role, progress: Progress) -> Vectors:
        self.asked.append((list(texts), role))
        return super().encode(texts, role, progress)


@dataclass(frozen=True)
class RecordingScorer:
    """A reranker that keeps what it was asked."""

    scorer: PairScorer
    asked: list[tuple[list[str], list[str]]] = field(default_factory=list)

    @property
    def identity(self) -> str:
        return self.scorer.identity

    def score(
        self, questions: Sequence[str], texts: Sequence[str], progress: Progress
    ) -> np.ndarray:
        self.asked.append((list(questions), list(texts)))
        return self.scorer.score(questions, texts, progress)


def main(data: Path, sizes: tuple[int, ...]) -> None:
    corpus = lab.read_corpus(data / "spans/chroma")
    queries = lab.read_diagnostics(data / "spans/chroma", corpus)
    encoder = Recording(DEFAULT_MODEL)
    scorer = RecordingScorer(MaxSim(SentenceEncoder(DEFAULT_MODEL)))
    encoder.encode(["warm"], "query", lambda done: None)  # loading the model is neither's work
    scorer.score(["warm"], ["warm"], lambda done: None)
    encoder.asked.clear()
    scorer.asked.clear()
    alphas = tuple(step / 10 for step in range(11))
    grid = lab.Grid(
        chunk_size=sizes, mode="hybrid", alpha=alphas, rerank_depth=(0, 20), rerank_model=MAXSIM
    )
    with tempfile.TemporaryDirectory() as folder:
        begun = clock()
        result = sweep(
            corpus,
            queries,
            grid,
            cache=Path(folder) / "cache.sqlite",
            encoders={DEFAULT_MODEL: encoder},
            rerankers={MAXSIM: scorer},
        )
        result.table()
        ended = clock()
    texts = {
        role: sorted({text for some, r in encoder.asked if r == role for text in some}, key=len)
        for role in ("query", "passage")
    }
    pairs = sorted(
        {pair for q, t in scorer.asked for pair in zip(q, t, strict=True)},
        key=lambda pair: (len(pair[1]), pair[1]),
    )
    alone = clock()
    for role, distinct in texts.items():
        SentenceEncoder.encode(encoder, distinct, role, lambda done: None)
    scorer.scorer.score([q for q, _ in pairs], [t for _, t in pairs], lambda done: None)
    done = clock()
    whole, model = (
        [b - a for a, b in zip(begun, ended, strict=True)],
        [b - a for a, b in zip(alone, done, strict=True)],
    )
    found = {
        "systems": len(result.systems),
        "texts": sum(map(len, texts.values())),
        "pairs": len(pairs),
        "sweep": {"wall": round(whole[0], 1), "cpu": round(whole[1], 1)},
        "models alone": {"wall": round(model[0], 1), "cpu": round(model[1], 1)},
        "ratio": {"wall": round(whole[0] / model[0], 3), "cpu": round(whole[1] / model[1], 3)},
        "stages": result.manifest["seconds"],
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), tuple(map(int, sys.argv[2:])) or (256, 512, 1024))
