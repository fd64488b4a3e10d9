"""BM25, dense or hybrid? Each on every kind of question, and one question explained.

python experiments/compare_retrievers.py [CORPUS SETS]
"""

import sys

import lab

CORPUS, SETS = sys.argv[1:] or ("corpora/devices", "diagnostic_sets/devices")

corpus = lab.read_corpus(CORPUS)
queries = lab.read_diagnostics(SETS, corpus)
grid = lab.Grid(chunk_size=400, mode=("bm25", "dense", "hybrid"), analyzer=("auto", "english"))
result = lab.sweep(corpus, queries, grid, name="retrievers")

print(
    result.slices("kind")
    .pivot(index="system", columns="kind", values="recall@5")
    .to_string(float_format="%.3f")
)

# The first question that the best system misses altogether, and where its evidence went.
recall = result.scores(result.best).column("recall@5")
missed = result.query_ids[int(recall.argmin())]
print(result.explain(missed))
