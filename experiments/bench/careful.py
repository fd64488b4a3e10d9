"""What a careful user writes by hand: rank_bm25, faiss and ranx, each stage once per chunk size. 33
systems on chroma.

Usage: careful.py DATA VECTORS.npz
"""

import sys
from pathlib import Path

import faiss
import numpy as np
from rank_bm25 import BM25Okapi
from ranx import Qrels, Run, evaluate

import lab
from lab.retrieval.analyzer import ANALYZERS

DEPTH = 100


def scaled(scores: dict[str, float]) -> dict[str, float]:
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return {
        chunk: (score - low) / (high - low) if high > low else 1.0
        for chunk, score in scores.items()
    }


def main(data: Path, vectors: Path) -> None:
    corpus = lab.read_corpus(data / "spans/chroma")
    queries = lab.read_diagnostics(data / "spans/chroma", corpus)
    stored, analyze = np.load(vectors), ANALYZERS["auto"]
    for size in (256, 512, 1024):
        chunks = [
            (d.doc_id, s, min(s + size, len(d.text)))
            for d in corpus
            for s in range(0, len(d.text), size)
        ]
        chunks = [(d, s, e) for d, s, e in chunks if corpus[d].text[s:e].strip()]
        ids = [f"{d}:{s}-{e}" for d, s, e in chunks]
        bm25 = BM25Okapi([analyze(corpus[d].text[s:e]) for d, s, e in chunks], k1=1.2)
        index = faiss.IndexFlatIP(stored[f"chunks-{size}"].shape[1])
        index.add(stored[f"chunks-{size}"])
        near, found = index.search(stored["questions"], DEPTH)
        qrels, legs = {}, []
        for place, query in enumerate(queries):
            qrels[query.query_id] = {
                name: 1
                for name, (d, s, e) in zip(ids, chunks, strict=True)
                if any(i.doc_id == d and min(e, i.end) > max(s, i.start) for i in query.evidence)
            }
            scores = bm25.get_scores(analyze(query.text))
            best = np.argsort(-scores)[:DEPTH]
            lexical = {ids[i]: float(scores[i]) for i in best if scores[i] > 0}
            legs.append(
                (
                    scaled(lexical),
                    scaled(
                        {ids[i]: float(v) for i, v in zip(found[place], near[place], strict=True)}
                    ),
                )
            )
        for step in range(11):
            alpha, run = step / 10, {}
            for query, (lexical, dense) in zip(queries, legs, strict=True):
                fused = {
                    c: alpha * dense.get(c, 0.0) + (1 - alpha) * lexical.get(c, 0.0)
                    for c in lexical.keys() | dense.keys()
                }
                run[query.query_id] = dict(
                    sorted(fused.items(), key=lambda item: (-item[1], item[0]))[:DEPTH]
                )
            print(
                size,
                alpha,
                evaluate(Qrels(qrels), Run(run), ["recall@5", "precision@3", "ndcg@10"]),
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
