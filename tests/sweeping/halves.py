"""A planted world of two halves: questions by identifier, which the encoder misleads, and
paraphrases, which the words mislead; no alpha serves both."""

from collections.abc import Sequence

import numpy as np

from lab.relevance.query import Evidence, Query
from tests.given import GivenEncoder

LINE, LINES, WORDS = 60, 10, 40


def world(documents: int, seed: int = 0) -> tuple[dict[str, str], list[Query], GivenEncoder]:
    """Documents of ten lines of 60 characters, each a chunk: a code of its own and five words of
    40. Six questions a document, three of each half, whose evidence is one line.

    A question by identifier names its line's code and two words of another line, and has the vector
    of that other line: its own leads below an alpha of about 0.2. A paraphrase has the vector of
    its line and three words of another: its own leads above about 0.6.
    """
    draw = np.random.default_rng(seed)
    vocabulary = np.array(
        [f"{a}{b}" for a in "bdfghklm" for b in ("ano", "elu", "iro", "osa", "u")]
    )
    vectors: dict[str, Sequence[float]] = {}
    lines = []
    for number in range(documents * LINES):
        words = draw.choice(vocabulary, 5, replace=False).tolist()
        line = f"K{1000 + number} {' '.join(words)}".ljust(LINE - 1, ".") + "\n"
        vectors[line.strip()] = vectors[line] = unit(draw)
        lines.append((line, words))
    texts = {
        f"d{d:02d}": "".join(line for line, _ in lines[d * LINES : (d + 1) * LINES])
        for d in range(documents)
    }
    queries = []
    for d in range(documents):
        for place in range(6):
            own, other = d * LINES + place, int(draw.integers(documents * LINES))
            by_code = place < 3
            asked = [f"K{1000 + own}", *lines[other][1][:2]] if by_code else lines[other][1][:3]
            text = " ".join(asked)
            vectors[text] = vectors[lines[other if by_code else own][0]]
            evidence = (Evidence(f"d{d:02d}", place * LINE, place * LINE + LINE - 1),)
            kind = "exact_id" if by_code else "semantic"
            queries.append(Query(f"q{d:02d}-{place}", text, kind=kind, evidence=evidence))
    return texts, queries, GivenEncoder(vectors)


def unit(draw: np.random.Generator) -> list[float]:
    vector = draw.normal(size=16)
    return (vector / np.linalg.norm(vector)).tolist()
