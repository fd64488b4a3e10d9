"""Engines' BM25 and HNSW beside the lab's, over the same chunks and vectors: how alike the first
ten hits are, and what each loses that the other finds, by cause.

python experiments/engine_legs.py [CORPUS SETS] [--out RUN]

Needs the extras tantivy, lancedb, qdrant and chroma.
"""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

import lab
from lab.chunking.config import ChunkConfig
from lab.chunking.strategies import chunk
from lab.cli import run_script
from lab.pipeline.foreign.hits import Hit
from lab.retrieval.encoder import SentenceEncoder
from lab.runs.run import Run

sys.path.insert(0, str(Path(__file__).parent / "retrievers"))

MODEL, SIZE, TOP = "all-MiniLM-L6-v2", 400, 10
# The lab's system that an engine's leg is held against: its mode and analyzer.
OURS = {"lexical": ("bm25", "english"), "dense": ("dense", None)}

Hits = Callable[[Sequence[str], int], Sequence[Sequence[Any]]]


class Leg:
    """One leg of an engine as a system of its own, whose chunks are known."""

    def __init__(self, kind: str, search: Hits, searched: Sequence[Hit]) -> None:
        self.kind, self.hits, self.searched = kind, search, searched

    def search(self, queries: Sequence[str], depth: int) -> list[dict[str, Any]]:
        return [
            {"stages": [{"name": self.kind, "kind": self.kind, "hits": list(hits)[:depth]}]}
            for hits in self.hits(queries, depth)
        ]


def stage(engine: Any, name: str) -> Hits:
    """What a stage of an engine that shows its stages returns."""
    return lambda queries, depth: [
        next(stage["hits"] for stage in reply["stages"] if stage["name"] == name)
        for reply in engine.search(queries, depth)
    ]


def lance_words(engine: Any) -> Hits:
    """LanceDB's full-text search alone."""

    def search(queries: Sequence[str], depth: int) -> list[list[Hit]]:
        rankings = []
        for query in queries:
            rows = engine.table.search(query, query_type="fts").limit(depth).to_list()
            chunks = [engine.chunks[row["number"]] for row in rows]
            rankings.append([Hit(c.doc_id, c.start, c.end) for c in chunks])
        return rankings

    return search


def engines(corpus: lab.Corpus, stack: ExitStack) -> dict[str, Leg]:
    """Every engine's legs over the same chunks and vectors."""
    from chroma_stages import Chroma, server
    from lancedb_hybrid import LanceHybrid
    from qdrant_stages import Qdrant
    from tantivy_bm25 import Tantivy

    encoder = SentenceEncoder(MODEL)
    chunks = chunk(corpus, ChunkConfig(size=SIZE))
    searched = [Hit(c.doc_id, c.start, c.end) for c in chunks]
    qdrant, lance = Qdrant(corpus, encoder, SIZE), LanceHybrid(corpus, encoder, SIZE)
    chroma = Chroma(corpus, encoder, stack.enter_context(server()), SIZE)
    stack.callback(chroma.close)
    legs: dict[str, tuple[str, Hits]] = {
        "tantivy BM25": ("lexical", Tantivy(corpus, SIZE).search),
        "lancedb BM25": ("lexical", lance_words(lance)),
        "qdrant BM25": ("lexical", stage(qdrant, "bm25")),
        "qdrant HNSW": ("dense", stage(qdrant, "hnsw")),
        "chroma HNSW": ("dense", stage(chroma, "hnsw")),
    }
    return {name: Leg(kind, search, searched) for name, (kind, search) in legs.items()}


def ours_of(run: Run, mode: str, analyzer: str | None) -> str:
    """The name of the lab's system of a mode, with an analyzer if it has one."""
    table = run.table()
    rows = table[(table["mode"] == mode)]
    return str(
        rows[rows["analyzer"] == analyzer if analyzer else rows.index >= 0].iloc[0]["system"]
    )


def alike(run: Run, system: str, other: str) -> float:
    """Mean share of one system's first ten hits that the other has among its own."""
    heads = []
    for name in (system, other):
        rows = run.tables.rows("rankings", name)
        top = rows[rows["rank"] <= TOP]
        keys = zip(top["query_id"], top["doc_id"], top["start"], strict=True)
        heads.append(set(map(tuple, keys)))
    return len(heads[0] & heads[1]) / max(len(heads[1]), 1)


def lost(run: Run, system: str, other: str) -> str:
    """What a system misses and the other has, by cause."""
    causes = run.causes()
    missed = {
        name: {
            (row.query_id, row.piece): str(row.cause)
            for row in causes[causes["system"] == name].itertuples()
        }
        for name in (system, other)
    }
    only = Counter(cause for piece, cause in missed[system].items() if piece not in missed[other])
    return ", ".join(f"{cause} {count}" for cause, count in only.most_common()) or "none"


def main(
    corpus: Annotated[Path, typer.Argument()] = Path("corpora/devices"),
    sets: Annotated[Path, typer.Argument()] = Path("diagnostic_sets/devices"),
    out: Path = Path("runs/engine_legs"),
) -> None:
    """How do engines differ from the lab, and why?"""
    documents = lab.read_corpus(corpus)
    with ExitStack() as stack:
        legs = engines(documents, stack)
        grid = lab.Grid(
            chunk_size=SIZE, mode=("bm25", "dense"), analyzer=("auto", "english"), model=MODEL
        )
        run = lab.sweep(documents, sets, grid, name="engine_legs", retrievers=legs)
    table = run.table().set_index("system")
    print("| system | recall@5 | ndcg@10 | top 10 as ours | loses, ours has | finds, ours loses |")
    print("|---|---|---|---|---|---|")
    held = {kind: ours_of(run, *which) for kind, which in OURS.items()}
    for system in (*held.values(), *legs):
        ours = held[legs[system].kind] if system in legs else system
        shared = "" if ours == system else f"{alike(run, system, ours):.3f}"
        both = ("", "") if ours == system else (lost(run, system, ours), lost(run, ours, system))
        recall, ndcg = table.loc[system, "recall@5"], table.loc[system, "ndcg@10"]
        print(f"| {system} | {recall:.3f} | {ndcg:.3f} | {shared} | {both[0]} | {both[1]} |")
    print(f"written: {run.write(out)}")


if __name__ == "__main__":
    run_script(main)
