"""Do scores tell that the answer is not there? A fixed half of the documents, or of their
paragraphs, is held out: questions whose evidence lay in these alone stay natural questions, but
nothing answers them any more. Without whole documents a topic is gone; without paragraphs the rest
of its document still speaks of it, which is the harder test.

python experiments/unanswerable.py [CORPUS SETS [documents|paragraphs]] [--model MODEL]
"""

import hashlib
import re
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import lab
from lab.cli import run_script


class Unit(StrEnum):
    """What is held out: whole documents, or paragraphs of all of them."""

    documents = "documents"
    paragraphs = "paragraphs"


def paragraphs(document: lab.Document) -> list[lab.Document]:
    """Every paragraph as a document of its own, named by its place: `doc_id:start-end`."""
    spans = [match.span() for match in re.finditer(r"\S(?:.|\n(?!\s*\n))*", document.text)]
    return [
        lab.Document(f"{document.doc_id}:{start}-{end}", document.text[start:end])
        for start, end in spans
    ]


def moved(item: lab.Evidence, parts: dict[str, list[lab.Document]]) -> lab.Evidence | None:
    """The evidence in its paragraph; None where it reaches over several."""
    for part in parts[item.doc_id]:
        start, end = map(int, part.doc_id.rsplit(":", 1)[1].split("-"))
        if start <= item.start and item.end <= end:
            return replace(item, doc_id=part.doc_id, start=item.start - start, end=item.end - start)
    return None


def in_paragraphs(
    corpus: lab.Corpus, queries: list[lab.Query]
) -> tuple[lab.Corpus, list[lab.Query]]:
    parts = {document.doc_id: paragraphs(document) for document in corpus}
    found = [
        replace(query, evidence=tuple(moved(item, parts) for item in query.evidence))
        for query in queries
    ]
    return lab.Corpus(part for several in parts.values() for part in several), [
        q for q in found if None not in q.evidence
    ]


def halved(corpus: lab.Corpus, queries: list[lab.Query]) -> tuple[lab.Corpus, list[lab.Query]]:
    """The half that stays, by a hash of the id, and the questions: those that keep all their
    evidence, and without evidence those that lose all of it."""
    left = lab.Corpus(d for d in corpus if hashlib.sha256(d.doc_id.encode()).digest()[0] % 2)
    held = [(query, {item.doc_id in left for item in query.evidence}) for query in queries]
    return left, [
        query if True in kept else replace(query, evidence=())
        for query, kept in held
        if len(kept) == 1
    ]


def main(
    corpus: Annotated[Path, typer.Argument()] = Path("corpora/devices"),
    sets: Annotated[Path, typer.Argument()] = Path("diagnostic_sets/devices"),
    unit: Annotated[Unit, typer.Argument()] = Unit.documents,
    model: str = "all-MiniLM-L6-v2",
    out: Path = Path("runs/unanswerable"),
) -> None:
    """Do scores tell that the answer is not there?"""
    documents = lab.read_corpus(corpus)
    queries = [query for query in lab.read_diagnostics(sets, documents) if query.evidence]
    spans = any(item.start is not None for query in queries for item in query.evidence)
    if unit is Unit.paragraphs:
        documents, queries = in_paragraphs(documents, queries)
    documents, queries = halved(documents, queries)
    grid = lab.Grid(chunk_strategy="fixed" if spans else "document", rerank_depth=20, model=model)
    run = lab.sweep(documents, queries, grid, name="unanswerable")
    table, effects = run.separation(), run.thresholds()
    mode = dict(zip(run.systems, ("bm25", "dense", "hybrid"), strict=True))
    table["system"] = table["system"].map(mode)
    effects["system"] = effects["system"].map(mode)
    # A leg scores the same whatever is done with it afterwards.
    alone = table[(table["stage"] == "reranker") | (table["stage"] == table["system"])]
    print(f"{corpus}, half of the {unit} held out: {len(documents)} left, {len(queries)} questions")
    print(alone.to_string(index=False, float_format="%.3f"), "\n")
    print(effects.to_string(index=False, float_format="%.3f"))
    print(f"written: {run.write(out)}")


run_script(main)
