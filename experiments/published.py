"""Every figure of two tables of experiments/README.md, made anew.

python experiments/published.py views SHARED        Views, features, thresholds
python experiments/published.py query-side SHARED   Synonyms, variants, filters

SHARED is a folder with bench/ and data/. Prints a row a figure: Recall@5, Precision@3, NDCG@10.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import lab
from lab.cli import run_script
from lab.sets.audit.foreign import read_foreign

METRICS = ("recall@5", "precision@3", "ndcg@10")
GENERAL = Path(__file__).parent / "query_side" / "general.txt"


def show(name: str, corpus: lab.Corpus, queries: Sequence[lab.Query], **grid: Any) -> None:
    """Sweep one grid and print a line a system, with its interval against the first."""
    run = lab.sweep(corpus, queries, lab.Grid(**grid), list(METRICS), name=name, progress=False)
    print(f"\n{name}: {len(run.query_ids)} questions")
    first = run.systems[0]
    for system in run.systems:
        row = run.tables.systems.set_index("system").loc[system]
        gap = ""
        if system != first:
            pair = run.paired(system, first)
            place = run.metrics.index("ndcg@10")
            gap = (
                f"  ndcg@10 {pair.difference[place]:+.3f} [{pair.low[place]:+.3f}, "
                f"{pair.high[place]:+.3f}] {pair.verdicts[place]}"
            )
        figures = "  ".join(f"{row[metric]:.3f}" for metric in METRICS)
        print(f"  {run.labels[system]:40}  {figures}{gap}", flush=True)


def spans(shared: Path, name: str) -> tuple[lab.Corpus, list[lab.Query]]:
    folder = shared / "bench" / "spans" / name
    corpus = lab.read_corpus(folder)
    return corpus, list(lab.read_diagnostics(folder, corpus))


def cacm(shared: Path) -> tuple[lab.Corpus, list[lab.Query]]:
    """CACM as `lab import` reads it; `published` is the month of the issue, `links` how many other
    documents cite or are cited (code 5 of the .X field, both columns)."""
    folder = shared / "data" / "cacm"
    read = read_foreign([folder / "cacm.all", folder / "query.text", folder / "cacm.qrels"])
    return lab.Corpus(map(described, read.corpus)), list(read.queries)


def described(document: lab.Document) -> lab.Document:
    month, year = re.findall(r"(\w+)[\s,]+(\d{4})", str(document.metadata["source"]))[0]
    number = datetime.strptime(month.capitalize(), "%B").month
    rows = (row.split() for row in str(document.metadata.get("links", "")).splitlines())
    cited = {row[0] for row in rows if row[1:2] == ["5"]} - {document.doc_id}
    metadata = {"published": f"{year}-{number:02d}", "links": len(cited)}
    return replace(document, metadata=metadata)


def titled(queries: Iterable[lab.Query], shared: Path) -> list[lab.Query]:
    """CACM's questions with their line of title.query as variant."""
    text = (shared / "data" / "cacm" / "title.query").read_text("utf-8")
    titles = {str(int(number)): title for number, title in re.findall(r"(?m)^(\d+) (.+)$", text)}
    return [replace(query, variants=(titles[query.query_id].strip(),)) for query in queries]


def views(shared: Path) -> None:
    both = (["text"], ["text", "title"])
    corpus, queries = spans(shared, "xquad-en")
    show("XQuAD-en, fixed-400", corpus, queries, mode=("bm25", "dense", "hybrid"), alpha=0.5,
         chunk_size=400, views=both)  # fmt: skip
    folder = shared / "bench" / "beir" / "scifact"
    corpus = lab.read_corpus(folder)
    queries = list(lab.read_diagnostics(folder, corpus))
    english: dict[str, Any] = {
        "mode": "bm25", "chunk_strategy": "document", "analyzer": "english",
    }  # fmt: skip
    show("SciFact, abstracts", corpus, queries, views=both, **english)
    corpus, queries = cacm(shared)
    show("CACM", corpus, queries, views=both, **english)
    for features in ({"published": (0, 0.2)}, {"published": 0.2, "links": (0, 0.1)}):
        name = f"CACM, text+title, {features}"
        show(name, corpus, queries, views=(["text", "title"],), features=features, **english)
    corpus = lab.read_corpus("corpora/devices")
    queries = list(lab.read_diagnostics("diagnostic_sets/devices", corpus))
    show("devices, structure-400 hybrid 0.6, 20 reranked", corpus, queries, chunk_size=400,
         mode="hybrid", chunk_strategy="structure", alpha=0.6, rerank_depth=20, blend=0.3,
         threshold=(None, 0.4, 0.5))  # fmt: skip


def query_side(shared: Path) -> None:
    corpus, queries = spans(shared, "policyqa")
    corpus = lab.Corpus(replace(one, metadata={"site": one.title}) for one in corpus)
    asked = [
        replace(query, filter={"site": corpus[query.evidence[0].doc_id].title})
        for query in queries
    ]  # fmt: skip
    show("PolicyQA, fixed-400, each question of its site", corpus, asked, mode="bm25",
         chunk_size=400, filter=(False, True))  # fmt: skip
    corpus, queries = cacm(shared)
    show("CACM with title.query as variants", corpus, titled(queries, shared), mode="bm25",
         chunk_strategy="document", analyzer="english", views=(["text", "title"],),
         variants=(False, True))  # fmt: skip
    corpus = lab.read_corpus("corpora/devices")
    queries = list(lab.read_diagnostics("diagnostic_sets/devices", corpus))
    show("devices, structure-400, 26 general rules", corpus, queries, mode="bm25",
         chunk_strategy="structure", chunk_size=400, analyzer="english",
         synonyms=("", str(GENERAL)))  # fmt: skip


TABLES = {"views": views, "query-side": query_side}


def main(
    table: Annotated[Literal["views", "query-side"], typer.Argument(help="Which table.")],
    shared: Annotated[Path, typer.Argument(help="Folder with bench/ and data/.")],
) -> None:
    """Make the figures of a table of experiments/README.md anew."""
    TABLES[table](shared)


run_script(main)
