"""What each diagnostic set separates: Recall@5 by kind for BM25 and dense, fixed and structure
chunks of 400 characters.

The corpora's READMEs show this table. Run it from the project's root: python
experiments/separation.py [corpus ...] The Chinese handbook needs a multilingual model: set
LAB_MULTILINGUAL to the folder of multilingual-e5-small.
"""

import os
from typing import Annotated

import typer

import lab
from lab.cli import run_script
from lab.errors import ConfigError
from lab.sets.audit.wording import shared_words

MODELS = {
    "contracts": "all-MiniLM-L6-v2",
    "devices": "all-MiniLM-L6-v2",
    "software": "all-MiniLM-L6-v2",
}
if multilingual := os.environ.get("LAB_MULTILINGUAL"):
    MODELS["handbook-zh"] = multilingual


def separation(name: str, model: str) -> None:
    corpus = lab.read_corpus(f"corpora/{name}")
    queries = lab.read_diagnostics(f"diagnostic_sets/{name}", corpus)
    grid = lab.Grid(chunk_strategy=("fixed", "structure"), mode=("bm25", "dense"), model=model)
    result = lab.sweep(
        corpus, queries, grid, lab.Measure(metrics=("recall@5",), select_by="recall@5"), name=name
    )
    systems = {
        system.removesuffix(" " + os.path.basename(model)): system for system in result.systems
    }
    table = result.slices("kind").pivot(index="kind", columns="system", values="recall@5")[
        list(systems.values())
    ]
    table.columns = list(systems)
    shares = {query.query_id: shared_words(query, corpus) for query in queries}
    for kind in table.index:
        known = [
            share
            for query in queries
            if query.kind == kind and (share := shares[query.query_id]) is not None
        ]
        table.loc[kind, "shared words"], table.loc[kind, "most"] = (
            sum(known) / len(known),
            max(known),
        )
    print(
        f"{name}: {len(corpus)} documents, {corpus.characters} characters, {len(queries)} "
        f"questions, {model}"
    )
    print(f"fingerprint {corpus.fingerprint}\n{table.to_string(float_format='{:.3f}'.format)}\n")


def main(corpora: Annotated[list[str] | None, typer.Argument()] = None) -> None:
    """What each diagnostic set separates."""
    unknown = [name for name in corpora or () if name not in MODELS]
    if unknown:
        raise ConfigError(
            f"no corpus '{name}' here; known: {', '.join(MODELS)}" for name in unknown
        )
    for name in corpora or MODELS:
        separation(name, MODELS[name])


run_script(main)
