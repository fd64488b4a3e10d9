"""BM25 as rank-bm25 defines it, compiled to one sparse matrix and scored for all questions at
once."""

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from lab.arrays import Floats, Ints
from lab.chunking.chunk import Chunking
from lab.retrieval.analyzer import ANALYZERS, Analyzer
from lab.retrieval.bm25_formulas import DELTA, IDF, TermWeight
from lab.retrieval.config import BM25Config
from lab.retrieval.postings import scores_of, search
from lab.retrieval.ranking import Ranking
from lab.retrieval.synonyms import Expansion


@dataclass(frozen=True, eq=False)
class Runs:
    """Texts as runs without white space: `counts` (texts x runs) says how often each of the
    `distinct` ones stands in a text. Every analyzer starts from them."""

    distinct: list[str]
    counts: csr_array


@dataclass(frozen=True, eq=False)
class TermCounts:
    """What every variant of BM25 is made from: `counts` (terms x chunks) says how often a term
    stands in a chunk, `lengths` how many terms a chunk has, `vocabulary` which row a term is."""

    vocabulary: dict[str, int]
    counts: csr_array
    lengths: Ints

    @staticmethod
    def of(vocabulary: dict[str, int], by_text: csr_array) -> "TermCounts":
        """From counts of texts x terms."""
        lengths = np.asarray(by_text.sum(axis=1), dtype=np.int64)
        return TermCounts(vocabulary, by_text.T.tocsr(), lengths)


@dataclass(frozen=True, eq=False)
class BM25:
    """A compiled index over the chunks that have at least one term.

    `postings` (terms x chunks) holds what one occurrence of a term in a question adds to a chunk's
    score; `constants` what it adds to every chunk (BM25+ gives chunks without the term a share as
    well); `idf` is over the terms, and `term_weight` the factor beside it. Scores equal rank-bm25's
    `get_scores` over the same terms; chunks without any term count neither in N nor in the average
    length. `synonyms` change the terms of questions, never what is indexed.
    """

    analyzer: Analyzer
    vocabulary: dict[str, int]
    postings: csr_array
    constants: Floats
    blank: int
    idf: Floats
    term_weight: TermWeight
    synonyms: Expansion | None = None

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

    def terms(self, question: str) -> list[str]:
        """What is searched for a question: its terms and those of its synonyms, known to the index
        or not."""
        terms = self.analyzer(question)
        return terms if self.synonyms is None else self.synonyms(terms)

    def query_terms(self, texts: Sequence[str]) -> csr_array:
        """Questions x terms: how often each known term is searched for a question."""
        find, known = self.vocabulary.get, self._known
        rows: Iterable[Iterable[int]]
        if self.synonyms is None:
            rows = (chain.from_iterable(map(known, text.split())) for text in texts)
        else:  # rules reach over white space
            rows = (
                [n for term in self.terms(text) if (n := find(term)) is not None] for text in texts
            )
        return _counts(rows, self.vocabulary).astype(np.float64)

    @cached_property
    def _known(self) -> Callable[[str], tuple[int, ...]]:
        """The numbers of a run's known terms; a sweep asks the same questions again and again."""
        terms, find = self.analyzer.terms, self.vocabulary.get
        return lru_cache(maxsize=2**16)(
            lambda run: tuple(n for term in terms(run) if (n := find(term)) is not None)
        )

    def search(self, texts: Sequence[str], depth: int) -> Ranking:
        """The best `depth` chunks that share a term with each question; a question without a known
        term has none."""
        return search(self.query_terms(texts), self.postings, self.constants, depth)

    def scores(self, texts: Sequence[str], chunks: Ints) -> Floats:
        """Exact scores of given candidates (questions x candidates, NONE for absent); NaN where no
        term is shared."""
        return scores_of(self.query_terms(texts), self.postings, self.constants, chunks)

    def scores_of_new(self, questions: Sequence[str], texts: Sequence[str]) -> Floats:
        """Score of texts[i] for questions[i] as if it were one more chunk, the index's statistics
        staying as they are; NaN where no term is shared."""
        scores = np.full(len(texts), np.nan)
        for place, (question, text) in enumerate(zip(questions, texts, strict=True)):
            terms = self.analyzer(text)
            occurrences = Counter(terms)
            asked = [term for term in self.terms(question) if term in self.vocabulary]
            shared = [term for term in asked if term in occurrences]
            if shared:
                f = np.array([occurrences[term] for term in shared], dtype=np.float64)
                idf = self.idf[[self.vocabulary[term] for term in shared]]
                weights = idf * self.term_weight.of(f, np.full(len(f), float(len(terms))))
                everywhere = self.constants[[self.vocabulary[term] for term in asked]]
                scores[place] = weights.sum() + everywhere.sum()
        return scores


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
    counts = _counts((map(find, text.split()) for text in texts), numbers)
    return Runs(list(numbers), counts)


def count_terms(runs: Runs, analyzer: Analyzer) -> TermCounts:
    """Analyse every distinct run once. No term crosses white space, so a text's terms are those of
    its runs."""
    met: dict[str, int] = {}
    number = met.setdefault
    analysis = _counts(
        ([number(term, len(met)) for term in analyzer.terms(run)] for run in runs.distinct), met
    )
    vocabulary, place = alphabetical(met)
    columns = place[analysis.indices]
    analysis = csr_array((analysis.data, columns, analysis.indptr), shape=analysis.shape)
    return TermCounts.of(vocabulary, runs.counts @ analysis)


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
    counts = _counts((map(vocabulary.__getitem__, terms) for terms in documents), vocabulary)
    return compile_counts(TermCounts.of(vocabulary, counts), config)


def compile_counts(terms: TermCounts, config: BM25Config) -> BM25:
    """Weigh the counts by the variant's formula."""
    counts, lengths = terms.counts, terms.lengths.astype(np.float64)
    frequency = np.diff(counts.indptr)
    indexed = int((lengths > 0).sum())
    average = lengths.sum() / indexed if indexed else 1.0
    idf = IDF[config.variant](indexed, frequency)
    term_weight = TermWeight(config.variant, config.k1, config.b, average)
    weights = np.repeat(idf, frequency) * term_weight.of(
        counts.data.astype(np.float64), lengths[counts.indices]
    )
    postings = csr_array((weights, counts.indices, counts.indptr), shape=counts.shape)
    constants = idf * DELTA["plus"] if config.variant == "plus" else np.zeros(len(idf))
    return BM25(
        ANALYZERS[config.analyzer],
        terms.vocabulary,
        postings,
        constants,
        blank=len(lengths) - indexed,
        idf=idf,
        term_weight=term_weight,
    )


def _counts(rows: Iterable[Iterable[int]], vocabulary: Sized) -> csr_array:
    """Rows x terms: how often each term number stands in a row. `vocabulary` may grow while rows
    are read."""
    numbers, ends = array("i"), array("q", [0])
    for row in rows:
        numbers.extend(row)
        ends.append(len(numbers))
    terms, indptr = np.frombuffer(numbers, dtype=np.int32), np.frombuffer(ends, dtype=np.int64)
    if len(numbers) < np.iinfo(np.int32).max:
        indptr = indptr.astype(
            np.int32
        )  # else SciPy widens both parts, and every search narrows one again
    shape = len(indptr) - 1, len(vocabulary)
    counts = csr_array((np.ones(len(terms), dtype=np.int32), terms, indptr), shape=shape)
    counts.sum_duplicates()
    return counts
