"""The table of model shapes: what the lab gives for each beside sentence-transformers itself.

python -m tests.retrieval.shape_table
"""

import tempfile
from pathlib import Path

import numpy as np

from lab.retrieval.dense import index
from lab.retrieval.encoder import SentenceEncoder
from lab.retrieval.similarity import prepared
from tests.retrieval.shapes import tiny
from tests.retrieval.test_encoder import SHAPES, TEXTS, expected

QUESTIONS = ["the pump", "hot water", "red fuse seal", "the valve of the motor"]


def row(name: str, folder: Path) -> str:
    """One shape: the length read, the prompts of both roles, the similarity, the least cosine to
    `model.encode`, and whether rankings are those of `model.similarity`."""
    tiny(folder, **SHAPES[name])
    encoder = SentenceEncoder(str(folder), device="cpu")
    roles = ("query", QUESTIONS), ("passage", TEXTS)
    ours = {role: encoder.encode(texts, role, lambda done: None) for role, texts in roles}
    own = {role: np.stack([expected(encoder, t, role) for t in texts]) for role, texts in roles}
    cosine = min(
        float((a @ b) / np.linalg.norm(a) / np.linalg.norm(b))
        for role in own
        for a, b in zip(ours[role].astype(float), own[role].astype(float), strict=True)
    )
    similar = encoder.model.similarity(own["query"], own["passage"]).numpy()
    built = index(ours["passage"], "exact", encoder.similarity)
    found = built.search(prepared(ours["query"], encoder.similarity), len(TEXTS))
    alike = all(
        np.allclose(similar[q][found.hits(q)], np.sort(similar[q])[::-1], atol=1e-5)
        for q in range(len(QUESTIONS))
    )
    prompts = " / ".join(encoder.prompts.name(role) or "none" for role, _ in roles)
    length = encoder.max_tokens + 2
    told = "yes" if alike else "NO"
    return f"| {name} | {length} | {prompts} | {encoder.similarity} | {cosine:.7f} | {told} |"


def table() -> str:
    """All shapes as Markdown."""
    lines = [
        "| shape | tokens read | prompts of question / passage | similarity | least cosine to "
        "`model.encode` | ranked as `model.similarity` |",
        "|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        lines += [row(name, Path(folder) / str(i)) for i, name in enumerate(SHAPES)]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
