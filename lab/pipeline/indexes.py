"""Indexes: everything of one chunking that does not depend on the questions, each computed once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain

import numpy as np

from lab.arrays import Bools, Floats, Ints, Vectors
from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.context import Delivery, deliver
from lab.chunking.prefix import prefixes
from lab.chunking.semantic import Embed
from lab.chunking.strategies import chunk
from lab.chunking.units import Tokenize
from lab.corpus.document import Corpus
from lab.corpus.filter import Filter
from lab.errors import CorpusError, ModelError
from lab.pipeline.memo import TimedMemo
from lab.pipeline.resources import Resources
from lab.retrieval import bm25, dense
from lab.retrieval.analyzer import ANALYZERS, AnalyzerName
from lab.retrieval.config import BM25Config, DenseConfig, FeaturesConfig
from lab.retrieval.features import feature
from lab.retrieval.fusion import Boost
from lab.retrieval.search_terms import SearchTerms
from lab.retrieval.stored import as_stored
from lab.retrieval.views import Entries, Views, entries_of, parted


class Indexes:
    """Built once per chunk config; `chunking` is that of the corpus where it is known. Raises
    CorpusError when there is no chunk."""

    def __init__(
        self,
        corpus: Corpus,
        config: ChunkConfig,
        resources: Resources,
        chunking: Chunking | None = None,
    ) -> None:
        self.config = config
        self.resources = resources
        if chunking is None:
            with resources.timed("chunk"):
                chunking = chunk(corpus, config, self._tokenize, self._embed)
        self.chunking = chunking
        if not len(self.chunking):
            raise CorpusError("the corpus has no text but white space; nothing can be indexed")
        self._bm25: TimedMemo[BM25Config, Views[bm25.BM25]] = TimedMemo(resources, "index bm25")
        self._terms: TimedMemo[tuple[AnalyzerName, tuple[str, ...]], bm25.TermCounts] = TimedMemo(
            resources, "index bm25"
        )
        # (synonyms, analyzer, views) -> what is searched for a question
        self._expanded: TimedMemo[tuple[str, AnalyzerName, tuple[str, ...]], SearchTerms] = (
            TimedMemo(resources, "index bm25")
        )
        self._runs: TimedMemo[tuple[str, ...], bm25.Runs] = TimedMemo(resources, "index bm25")
        self._entries: TimedMemo[tuple[str, ...], list[Entries]] = TimedMemo(
            resources, "index bm25"
        )
        self._dense: TimedMemo[DenseConfig, Views[dense.Dense]] = TimedMemo(
            resources, "index dense"
        )
        self._passes: TimedMemo[Filter, Bools] = TimedMemo(resources, "search bm25")
        self._features: TimedMemo[str, Floats] = TimedMemo(resources, "fuse")
        self._deliveries: TimedMemo[str, Delivery] = TimedMemo(resources, "deliver")

    def know(
        self,
        views: Mapping[tuple[str, ...], list[Entries]],
        deliveries: Mapping[str, Delivery],
        features: Mapping[str, Floats],
        bm25_indexes: Mapping[BM25Config, Views[bm25.BM25]],
        dense_indexes: Mapping[DenseConfig, Views[dense.Dense]],
    ) -> None:
        """What an index folder has kept takes the place of what would be made at first use."""
        self._entries.update(views)
        self._deliveries.update(deliveries)
        self._features.update(features)
        self._bm25.update(bm25_indexes)
        self._dense.update(dense_indexes)

    def trim(self, most: int) -> None:
        """Forget the lexical indexes of all but the last `most` formulas, not terms and vectors."""
        self._bm25.trim(most)

    @property
    def _tokenize(self) -> Tokenize | None:
        tokenizer = self.config.tokenizer
        return self.resources.encoder(tokenizer).offsets if tokenizer else None

    @property
    def _embed(self) -> Embed | None:
        embedder = self.config.embedder
        return partial(self.resources.embed, embedder, "passage") if embedder else None

    def bm25_index(self, config: BM25Config) -> Views[bm25.BM25]:
        """The lexical index of the chunks and of their documents' views."""

        def build() -> Views[bm25.BM25]:
            if config.synonyms:
                plain = self.bm25_index(config.model_copy(update={"synonyms": ""}))
                terms = self._search_terms(config, plain.own)
                return plain.each(lambda index: replace(index, terms=terms))
            # Variants, k1 and b weigh the same counts.
            counts = self.term_counts(config.analyzer, config.views)
            index = bm25.compile_counts(counts, config)
            return parted(index, len(self.chunking), self.views(config.views))

        return self._bm25.once(config, build)

    def _search_terms(self, config: BM25Config, plain: bm25.BM25) -> SearchTerms:
        """With synonyms, over the terms of an index without."""

        def expanded() -> SearchTerms:
            rules = self.resources.synonyms(config.synonyms).under(plain.analyzer)
            return replace(plain.terms, synonyms=rules)

        return self._expanded.once((config.synonyms, config.analyzer, config.views), expanded)

    def term_counts(self, analyzer: AnalyzerName, views: tuple[str, ...]) -> bm25.TermCounts:
        """The terms of all `passages`."""

        def count() -> bm25.TermCounts:
            runs = self._runs.once(views, lambda: bm25.count_runs(self.passages(views)))
            return bm25.count_terms(runs, ANALYZERS[analyzer])

        return self._terms.once((analyzer, views), count)

    def dense_index(self, config: DenseConfig) -> Views[dense.Dense]:
        """The index of the vectors of the chunks and of their documents' views."""

        def build() -> Views[dense.Dense]:
            of_chunks, *others = self.passage_vectors(config)
            views = self.views(config.views)
            indexes = [dense.index(vectors, config.index, similarity) for vectors in others]
            of_chunks_index = dense.build(of_chunks, config.index, self.chunking, similarity)
            index = Views(of_chunks_index, tuple(zip(views, indexes, strict=True)))
            return index.each(lambda one: dense.stored_by(one, config.storage))

        similarity = self.resources.similarity(config)
        return self._dense.once(config, build)

    def passage_vectors(self, config: DenseConfig) -> list[Vectors]:
        """Vectors of the chunks, then those of the entries of every other view, as they are stored.
        Raises ModelError that names what has a vector with NaN or infinity."""
        if config.pooling == "late":
            vectors = self._span_vectors(config, self.chunking.spans)
        else:
            vectors = self.resources.embed(config.encoder, "passage", self.indexed_texts)
        dense.check_finite(vectors, lambda i: f"chunk '{self.chunking[i].chunk_id}'")
        return [
            self._stored(config, vectors),
            *(self._view_vectors(config, view) for view in self.views(config.views)),
        ]

    def _view_vectors(self, config: DenseConfig, view: Entries) -> Vectors:
        vectors = self.resources.embed(config.encoder, "passage", view.texts)
        dense.check_finite(vectors, lambda i: f"the text {view.texts[i]!r}")
        return self._stored(config, vectors)

    def _stored(self, config: DenseConfig, vectors: Vectors) -> Vectors:
        similarity = self.resources.similarity(config)
        if len(vectors) and config.dims > vectors.shape[1]:
            raise ModelError(
                f"dense.dims {config.dims}: the vectors of model '{config.model}' have "
                f"{vectors.shape[1]} numbers"
            )
        return as_stored(vectors, config.dims, config.storage, similarity)

    def span_vectors(self, config: DenseConfig, spans: Sequence[tuple[int, int, int]]) -> Vectors:
        """Vectors of any spans (document, start, end), read by themselves behind their prefix, or
        within their document; as they would be stored."""
        return self._stored(config, self._span_vectors(config, spans))

    def _span_vectors(self, config: DenseConfig, spans: Sequence[tuple[int, int, int]]) -> Vectors:
        if config.pooling == "late":
            texts = [document.text for document in self.chunking.corpus]
            return self.resources.embed_late(
                config.encoder, [(texts[d], s, e) for d, s, e in spans]
            )
        return self.resources.embed(config.encoder, "passage", self.texts_of(spans))

    def texts_of(self, spans: Sequence[tuple[int, int, int]]) -> list[str]:
        """Any spans (document, start, end) as they are indexed, behind their prefix."""
        documents = self.chunking.corpus.documents
        before = prefixes(self.chunking.corpus, spans, self.config.prefix)
        return [
            prefix + documents[document].text[start:end]
            for prefix, (document, start, end) in zip(before, spans, strict=True)
        ]

    @cached_property
    def indexed_texts(self) -> list[str]:
        """Every chunk's text as it is indexed."""
        if not self.config.prefix:
            return self.chunking.texts
        return self.texts_of(self.chunking.spans)

    def passages(self, views: tuple[str, ...]) -> Iterable[str]:
        """Every text that is indexed: the chunks' own, then those of the other views."""
        return chain(self.indexed_texts, *(view.texts for view in self.views(views)))

    def views(self, names: tuple[str, ...]) -> list[Entries]:
        """The entries of every view but the chunks' own text."""
        return self._entries.once(names, lambda: entries_of(self.chunking, names))

    def passing(self, wanted: Filter) -> Ints:
        """Chunks of the documents that pass a filter, ascending."""
        corpus, document = self.chunking.corpus, self.chunking.document
        passes = self._passes.once(
            wanted, lambda: np.array([wanted.passes(d.metadata) for d in corpus])
        )
        return np.flatnonzero(passes[document])

    def boost(self, config: FeaturesConfig) -> Boost | None:
        """What the documents' features add to the chunks; None without features."""
        if not config.root:
            return None
        of = self.feature_values(config)[:, self.chunking.document]
        return Boost(tuple(weight for _, weight in config.root), lambda chunks: of[:, chunks])

    def feature_values(self, config: FeaturesConfig) -> Floats:
        """Features x documents (see `lab.retrieval.features.feature`)."""
        return np.stack([self._feature(name) for name, _ in config.root])

    def _feature(self, name: str) -> Floats:
        return self._features.once(name, lambda: feature(self.chunking.corpus, name))

    def delivery(self, how: str) -> Delivery:
        """What is handed to the reader for every chunk."""
        return self._deliveries.once(
            how, lambda: deliver(self.chunking, self.config, how, self._tokenize, self._embed)
        )
