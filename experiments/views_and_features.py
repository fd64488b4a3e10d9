"""Does it help to search titles too, and to favour recent documents? Both are read from the
documents' own text here.

python experiments/views_and_features.py [CORPUS SETS]
"""

import re
import sys

import lab

CORPUS, SETS = sys.argv[1:] or ("corpora/devices", "diagnostic_sets/devices")


def described(document: lab.Document) -> lab.Document:
    """The document with its first line as title and the latest year that it names, if any."""
    title = document.text.strip().split("\n")[0].lstrip("# ")
    years = re.findall(r"\b(?:19|20)\d\d\b", document.text)
    return lab.Document(
        document.doc_id, document.text, title, {"year": int(max(years))} if years else {}
    )


corpus = lab.Corpus(map(described, lab.read_corpus(CORPUS)))
queries = lab.read_diagnostics(SETS, corpus)
grid = lab.Grid(
    chunk_strategy="structure",
    views=(["text"], ["text", "title"]),
    features={"year": (0, 0.05, 0.1)},
)
result = lab.sweep(corpus, queries, grid, name="views")

shown = ["mode", "views", "features", "recall@5", "precision@3", "ndcg@10"]
print(
    result.table()[shown]
    .sort_values("ndcg@10", ascending=False)
    .to_string(index=False, float_format="%.3f")
)
