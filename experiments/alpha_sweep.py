"""How much dense, how much BM25? Eleven alphas over one corpus, for all questions and for each
kind.

python experiments/alpha_sweep.py [CORPUS SETS] [--model MODEL] [--out RUN]
"""

from pathlib import Path
from typing import Annotated

import typer

import lab
from lab.cli import run_script


def main(
    corpus: Annotated[Path, typer.Argument()] = Path("corpora/contracts"),
    sets: Annotated[Path, typer.Argument()] = Path("diagnostic_sets/contracts"),
    model: str = "all-MiniLM-L6-v2",
    out: Path = Path("runs/alpha"),
) -> None:
    """How much dense, how much BM25?"""
    grid = lab.Grid(
        chunk_strategy="structure",
        chunk_size=400,
        model=model,
        mode="hybrid",
        alpha={"start": 0.0, "stop": 1.0, "step": 0.1},
    )
    run = lab.sweep(corpus, sets, grid, name="alpha")

    # alpha is the weight of the dense leg: 0 is BM25 alone, 1 dense alone.
    table = run.table()
    print(table[["mode", "alpha", *run.metrics]].to_string(index=False, float_format="%.3f"))
    by_kind = run.slices("kind").pivot(index="system", columns="kind", values="ndcg@10")
    print(by_kind.loc[list(run.systems)].to_string(float_format="%.3f"))
    print(f"written: {run.write(out)}")


run_script(main)
