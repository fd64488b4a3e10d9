"""Is the reranker worth it? The same first stage without it, with it, and blended with the first
stage's own scores.

python experiments/reranker_ablation.py [CORPUS SETS] [--reranker NAME] [--out RUN]
NAME: maxsim, a CrossEncoder's folder or a hub id
"""

from pathlib import Path
from typing import Annotated

import typer

import lab
from lab.cli import run_script


def main(
    corpus: Annotated[Path, typer.Argument()] = Path("corpora/devices"),
    sets: Annotated[Path, typer.Argument()] = Path("diagnostic_sets/devices"),
    reranker: str = "maxsim",
    out: Path = Path("runs/reranker"),
) -> None:
    """Is the reranker worth it?"""
    grid = lab.Grid(
        chunk_strategy="structure",
        chunk_size=400,
        mode="hybrid",
        alpha=0.5,
        rerank_model=reranker,
        rerank_depth=(0, 20),
        blend=(0.3, 0.6, 1.0),
    )
    run = lab.sweep(corpus, sets, grid, name="reranker")
    shown = ["rerank_depth", "blend", *run.metrics]
    print(run.table()[shown].to_string(index=False, float_format="%.3f"))

    without = run.scores(run.systems[0]).column("ndcg@10")
    for system in run.systems[1:]:
        difference = run.scores(system).column("ndcg@10") - without
        print(
            f"{system}: {(difference > 0).sum()} questions better, {(difference < 0).sum()} "
            f"worse, mean {difference.mean():+.3f}"
        )
    print(f"written: {run.write(out)}")


run_script(main)
