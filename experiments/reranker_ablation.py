"""Is the reranker worth it? The same first stage without it, with it, and blended with the first
stage's own scores.

python experiments/reranker_ablation.py [CORPUS SETS [MODEL]]
MODEL: maxsim, a CrossEncoder's folder or a hub id
"""

import sys

import lab

CORPUS, SETS, MODEL = (
    *sys.argv[1:],
    *("corpora/devices", "diagnostic_sets/devices", "maxsim")[len(sys.argv) - 1 :],
)

corpus = lab.read_corpus(CORPUS)
queries = lab.read_diagnostics(SETS, corpus)
grid = lab.Grid(
    chunk_strategy="structure",
    chunk_size=400,
    mode="hybrid",
    alpha=0.5,
    rerank_model=MODEL,
    rerank_depth=(0, 20),
    blend=(0.3, 0.6, 1.0),
)
result = lab.sweep(corpus, queries, grid, name="reranker")
print(
    result.table()[["rerank_depth", "blend", *result.metrics]].to_string(
        index=False, float_format="%.3f"
    )
)

without = result.scores(result.systems[0]).column("ndcg@10")
for system in result.systems[1:]:
    difference = result.scores(system).column("ndcg@10") - without
    print(
        f"{system}: {(difference > 0).sum()} questions better, {(difference < 0).sum()} worse, "
        f"mean {difference.mean():+.3f}"
    )
