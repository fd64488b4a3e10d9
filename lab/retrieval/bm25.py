"""BM25 as rank-bm25 defines it, compiled to one sparse matrix and scored for all questions at
once."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from lab.arrays import Floats, Ints
from lab.chunking.chunk import Chunking
from lab.retrieval.analyzer import ANALYZERS, Analyzer
from lab.retrieval.bm25_formulas import DELTA, IDF, TermWeight
from lab.retrieval.config import BM25Config, Variant
from lab.retrieval.postings import scores_of, search
from lab.retrieval.ranking import Ranking
from lab.retrieval.search_terms import SearchTerms, counted


@dataclass(frozen=True, eq=False)
class Runs:
    """Texts as runs without white space: `counts` (texts x runs) says how often each of the
    `distinct` ones stands in a text. Every analyzer starts from them."""

    distinct: list[str]
    counts: csr_array


@dataclass(frozen=True, eq=False)
class TermCounts:
    """What every variant of BM25 is made from: `counts` (terms x chunks) says how often a term
    stands in a chunk, `lengths` how many terms a chunk has, `terms` which row a term is."""

    terms: SearchTerms
    counts: csr_array
    lengths: Ints

    @staticmethod
    def of(terms: SearchTerms, by_text: csr_array) -> "TermCounts":
        """From counts of texts x terms."""
        lengths = np.asarray(by_text.sum(axis=1), dtype=np.int64)
        return TermCounts(terms, by_text.T.tocsr(), lengths)

    @property
    def indexed(self) -> int:
        """Chunks that have a term."""
        return int((self.lengths > 0).sum())

    @property
    def frequency(self) -> Ints:
        """In how many chunks each term stands."""
        return np.diff(self.counts.indptr)

    def idf(self, variant: Variant) -> Floats:
        """Over the terms; computed once, for k1 and b do not change it."""
        if variant not in self._idf:
            self._idf[variant] = IDF[variant](self.indexed, self.frequency)
        return self._idf[variant]

    @cached_property
    def _idf(self) -> dict[Variant, Floats]:
        return {}


@dataclass(frozen=True, eq=False)
class BM25:
    """A compiled index over the chunks that have at least one term.

    `postings` (terms x chunks) holds what one occurrence of a term in a question adds to a chunk's
    score; `constants` what it adds to every chunk (BM25+ gives chunks without the term a share as
    well); `idf` is over the terms, and `term_weight` the factor beside it. Scores equal rank-bm25's
    `get_scores` over the same terms; chunks without any term count neither in N nor in the average
    length.
    """

    terms: SearchTerms
    postings: csr_array
    constants: Floats
    blank: int
    idf: Floats
    term_weight: TermWeight

    @property
    def analyzer(self) -> Analyzer:
        return self.terms.analyzer

    @property
    def vocabulary(self) -> dict[str, int]:
        return self.terms.vocabulary

    @property
    def size(self) -> int:
        """Bytes of the compiled matrix."""
        return int(
            self.postings.data.nbytes + self.postings.indices.nbytes + self.postings.indptr.nbytes
        )

    @cached_property
    def _by_chunk(self) -> csc_array:
        return self.postings.tocsc()

    def only(self, chunks: Ints) -> "BM25":
        """The index of some chunks (ascending), which are numbered anew; what a term weighs stays
        as it was among all."""
        return replace(self, postings=self._by_chunk[:, chunks].tocsr())

    def search(self, texts: Sequence[str], depth: int) -> Ranking:
        """The best `depth` chunks that share a term with each question; a question without a known
        term has none."""
        return search(self.terms.counts(texts), self.postings, self.constants, depth)

    def scores(self, texts: Sequence[str], chunks: Ints) -> Floats:
        """Exact scores of given candidates (questions x candidates, NONE for absent); NaN where no
        term is shared."""
        return scores_of(self.terms.counts(texts), self.postings, self.constants, chunks)

    def scores_of_new(self, questions: Sequence[str], texts: Sequence[str]) -> Floats:
        """Score of texts[i] for questions[i] as if it were one more chunk, the index's statistics
        staying as they are; NaN where no term is shared."""
        pairs = [self.terms.shared(*pair) for pair in zip(questions, texts, strict=True)]
        sharing = np.array([len(pair.terms) for pair in pairs], dtype=np.int64)
        held = np.repeat([pair.length for pair in pairs], sharing)
        terms = np.concatenate([pair.terms for pair in pairs])
        f = np.concatenate([pair.occurrences for pair in pairs])
        weights = _sums(self.idf[terms] * self.term_weight.of(f, held), sharing)
        asked = np.array([len(pair.asked) for pair in pairs], dtype=np.int64)
        everywhere = _sums(self.constants[np.concatenate([pair.asked for pair in pairs])], asked)
        return np.where(sharing > 0, weights + everywhere, np.nan)


def _sums(values: Floats, lengths: Ints) -> Floats:
    """Sums of consecutive parts of these lengths."""
    sums = np.zeros(len(lengths))
    starts = np.cumsum(lengths) - lengths
    if len(values):
        sums[lengths > 0] = np.add.reduceat(values, starts[lengths > 0])
    return sums


def build(chunking: Chunking, config: BM25Config) -> BM25:
    """Index the chunks' terms."""
    return compile_counts(
        count_terms(count_runs(chunking.texts), ANALYZERS[config.analyzer]), config
    )


