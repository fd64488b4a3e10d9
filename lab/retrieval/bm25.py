"""BM25 as rank-bm25 defines it, compiled to one sparse matrix and scored for all questions at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import rank_bm25
from scipy.sparse import csr_array

from lab.chunking.chunk import Chunking
from lab.retrieval.analyzer import ANALYZERS, Analyzer
from lab.retrieval.config import BM25Config
from lab.retrieval.ranking import NONE, Floats, Ints, Ranking, rank_rows

QUERIES_AT_ONCE = 256


class BM25Lucene(rank_bm25.BM25):  # type: ignore[misc]  # rank-bm25 is untyped
    """rank-bm25's Okapi with the idf of Lucene, ln(1 + (N - df + .5) / (df + .5)), which is never negative
    (Robertson & Zaragoza 2009, as in Kamphuis et al., ECIR 2020, table 1)."""

    def __init__(self, corpus: Sequence[Sequence[str]], k1: float = 1.2, b: float = 0.75) -> None:
        self.k1 = k1
        self.b = b
        super().__init__(corpus)

    def _calc_idf(self, nd: dict[str, int]) -> None:
        for word, freq in nd.items():
            self.idf[word] = math.log(1 + (self.corpus_size - freq + 0.5) / (freq + 0.5))

    get_scores = rank_bm25.BM25Okapi.get_scores
    get_batch_scores = rank_bm25.BM25Okapi.get_batch_scores


VARIANTS: dict[str, type[rank_bm25.BM25]] = {
    "lucene": BM25Lucene,
    "okapi": rank_bm25.BM25Okapi,
    "l": rank_bm25.BM25L,
    "plus": rank_bm25.BM25Plus,
}


@dataclass(frozen=True, eq=False)
class BM25:
    """A compiled index over the chunks that have at least one term.

    `weights` (chunks x terms) holds what one occurrence of a term in a question adds to a chunk's score; `constants`
    what it adds to every chunk (BM25+ gives chunks without the term a share as well). Scores equal rank-bm25's
    `get_scores` over the same terms; chunks without any term count neither in N nor in the average length.
    """

    analyzer: Analyzer
    vocabulary: dict[str, int]
    weights: csr_array
    constants: Floats
    blank: int

    def query_terms(self, texts: Sequence[str]) -> csr_array:
        """Questions x terms: how often each known term stands in a question."""
        rows = [[self.vocabulary[t] for t in self.analyzer(text) if t in self.vocabulary] for text in texts]
        return _counts(rows, len(self.vocabulary))

    def search(self, texts: Sequence[str], depth: int) -> Ranking:
        """The best `depth` chunks that share a term with each question; a question without a known term has none."""
        terms = self.query_terms(texts)
        by_term = self.weights.T.tocsr()
        rows: list[tuple[Ints, Floats]] = []
        for first in range(0, len(texts), QUERIES_AT_ONCE):
            block = terms[first : first + QUERIES_AT_ONCE]
            hits = _product(block, by_term)
            base = block @ self.constants
            for row in range(block.shape[0]):
                part = slice(hits.indptr[row], hits.indptr[row + 1])
                rows.append((hits.indices[part].astype(np.int64), hits.data[part] + base[row]))
        return rank_rows(rows, depth)

    def scores(self, texts: Sequence[str], chunks: Ints) -> Floats:
        """Exact scores of given candidates (questions x candidates, NONE for absent); NaN where no term is shared."""
        terms = self.query_terms(texts)
        found = np.full(chunks.shape, np.nan)
        base = terms @ self.constants
        dense = np.zeros(terms.shape[1])
        for row in range(len(texts)):
            candidates = np.flatnonzero(chunks[row] != NONE)
            part = slice(terms.indptr[row], terms.indptr[row + 1])
            dense[terms.indices[part]] = terms.data[part]
            weights = self.weights[chunks[row, candidates]]
            # Not by weight: Okapi gives a shared term the weight 0 where it stands in half of all chunks.
            held = csr_array((np.ones(weights.nnz), weights.indices, weights.indptr), shape=weights.shape)
            shared = held @ dense > 0
            found[row, candidates] = np.where(shared, weights @ dense + base[row], np.nan)
            dense[terms.indices[part]] = 0
        return found


def build(chunking: Chunking, config: BM25Config) -> BM25:
    """Index the chunks' terms."""
    analyzer = ANALYZERS[config.analyzer]
    return compile_terms([analyzer(text) for text in chunking.texts], config)


