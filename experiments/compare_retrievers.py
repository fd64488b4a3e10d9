"""BM25, dense or hybrid? Each on every kind of question, and one question explained.

python experiments/compare_retrievers.py [CORPUS SETS] [--model MODEL] [--out RUN]
"""

from pathlib import Path
from typing import Annotated

import typer

import lab
from lab.cli import run_script


def main(
    corpus: Annotated[Path, typer.Argument()] = Path("corpora/devices"),
    sets: Annotated[Path, typer.Argument()] = Path("diagnostic_sets/devices"),
    model: str = "all-MiniLM-L6-v2",
    out: Path = Path("runs/retrievers"),
) -> None:
    """BM25, dense or hybrid?"""
    grid = lab.Grid(
        chunk_size=400,
        mode=("bm25", "dense", "hybrid"),
        analyzer=("auto", "english"),
        model=model,
    )
    run = lab.sweep(corpus, sets, grid, name="retrievers")
    by_kind = run.slices("kind").pivot(index="system", columns="kind", values="recall@5")
    print(by_kind.to_string(float_format="%.3f"))

    # The first question that the best system misses altogether, and where its evidence went.
    recall = run.scores(run.best).column("recall@5")
    print(run.explain(run.query_ids[int(recall.argmin())], run.best))
    print(f"written: {run.write(out)}")


run_script(main)
