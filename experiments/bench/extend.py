"""The quickstart once more in one process: unchanged, with one more alpha (with its reranker and
without), one more chunk size, one edited document.

Usage: extend.py [ROUNDS]. Prints one line of JSON: seconds of the clock and of the processor beside
what was computed anew.
"""

import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import lab
from lab.config.experiment import read_experiment
from lab.corpus.document import Corpus
from lab.runs.folder import write_run
from lab.sweeping.sweep import sweep

ROOT = Path(__file__).parent.parent.parent


def main(rounds: int) -> None:
    experiment = read_experiment(ROOT / "experiments/quickstart.toml")
    corpus = lab.read_corpus(experiment.corpus)
    queries = lab.read_diagnostics(experiment.diagnostic_sets, corpus)
    grid = experiment.grid
    plain = grid.model_copy(update={"rerank_depth": (0,)})
    first = corpus.documents[0]
    # Beyond the evidence, so that the questions stay as they are.
    edited = Corpus(
        [
            replace(first, text=first.text + "\n\nOne more sentence at the end.\n"),
            *corpus.documents[1:],
        ]
    )
    changes = {
        "unchanged": (corpus, grid),
        "one more alpha": (corpus, grid.model_copy(update={"alpha": (*grid.alpha, 0.5)})),
        "no reranker": (corpus, plain),
        "no reranker, one more alpha": (
            corpus,
            plain.model_copy(update={"alpha": (*grid.alpha, 0.5)}),
        ),
        "one more chunk size": (
            corpus,
            grid.model_copy(update={"chunk_size": (*grid.chunk_size, 300)}),
        ),
        "one document edited": (edited, grid),
    }
    found: dict[str, list[dict[str, float]]] = {name: [] for name in changes}
    with tempfile.TemporaryDirectory() as folder:
        filled = Path(folder) / "cache.sqlite"
        sweep(corpus, queries, grid, cache=filled)
        for turn in range(rounds):
            for name, (documents, wanted) in changes.items():
                cache, out = Path(folder) / f"{name}-{turn}.sqlite", Path(folder) / f"{name}-{turn}"
                cache.write_bytes(filled.read_bytes())  # what the first run left, each time
                wall, cpu = time.perf_counter(), time.process_time()
                result = sweep(documents, queries, wanted, cache=cache)
                write_run(result.tables, out)
                seconds = result.manifest["seconds"]
                seconds = result.manifest["seconds"]
                found[name].append(
                    {
                        "wall": time.perf_counter() - wall,
                        "cpu": time.process_time() - cpu,
                        "models": sum(seconds.get(stage, 0.0) for stage in ("encode", "rerank")),
                        "systems": len(result.systems),
                        **{
                            f"{what} computed": result.manifest["counts"].get(f"{what} computed", 0)
                            for what in ("texts", "pairs")
                        },
                    }
                )
    print(
        json.dumps(
            {
                name: {key: round(median(row[key] for row in rows), 2) for key in rows[0]}
                for name, rows in found.items()
            }
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