def compile_terms(documents: Sequence[Sequence[str]], config: BM25Config) -> BM25:
    """Index given term lists, one a chunk."""
    vocabulary: dict[str, int] = {}
    rows = [[vocabulary.setdefault(term, len(vocabulary)) for term in terms] for terms in documents]
    counts = _counts(rows, len(vocabulary))
    lengths = np.array([len(row) for row in rows], dtype=np.float64)
    indexed = int((lengths > 0).sum())
    average = lengths.sum() / indexed if indexed else 1.0
    variant = VARIANTS[config.variant]
    model = object.__new__(variant)
    model.corpus_size, model.avgdl, model.idf = indexed, average, {}
    model.k1, model.b, model.epsilon = config.k1, config.b, 0.25
    model.delta = 0.5 if config.variant == "l" else 1.0
    if vocabulary:
        # rank-bm25's own idf, from document frequencies we count faster.
        frequency = np.bincount(counts.indices, minlength=len(vocabulary))
        model._calc_idf(dict(zip(vocabulary, frequency.tolist(), strict=True)))
    idf = np.array([model.idf[term] for term in vocabulary])
    length = np.repeat(1 - config.b + config.b * lengths / average, np.diff(counts.indptr))
    weights = csr_array(
        (idf[counts.indices] * _term_weight(config.variant, counts.data, length, model), counts.indices, counts.indptr),
        shape=counts.shape,
    )
    constants = idf * model.delta if config.variant == "plus" and vocabulary else np.zeros(counts.shape[1])
    return BM25(ANALYZERS[config.analyzer], vocabulary, weights, constants, blank=len(documents) - indexed)


def _term_weight(variant: str, f: Floats, length: Floats, model: rank_bm25.BM25) -> Floats:
    """The factor beside the idf for f > 0 occurrences; `length` is 1 - b + b * |d| / average (rank_bm25 `get_scores`)."""
    k1 = model.k1
    if variant == "l":
        c = f / length
        return np.asarray(f * (k1 + 1) * (c + model.delta) / (k1 + c + model.delta))
    return np.asarray(f * (k1 + 1) / (f + k1 * length))


def _counts(rows: Sequence[Sequence[int]], width: int) -> csr_array:
    """Rows x terms: how often each term number stands in a row."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    terms = np.fromiter((term for row in rows for term in row), dtype=np.int64, count=int(lengths.sum()))
    keys, counts = np.unique(np.repeat(np.arange(len(rows)), lengths) * max(width, 1) + terms, return_counts=True)
    row, term = np.divmod(keys, max(width, 1))
    indptr = np.searchsorted(row, np.arange(len(rows) + 1))
    return csr_array((counts.astype(np.float64), term, indptr), shape=(len(rows), max(width, 1)))


def _product(queries: csr_array, by_term: csr_array) -> csr_array:
    """queries @ by_term with an entry for every chunk that shares a term, also where the score is exactly 0 (SciPy
    leaves such sums out; Okapi gives them to terms in half of all chunks)."""
    scores: csr_array = queries @ by_term
    if by_term.nnz and by_term.data.min() > 0:
        return scores
    ones = csr_array((np.ones(by_term.nnz), by_term.indices, by_term.indptr), shape=by_term.shape)
    shared = queries @ ones
    shared.sort_indices()
    scores.sort_indices()
    width = by_term.shape[1]
    places = np.searchsorted(_keys(shared, width), _keys(scores, width))
    data = np.zeros(shared.nnz)
    data[places] = scores.data
    return csr_array((data, shared.indices, shared.indptr), shape=shared.shape)


def _keys(matrix: csr_array, width: int) -> Ints:
    """Row-major position of every entry."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.asarray(rows * width + matrix.indices, dtype=np.int64)
