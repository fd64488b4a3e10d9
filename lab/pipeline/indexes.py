"""Indexes: everything of one chunking that does not depend on the questions, each computed once."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from lab.arrays import Floats, Ints, Vectors
from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.context import Delivery, deliver
from lab.chunking.semantic import Embed
from lab.chunking.strategies import chunk
from lab.chunking.units import Tokenize
from lab.corpus.document import Corpus
from lab.corpus.filter import Filter
from lab.errors import CorpusError
from lab.pipeline.resources import Resources
from lab.retrieval import bm25, dense
from lab.retrieval.analyzer import ANALYZERS
from lab.retrieval.config import BM25Config, DenseConfig, FeaturesConfig
from lab.retrieval.features import feature
from lab.retrieval.fusion import Boost
from lab.retrieval.views import Entries, Views, entries_of, parted

T = TypeVar("T")


class Indexes:
    """Built once per chunk config. Raises CorpusError when there is no chunk."""

    def __init__(self, corpus: Corpus, config: ChunkConfig, resources: Resources) -> None:
        self.config, self.resources = config, resources
        self._indexes: dict[Hashable, Any] = {}
        with resources.timed("chunk"):
            self.chunking: Chunking = chunk(corpus, config, self._tokenize, self._embed)
        if not len(self.chunking):
            raise CorpusError("the corpus has no text but white space; nothing can be indexed")

    @property
    def _tokenize(self) -> Tokenize | None:
        return (
            self.resources.encoder(self.config.tokenizer).offsets if self.config.tokenizer else None
        )

    @property
    def _embed(self) -> Embed | None:
        embedder = self.config.embedder
        return partial(self.resources.embed, embedder, "passage") if embedder else None

    def _kept(
        self, memo: dict[Hashable, Any], key: Hashable, compute: Callable[[], T], stage: str
    ) -> T:
        if key not in memo:
            with self.resources.timed(stage):
                memo[key] = compute()
        return memo[key]  # type: ignore[no-any-return]  # each key is one stage's

    def _indexed(self, key: Hashable, compute: Callable[[], T], stage: str) -> T:
        return self._kept(self._indexes, key, compute, stage)

    def bm25_index(self, config: BM25Config) -> Views[bm25.BM25]:
        def build() -> Views[bm25.BM25]:
            if config.synonyms:
                plain = self.bm25_index(config.model_copy(update={"synonyms": ""}))
                rules = self.resources.synonyms(config.synonyms).under(plain.own.analyzer)
                return plain.each(lambda index: replace(index, synonyms=rules))
            # Variants, k1 and b weigh the same counts.
            counts = self._indexed(("terms", config.analyzer, config.views), count, "index bm25")
            return parted(
                bm25.compile_counts(counts, config), len(self.chunking), self._entries(config.views)
            )

        def count() -> bm25.TermCounts:
            views = config.views
            runs = self._indexed(
                ("runs", views), lambda: bm25.count_runs(self.passages(views)), "index bm25"
            )
            return bm25.count_terms(runs, ANALYZERS[config.analyzer])

        return self._indexed(config, build, "index bm25")

    def dense_index(self, config: DenseConfig) -> Views[dense.Dense]:
        def build() -> Views[dense.Dense]:
            if config.pooling == "late":
                vectors = self.span_vectors(config, self.chunking.spans)
            else:
                vectors = self.resources.embed(config.encoder, "passage", self.chunking.texts)
            own = dense.build(vectors, config.index, self.chunking)
            return Views(own, tuple((view, beside(view)) for view in self._entries(config.views)))

        def beside(view: Entries) -> dense.Dense:
            vectors = self.resources.embed(config.encoder, "passage", view.texts)
            dense.check_finite(vectors, lambda i: f"the text {view.texts[i]!r}")
            return dense.index(vectors, config.index)

        return self._indexed(config, build, "index dense")

    def span_vectors(self, config: DenseConfig, spans: Sequence[tuple[int, int, int]]) -> Vectors:
        """Vectors of any spans (document, start, end), read by themselves or within their
        document."""
        texts = [document.text for document in self.chunking.corpus]
        if config.pooling == "late":
            return self.resources.embed_late(
                config.encoder, [(texts[d], s, e) for d, s, e in spans]
            )
        return self.resources.embed(config.encoder, "passage", [texts[d][s:e] for d, s, e in spans])

    def passages(self, views: tuple[str, ...]) -> Iterable[str]:
        """Every text that is indexed: the chunks' own, then those of the other views."""
        return chain(self.chunking.texts, *(view.texts for view in self._entries(views)))

    def _entries(self, views: tuple[str, ...]) -> list[Entries]:
        return self._indexed(
            ("views", views), lambda: entries_of(self.chunking, views), "index bm25"
        )

    def passing(self, wanted: Filter) -> Ints:
        """Chunks of the documents that pass a filter, ascending."""
        corpus, document = self.chunking.corpus, self.chunking.document
        passes = self._indexed(
            wanted, lambda: np.array([wanted.passes(d.metadata) for d in corpus]), "search bm25"
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
        return self._indexed(("feature", name), lambda: feature(self.chunking.corpus, name), "fuse")

    def delivery(self, how: str) -> Delivery:
        """What is handed to the reader for every chunk."""
        return self._indexed(
            ("deliver", how),
            lambda: deliver(self.chunking, self.config, how, self._tokenize, self._embed),
            "deliver",
        )
