"""Writes one run folder over given vectors, its input shuffled by a seed: `write_run.py FOLDER
SEED`."""

import random
import sys
from pathlib import Path

import lab
from lab.corpus.document import Corpus, Document
from lab.relevance.query import Evidence, Query
from tests.given import GivenEncoder, GivenReranker


def main(folder: Path, seed: int) -> None:
    draw = random.Random(seed)
    documents = [
        Document(f"d{i:02}", f"pump {i % 5} seal {i % 3}. Valve ERR-{i % 7}. 水泵漏水 spare part.")
        for i in range(30)
    ]
    queries = [
        Query(
            f"q{i}",
            f"seal {i % 3} ERR-{i}",
            "keyword" if i % 2 else "exact_id",
            evidence=(Evidence(f"d{i:02}", 0, 14),),
        )
        for i in range(8)
    ]
    draw.shuffle(documents)
    draw.shuffle(queries)
    grid = lab.Grid(
        chunk_size=(20, (15, 40)),
        mode=("bm25", "dense", "hybrid"),
        alpha=(0.0, 0.3, 1.0),
        deliver=("chunk", "window(1)"),
        rerank_model="stub",
        rerank_depth=(0, 5),
    )
    result = lab.sweep(
        Corpus(documents),
        queries,
        grid,
        lab.Measure(metrics=("recall@5", "precision@3", "ndcg@10", "mrr", "recall@50tok")),
        cache=Path(":memory:"),
        encoders={"all-MiniLM-L6-v2": GivenEncoder()},
        rerankers={"stub": GivenReranker({})},
    )
    result.write(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
