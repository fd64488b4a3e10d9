"""The indexes of one chunking over shards: statistics are those of the whole, summed first."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from lab.arrays import NONE, Ints
from lab.chunking.config import ChunkConfig
from lab.corpus.document import Corpus
from lab.pipeline.indexes import Indexes
from lab.pipeline.memo import Memo
from lab.pipeline.resources import Resources
from lab.pipeline.shard import Leg, LocalTerms, Weights
from lab.pipeline.sharded_leg import ShardedLeg
from lab.pipeline.shards import Shards
from lab.retrieval import bm25
from lab.retrieval.analyzer import ANALYZERS
from lab.retrieval.bm25_formulas import DELTA, IDF, TermWeight
from lab.retrieval.config import BM25Config, DenseConfig
from lab.retrieval.search_terms import SearchTerms


class ShardedIndexes(Indexes):
    """The indexes of one chunking, whose legs lie in shards."""

    def __init__(
        self, corpus: Corpus, config: ChunkConfig, resources: Resources, shards: Shards
    ) -> None:
        with resources.timed("chunk"):
            chunking, self._first = shards.cut(corpus, config)
        super().__init__(corpus, config, resources, chunking)
        self._shards = shards
        self._asked: Memo[BM25Config | DenseConfig, ShardedLeg] = Memo()
        self._local: Memo[Any, list[LocalTerms | None]] = Memo()

    def bm25_index(self, config: BM25Config) -> Any:
        """See `Indexes.bm25_index`."""
        return self._asked.once(config, lambda: self._lexical(config))

    def dense_index(self, config: DenseConfig) -> Any:
        """See `Indexes.dense_index`; exact search alone, as `lab.sweeping` has checked."""
        return self._asked.once(config, lambda: self._semantic(config))

    def trim(self, most: int) -> None:
        """See `Indexes.trim`."""
        self._asked.trim(most)

    def _held(self) -> list[bool]:
        return [bool(first < end) for first, end in pairwise(self._first.tolist())]

    def _semantic(self, config: DenseConfig) -> ShardedLeg:
        leg = self._shards.put(Leg(self.config, config))
        legs = [leg if held else None for held in self._held()]
        return ShardedLeg(self._shards, legs, self._first, lambda vectors, _: vectors)

    def _lexical(self, config: BM25Config) -> ShardedLeg:
        parts = self._local_terms(config)
        known = [part for part in parts if part]
        vocabulary = {
            term: number
            for number, term in enumerate(sorted(set().union(*(part.terms for part in known))))
        }
        numbers = [
            None if part is None else np.array([vocabulary[t] for t in part.terms], dtype=np.int64)
            for part in parts
        ]
        frequency = np.zeros(len(vocabulary), dtype=np.int64)
        for part, of in zip(parts, numbers, strict=True):
            if part is not None:
                frequency[of] += part.frequency
        indexed = sum(part.indexed for part in known)
        idf = IDF[config.variant](indexed, frequency)
        average = sum(part.length for part in known) / indexed if indexed else 1.0
        legs = [
            None
            if of is None
            else self._shards.put(Leg(self.config, plain(config), Weights(idf[of], average)))
            for of in numbers
        ]
        rules = None
        if config.synonyms:
            rules = self.resources.synonyms(config.synonyms).under(ANALYZERS[config.analyzer])
        own = bm25.BM25(
            SearchTerms(ANALYZERS[config.analyzer], vocabulary, rules),
            csr_array((len(vocabulary), 0)),
            idf * DELTA["plus"] if config.variant == "plus" else np.zeros(len(idf)),
            blank=len(self.chunking) - indexed,
            idf=idf,
            term_weight=TermWeight(config.variant, config.k1, config.b, average),
        )

        def numbered(texts: Sequence[str], shard: int) -> csr_array:
            return _numbered(own, texts, numbers[shard])

        return ShardedLeg(self._shards, legs, self._first, numbered, own)

    def _local_terms(self, config: BM25Config) -> list[LocalTerms | None]:
        return self._local.once(
            (config.analyzer, config.views),
            lambda: self._shards.ask(
                "terms", [(self.config, plain(config)) if held else None for held in self._held()]
            ),
        )


def _numbered(whole: bm25.BM25, texts: Sequence[str], numbers: Ints | None) -> csr_array:
    """Questions as counts of a shard's terms, and in a last column what is added to every hit."""
    assert numbers is not None  # a shard without chunks is not asked
    asked = whole.terms.counts(texts)
    base = csr_array((asked @ whole.constants)[:, None])
    place = np.searchsorted(numbers, asked.indices)
    known = np.append(numbers, NONE)[place] == asked.indices
    row = np.repeat(np.arange(len(texts)), np.diff(asked.indptr))[known]
    starts = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(texts)))))
    counts = csr_array((asked.data[known], place[known], starts), shape=(len(texts), len(numbers)))
    return csr_array(hstack((counts, base), format="csr"))


def plain(config: BM25Config) -> BM25Config:
    """Without synonyms, which change what is asked, never what is indexed."""
    return config.model_copy(update={"synonyms": ""})
