"""How much dense, how much BM25? Eleven alphas over one corpus, for all questions and for each
kind.

python experiments/alpha_sweep.py [CORPUS SETS]
"""

import sys

import lab

CORPUS, SETS = sys.argv[1:] or ("corpora/contracts", "diagnostic_sets/contracts")

corpus = lab.read_corpus(CORPUS)
queries = lab.read_diagnostics(SETS, corpus)
grid = lab.Grid(
    chunk_strategy="structure",
    chunk_size=400,
    mode="hybrid",
    alpha={"start": 0.0, "stop": 1.0, "step": 0.1},
)
result = lab.sweep(corpus, queries, grid, name="alpha")

# alpha is the weight of the dense leg: 0 is BM25 alone, 1 dense alone.
print(result.table()[["alpha", *result.metrics]].to_string(index=False, float_format="%.3f"))

by_kind = result.slices("kind").merge(result.table()[["system", "alpha"]], on="system")
print(by_kind.pivot(index="alpha", columns="kind", values="ndcg@10").to_string(float_format="%.3f"))
