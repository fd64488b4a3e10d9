"""Does it help to search titles too, and to favour recent documents? Both are read from the
documents' own text here.

python experiments/views_and_features.py [CORPUS SETS] [--out RUN]
"""

import re
from pathlib import Path
from typing import Annotated

import typer

import lab
from lab.cli import run_script


def described(document: lab.Document) -> lab.Document:
    """The document with its first line as title and the latest year that it names, if any."""
    title = document.text.strip().split("\n")[0].lstrip("# ")
    years = re.findall(r"\b(?:19|20)\d\d\b", document.text)
    year = {"year": int(max(years))} if years else {}
    return lab.Document(document.doc_id, document.text, title, year)


def main(
    corpus: Annotated[Path, typer.Argument()] = Path("corpora/devices"),
    sets: Annotated[Path, typer.Argument()] = Path("diagnostic_sets/devices"),
    out: Path = Path("runs/views"),
) -> None:
    """Does it help to search titles too, and to favour recent documents?"""
    documents = lab.Corpus(map(described, lab.read_corpus(corpus)))
    queries = lab.read_diagnostics(sets, documents)
    grid = lab.Grid(
        chunk_strategy="structure",
        views=(["text"], ["text", "title"]),
        features={"year": (0, 0.05, 0.1)},
    )
    run = lab.sweep(documents, queries, grid, name="views")

    shown = ["mode", "views", "features", "recall@5", "precision@3", "ndcg@10"]
    table = run.table()[shown].sort_values("ndcg@10", ascending=False)
    print(table.to_string(index=False, float_format="%.3f"))
    print(f"written: {run.write(out)}")


run_script(main)
