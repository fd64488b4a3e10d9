"""Search terms: what of a question, or of a new text, an index knows; the same whatever formula,
k1 and b weigh it by."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from lab.arrays import Floats, Ints
from lab.retrieval.analyzer import Analyzer
from lab.retrieval.synonyms import Expansion

# Questions, and pairs of a question and a text, of which the terms are remembered.
REMEMBERED = 2**16


@dataclass(frozen=True, eq=False, slots=True)
class Shared:
    """What a question and a text have in common: `terms` are the numbers of the question's known
    terms that the text holds (repeats included), `occurrences` how often it holds each; `length` is
    how many terms the text has, and `asked` all known terms of the question."""

    terms: Ints
    occurrences: Floats
    length: float
    asked: Ints


@dataclass(frozen=True, eq=False)
class SearchTerms:
    """The terms of questions in an index: `vocabulary` numbers those that it knows, `analyzer`
    finds them, and `synonyms` change what is searched, never what is indexed.

    Every index over the same terms shares one, so that a sweep over formulas analyses a question
    once."""

    analyzer: Analyzer
    vocabulary: dict[str, int]
    synonyms: Expansion | None = None

    def __call__(self, question: str) -> list[str]:
        """What is searched for a question: its terms and those of its synonyms, known or not."""
        return _searched(self.analyzer, self.synonyms, question)

    def counts(self, questions: Sequence[str]) -> csr_array:
        """Questions x terms: how often each known term is searched for a question."""
        rows = [self._row(question) for question in questions]
        starts = np.zeros(len(rows) + 1, dtype=np.int32)
        np.cumsum([len(terms) for terms, _ in rows], out=starts[1:])
        terms = np.concatenate([terms for terms, _ in rows] or [np.zeros(0, dtype=np.int32)])
        often = np.concatenate([often for _, often in rows] or [np.zeros(0)])
        return csr_array((often, terms, starts), shape=(len(rows), len(self.vocabulary)))

    def shared(self, question: str, text: str) -> Shared:
        """What a question and any text have in common."""
        return self._shared(question, text)

    # Neither refers to this object: a circle would keep an index until the garbage collector comes.
    @cached_property
    def _row(self) -> Callable[[str], tuple[NDArray[np.int32], Floats]]:
        row = partial(_row, self.analyzer, self.synonyms, self.vocabulary)
        return lru_cache(maxsize=REMEMBERED)(row)

    @cached_property
    def _shared(self) -> Callable[[str, str], Shared]:
        shared = partial(_shared, self.analyzer, self.synonyms, self.vocabulary)
        return lru_cache(maxsize=REMEMBERED)(shared)


def _searched(analyzer: Analyzer, synonyms: Expansion | None, question: str) -> list[str]:
    terms = analyzer(question)
    return terms if synonyms is None else synonyms(terms)


def _row(
    analyzer: Analyzer, synonyms: Expansion | None, vocabulary: dict[str, int], question: str
) -> tuple[NDArray[np.int32], Floats]:
    """A question's known terms, ascending, and how often each is searched."""
    numbers = map(vocabulary.get, _searched(analyzer, synonyms, question))
    known = Counter(number for number in numbers if number is not None)
    terms = sorted(known)
    return np.array(terms, dtype=np.int32), np.array([float(known[term]) for term in terms])


def _shared(
    analyzer: Analyzer,
    synonyms: Expansion | None,
    vocabulary: dict[str, int],
    question: str,
    text: str,
) -> Shared:
    of_text = analyzer(text)
    occurrences = Counter(of_text)
    asked = [term for term in _searched(analyzer, synonyms, question) if term in vocabulary]
    held = [term for term in asked if term in occurrences]
    return Shared(
        terms=np.array([vocabulary[term] for term in held], dtype=np.int64),
        occurrences=np.array([occurrences[term] for term in held], dtype=np.float64),
        length=float(len(of_text)),
        asked=np.array([vocabulary[term] for term in asked], dtype=np.int64),
    )


def counted(rows: Iterable[Iterable[int]], vocabulary: Sized) -> csr_array:
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
