"""BM25 as rank-bm25 defines it: its own classes, and Lucene's variant as one more."""

import math
from collections.abc import Sequence

import rank_bm25


class BM25Lucene(rank_bm25.BM25):  # type: ignore[misc]  # rank-bm25 is untyped
    """rank-bm25's Okapi with the idf of Lucene, ln(1 + (N - df + .5) / (df + .5)), which is never
    negative (Robertson & Zaragoza 2009, as in Kamphuis et al., ECIR 2020, table 1)."""

    def __init__(self, corpus: Sequence[Sequence[str]], k1: float = 1.2, b: float = 0.75) -> None:
        self.k1 = k1
        self.b = b
        super().__init__(corpus)

    def _calc_idf(self, nd: dict[str, int]) -> None:
        for word, freq in nd.items():
            self.idf[word] = math.log(1 + (self.corpus_size - freq + 0.5) / (freq + 0.5))

    get_scores = rank_bm25.BM25Okapi.get_scores


VARIANTS: dict[str, type[rank_bm25.BM25]] = {
    "lucene": BM25Lucene,
    "okapi": rank_bm25.BM25Okapi,
    "l": rank_bm25.BM25L,
    "plus": rank_bm25.BM25Plus,
}
