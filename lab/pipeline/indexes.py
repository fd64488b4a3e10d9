"""Indexes: everything of one chunking that does not depend on the questions, each computed once."""

from collections.abc import Iterable, Sequence
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
from lab.errors import CorpusError
from lab.pipeline.memo import TimedMemo
from lab.pipeline.resources import Resources
from lab.retrieval import bm25, dense
from lab.retrieval.analyzer import ANALYZERS, AnalyzerName
from lab.retrieval.config import BM25Config, DenseConfig, FeaturesConfig
from lab.retrieval.features import feature
from lab.retrieval.fusion import Boost
from lab.retrieval.views import Entries, Views, entries_of, parted


class Indexes:
    """Built once per chunk config. Raises CorpusError when there is no chunk."""

    def __init__(self, corpus: Corpus, config: ChunkConfig, resources: Resources) -> None:
        self.config = config
        self.resources = resources
        with resources.timed("chunk"):
            self.chunking: Chunking = chunk(corpus, config, self._tokenize, self._embed)
        if not len(self.chunking):
            raise CorpusError("the corpus has no text but white space; nothing can be indexed")
        self._bm25: TimedMemo[BM25Config, Views[bm25.BM25]] = TimedMemo(resources, "index bm25")
        self._terms: TimedMemo[tuple[AnalyzerName, tuple[str, ...]], bm25.TermCounts] = TimedMemo(
            resources, "index bm25"
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
                rules = self.resources.synonyms(config.synonyms).under(plain.own.analyzer)
                return plain.each(lambda index: replace(index, synonyms=rules))
            # Variants, k1 and b weigh the same counts.
            counts = self._term_counts(config.analyzer, config.views)
            index = bm25.compile_counts(counts, config)
            return parted(index, len(self.chunking), self._views(config.views))

        return self._bm25.once(config, build)

    def _term_counts(self, analyzer: AnalyzerName, views: tuple[str, ...]) -> bm25.TermCounts:
        def count() -> bm25.TermCounts:
            runs = self._runs.once(views, lambda: bm25.count_runs(self.passages(views)))
            return bm25.count_terms(runs, ANALYZERS[analyzer])

        return self._terms.once((analyzer, views), count)

    def dense_index(self, config: DenseConfig) -> Views[dense.Dense]:
        """The index of the vectors of the chunks and of their documents' views."""

        def build() -> Views[dense.Dense]:
            if config.pooling == "late":
                vectors = self.span_vectors(config, self.chunking.spans)
            else:
                vectors = self.resources.embed(config.encoder, "passage", self.indexed_texts)
            own = dense.build(vectors, config.index, self.chunking, similarity)
            views = self._views(config.views)
            return Views(own, tuple((view, index_of(view)) for view in views))

        def index_of(view: Entries) -> dense.Dense:
            vectors = self.resources.embed(config.encoder, "passage", view.texts)
            dense.check_finite(vectors, lambda i: f"the text {view.texts[i]!r}")
            return dense.index(vectors, config.index, similarity)

        similarity = self.resources.similarity(config)
        return self._dense.once(config, build)

    def span_vectors(self, config: DenseConfig, spans: Sequence[tuple[int, int, int]]) -> Vectors:
        """Vectors of any spans (document, start, end), read by themselves behind their prefix, or
        within their document."""
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
        return chain(self.indexed_texts, *(view.texts for view in self._views(views)))

    def _views(self, names: tuple[str, ...]) -> list[Entries]:
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
