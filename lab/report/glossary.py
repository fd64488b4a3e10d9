"""What the words of a report mean, for a reader who has never seen one."""

import re
from collections.abc import Mapping

MEANINGS: Mapping[str, str] = {
    "95% interval": "if the questions were drawn again, the true value would lie in such an "
    "interval 19 times in 20",
    "alpha": "the weight of the dense leg in a hybrid: 0 is BM25 alone, 1 the dense model alone",
    "baseline": "what the recommended system is compared with: the best BM25 system without a "
    "reranker",
    "beyond chance": "so unlikely if both were equally good that chance is ruled out at the 5% "
    "level",
    "bm25": "search by shared words; rare words count more",
    "cannot be settled": "no answers to these questions could have told the two systems apart: "
    "too few questions differ",
    "chunk": "a piece into which documents are cut; what search finds and hands over",
    "dense": "search by meaning: question and chunk are turned into vectors by a model",
    "evidence": "the characters of a document that answer a question, marked by a person",
    "fixed": "documents cut every so many characters",
    "hybrid": "BM25 and dense search together, weighted by alpha",
    "ndcg@10": "how high the evidence stands among the first ten hits: 1 is perfect order",
    "optimism": "by how much the best of many looks better than it is, because it was chosen by "
    "these very questions",
    "outranked": "the evidence was among the candidates, but other chunks came before it",
    "precision@3": "the share of the first three hits that hold evidence",
    "recall@5": "the share of a question's evidence that is complete within the first five hits",
    "rerank": "a second, slower model that puts the first hits into a new order",
    "structure": "documents cut at headings, paragraphs and list items",
    "undecided": "the difference could be chance",
    "verified": "proved: with only that stage changed and run again, the evidence comes back",
}
TERMS = "|".join(sorted(map(re.escape, MEANINGS), key=len, reverse=True))
WORDS = re.compile(rf"(?<![\w@-])({TERMS})(?![\w@])")


class Glossary:
    """The words of one page: each term is explained where it stands first."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def parts(self, text: str) -> list[tuple[str, str]]:
        """A text as stretches, each with the meaning of the term that it is, or with an empty one
        where it is none or was explained before."""
        stretches: list[tuple[str, str]] = []
        at = 0
        for match in WORDS.finditer(text):
            if match[0] in self._told:
                continue
            self._told.add(match[0])
            stretches += [(text[at : match.start()], ""), (match[0], MEANINGS[match[0]])]
            at = match.end()
        return [part for part in [*stretches, (text[at:], "")] if part[0]]
