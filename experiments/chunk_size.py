"""Which chunks? Sizes and strategies, with recall at an equal token budget, the fair comparison
between sizes.

python experiments/chunk_size.py [CORPUS SETS] [--out RUN]
"""

from pathlib import Path
from typing import Annotated

import typer

import lab
from lab.cli import run_script

METRICS = ("recall@5", "recall@1000tok", "pieces_needed", "context_tokens@5")


def main(
    corpus: Annotated[Path, typer.Argument()] = Path("corpora/software"),
    sets: Annotated[Path, typer.Argument()] = Path("diagnostic_sets/software"),
    out: Path = Path("runs/chunks"),
) -> None:
    """Which chunks?"""
    grid = lab.Grid(
        chunk_strategy=("fixed", "sentences", "structure"), chunk_size=(200, 400, 800), mode="bm25"
    )
    measure = lab.Measure(metrics=METRICS, select_by="recall@1000tok")
    run = lab.sweep(corpus, sets, grid, measure, name="chunks")

    # recall@5 favours large chunks, for five of them are more text; recall@1000tok gives every
    # system the same room.
    shown = ["chunk_strategy", "chunk_size", *METRICS]
    print(run.table()[shown].to_string(index=False, float_format="%.3f"))
    print(f"written: {run.write(out)}")


run_script(main)
