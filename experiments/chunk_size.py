"""Which chunks? Sizes and strategies, with recall at an equal token budget, the fair comparison
between sizes.

python experiments/chunk_size.py [CORPUS SETS]
"""

import sys

import lab

CORPUS, SETS = sys.argv[1:] or ("corpora/software", "diagnostic_sets/software")

corpus = lab.read_corpus(CORPUS)
queries = lab.read_diagnostics(SETS, corpus)
grid = lab.Grid(
    chunk_strategy=("fixed", "sentences", "structure"), chunk_size=(200, 400, 800), mode="bm25"
)
metrics = ("recall@5", "recall@1000tok", "pieces_needed", "context_tokens@5")
result = lab.sweep(
    corpus, queries, grid, lab.Measure(metrics=metrics, select_by="recall@1000tok"), name="chunks"
)

# recall@5 favours large chunks, for five of them are more text; recall@1000tok gives every system
# the same room.
print(
    result.table()[["chunk_strategy", "chunk_size", *metrics]].to_string(
        index=False, float_format="%.3f"
    )
)
