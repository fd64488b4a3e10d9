"""Shard: a part of the documents with its chunks, terms and vectors, held by one process that knows
nothing of the others."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.sparse import csr_array, vstack

from lab.arrays import Floats, Ints
from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.corpus.document import Corpus, Document
from lab.errors import CorpusError
from lab.pipeline.indexes import Indexes
from lab.pipeline.memo import Memo
from lab.pipeline.memory import peak_megabytes
from lab.pipeline.resources import Resources
from lab.pipeline.work import Work, work_of
from lab.retrieval import bm25
from lab.retrieval.config import BM25Config, DenseConfig
from lab.retrieval.ranking import Ranking
from lab.retrieval.search_terms import SearchTerms
from lab.retrieval.views import Views, parted


@dataclass(frozen=True, eq=False)
class LocalTerms:
    """What a shard's texts add to the statistics of the whole: its `terms`, in order, in how many
    texts each stands, how many texts have a term, and how many terms they have in all."""

    terms: list[str]
    frequency: Ints
    indexed: int
    length: int


@dataclass(frozen=True, eq=False)
class Weights:
    """What terms weigh among all documents, for a shard's own terms: their idf, and the mean
    length."""

    idf: Floats
    average: float


@dataclass(frozen=True, eq=False)
class Leg:
    """One leg of a chunking; with BM25 what its terms weigh."""

    chunk: ChunkConfig
    config: BM25Config | DenseConfig
    weights: Weights | None = None


class Numbered(SearchTerms):
    """Terms of questions that whoever asks has numbered already."""

    def counts(self, questions: Any) -> csr_array:
        """The questions themselves, as counts of the shard's terms and a last column: what is
        added to the score of every hit."""
        return cast("csr_array", questions)


class Shard:
    """Everything is made at first use, from the documents and the cache alone, so that a shard
    which dies is made again."""

    def __init__(self, documents: Sequence[Document], resources: Resources) -> None:
        self._corpus = Corpus.stored(documents)
        self._resources = resources
        self._indexes: Memo[ChunkConfig, Indexes] = Memo()
        self._legs: Memo[tuple[ChunkConfig, BM25Config | DenseConfig], Views[Any]] = Memo()

    def cut(self, config: ChunkConfig) -> Chunking | None:
        """The chunks of the shard's documents, without these; None where they have no text."""
        try:
            return replace(self._of(config).chunking, corpus=Corpus.stored(()))
        except CorpusError:
            return None

    def encode(self, config: ChunkConfig, dense: DenseConfig) -> None:
        """Put the vectors of the chunks and views into the cache."""
        if self.cut(config) is None:
            return
        if dense.pooling == "late":
            self._of(config).span_vectors(dense, self._of(config).chunking.spans)
        else:
            texts = dict.fromkeys(self._of(config).passages(dense.views))
            self._resources.encode(dense.encoder, "passage", texts)

    def terms(self, config: ChunkConfig, lexical: BM25Config) -> LocalTerms:
        """The terms of the chunks and views."""
        counts = self._of(config).term_counts(lexical.analyzer, lexical.views)
        length = int(counts.lengths.sum())
        return LocalTerms(list(counts.terms.vocabulary), counts.frequency, counts.indexed, length)

    def search(self, leg: Leg, questions: Any, depth: int, only: Ints | None = None) -> Ranking:
        """The best of the shard's chunks, or of some of them, which are numbered anew."""
        return self._views(leg, only).search(questions, depth)

    def scores(self, leg: Leg, questions: Any, chunks: Ints, only: Ints | None = None) -> Floats:
        """Exact scores of given chunks (see `Views.scores`)."""
        return self._views(leg, only).scores(questions, chunks)

    def scores_of_others(self, leg: Leg, questions: Any, chunks: Ints) -> Floats:
        """The same over further views (see `Views.scores_of_others`)."""
        return self._views(leg, None).scores_of_others(questions, chunks)

    def size(self, leg: Leg) -> int:
        """Bytes of an index."""
        return self._views(leg, None).size

    def work(self) -> Work:
        """What was done until now."""
        return work_of(self._resources)

    def peak_megabytes(self) -> float:
        """The most memory that the process of the shard has held."""
        return peak_megabytes()

    def processor_seconds(self) -> float:
        """What the process of the shard has computed."""
        return time.process_time()

    def _of(self, config: ChunkConfig) -> Indexes:
        return self._indexes.once(config, lambda: Indexes(self._corpus, config, self._resources))

    def _views(self, leg: Leg, only: Ints | None) -> Views[Any]:
        views = self._legs.once((leg.chunk, leg.config), lambda: self._built(leg))
        return views if only is None else views.only(only)

    def _built(self, leg: Leg) -> Views[Any]:
        indexes = self._of(leg.chunk)
        if isinstance(leg.config, DenseConfig):
            return indexes.dense_index(leg.config)
        assert leg.weights is not None  # those of the whole are summed first
        with self._resources.timed("index bm25"):
            counts = indexes.term_counts(leg.config.analyzer, leg.config.views)
            index = bm25.compile_counts(counts, leg.config, leg.weights.idf, leg.weights.average)
            # A last row without postings: what BM25+ adds to every hit is given with the question.
            row = csr_array((1, index.postings.shape[1]))
            whole = replace(
                index,
                terms=Numbered(index.analyzer, {}),
                postings=vstack((index.postings, row), format="csr"),
                constants=np.append(np.zeros(index.postings.shape[0]), 1.0),
            )
            return parted(whole, len(indexes.chunking), indexes.views(leg.config.views))