def count_runs(texts: Iterable[str]) -> Runs:
    """Split every text at white space."""

    class Numbers(dict[str, int]):
        """Numbers of runs in the order of their first appearance."""

        def __missing__(self, run: str) -> int:
            self[run] = number = len(self)
            return number

    numbers = Numbers()
    find = numbers.__getitem__
    counts = counted((map(find, text.split()) for text in texts), numbers)
    return Runs(list(numbers), counts)


def count_terms(runs: Runs, analyzer: Analyzer) -> TermCounts:
    """Analyse every distinct run once. No term crosses white space, so a text's terms are those of
    its runs."""
    met: dict[str, int] = {}
    number = met.setdefault
    analysis = counted(
        ([number(term, len(met)) for term in analyzer.terms(run)] for run in runs.distinct), met
    )
    vocabulary, place = alphabetical(met)
    columns = place[analysis.indices]
    analysis = csr_array((analysis.data, columns, analysis.indptr), shape=analysis.shape)
    return TermCounts.of(SearchTerms(analyzer, vocabulary), runs.counts @ analysis)


def alphabetical(met: Collection[str]) -> tuple[dict[str, int], NDArray[np.int32]]:
    """Terms (their numbers are their places in `met`) numbered anew in the order of their letters,
    and the new number of each: a score adds up in this order, so that it has the same bits in
    whatever order texts were indexed."""
    vocabulary = {term: number for number, term in enumerate(sorted(met))}
    return vocabulary, np.fromiter((vocabulary[term] for term in met), np.int32, len(met))


def compile_terms(documents: Sequence[Sequence[str]], config: BM25Config) -> BM25:
    """Index given term lists, one a chunk."""
    vocabulary: dict[str, int] = {}
    for term in chain.from_iterable(documents):
        vocabulary.setdefault(term, len(vocabulary))
    counts = counted((map(vocabulary.__getitem__, terms) for terms in documents), vocabulary)
    terms = SearchTerms(ANALYZERS[config.analyzer], vocabulary)
    return compile_counts(TermCounts.of(terms, counts), config)


def compile_counts(
    term_counts: TermCounts,
    config: BM25Config,
    idf: Floats | None = None,
    average: float | None = None,
) -> BM25:
    """Weigh the counts by the variant's formula. `idf` (of the terms) and `average` length are
    those of a larger whole that these texts are a part of, by default their own."""
    counts, lengths = term_counts.counts, term_counts.lengths.astype(np.float64)
    indexed = term_counts.indexed
    idf = term_counts.idf(config.variant) if idf is None else idf
    if average is None:
        average = lengths.sum() / indexed if indexed else 1.0
    term_weight = TermWeight(config.variant, config.k1, config.b, average)
    weights = np.repeat(idf, term_counts.frequency) * term_weight.of(
        counts.data.astype(np.float64), lengths[counts.indices]
    )
    postings = csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)
    constants = idf * DELTA["plus"] if config.variant == "plus" else np.zeros(len(idf))
    return BM25(
        term_counts.terms,
        postings,
        constants,
        blank=len(lengths) - indexed,
        idf=idf,
        term_weight=term_weight,
    )
