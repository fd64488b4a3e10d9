"""Three BM25 systems with context-grid, in the environment of the peers; its sizes are tokens,
about four characters each.

Usage: peer_grid.py CORPUS QUESTIONS.jsonl
"""

import sys

import contextgrid as cg

grid = cg.Lab(corpus=sys.argv[1])
grid.grid(chunker=["fixed:64", "fixed:128", "fixed:256"], index=["bm25"])
print(grid.run(cg.read_jsonl(sys.argv[2]), headline="recall@5").summary("recall@5"))
