"""The stages of all systems that share a chunking: each is computed once per distinct slice of the config it reads."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.chunking.deliver import Delivery, deliver
from lab.chunking.strategies import chunk
from lab.chunking.units import Tokenize
from lab.corpus.document import Corpus
from lab.errors import CorpusError
from lab.experiment.config import Config
from lab.experiment.resources import Resources
from lab.retrieval import bm25, dense
from lab.retrieval.analyzer import ANALYZERS
from lab.retrieval.config import BM25Config, DenseConfig, FeaturesConfig, RerankConfig
from lab.retrieval.features import feature
from lab.retrieval.fusion import ALONE, Boost, Candidates, boosted, candidates, fuse
from lab.retrieval.ranking import NONE, Ranking
from lab.retrieval.rerank import rerank
from lab.retrieval.views import Entries, Views, entries_of, parted

T = TypeVar("T")
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Stages:
    """Built once per chunk config and asked by every system that shares it. Raises CorpusError when there is no chunk."""

    def __init__(self, corpus: Corpus, questions: Sequence[str], config: ChunkConfig, resources: Resources) -> None:
        self.config, self.questions, self.resources = config, list(questions), resources
        self._memo: dict[Hashable, Any] = {}
        self._pairs: dict[str, tuple[Ints, Floats]] = {}
        self._features: dict[str, Floats] = {}
        with resources.timed("chunk"):
            self.chunking: Chunking = chunk(corpus, config, self._tokenize)
        if not len(self.chunking):
            raise CorpusError("the corpus has no text but white space; nothing can be indexed")

    def asking(self, questions: Sequence[str]) -> "Stages":
        """The same chunks and indexes, other questions."""
        other = copy(self)
        other.questions, other._pairs = list(questions), {}
        indexes = (BM25Config, DenseConfig)
        other._memo = {key: value for key, value in self._memo.items() if isinstance(key, indexes)}
        return other

    def give_vectors(self, config: DenseConfig, vectors: NDArray[np.float32]) -> None:
        """Unit vectors of the questions that are known already."""
        self._memo["questions", config.encoder] = vectors

    @property
    def _tokenize(self) -> Tokenize | None:
        return self.resources.encoder(self.config.tokenizer).offsets if self.config.tokenizer else None

    def _once(self, key: Hashable, compute: Callable[[], T], stage: str) -> T:
        if key not in self._memo:
            with self.resources.timed(stage):
                self._memo[key] = compute()
        return self._memo[key]  # type: ignore[no-any-return]  # each key is one stage's

    def bm25_index(self, config: BM25Config) -> Views[bm25.BM25]:
        def build() -> Views[bm25.BM25]:
            # Variants, k1 and b weigh the same counts.
            counts = self._once(("terms", config.analyzer, config.views), count, "index bm25")
            return parted(bm25.compile_counts(counts, config), len(self.chunking), self._entries(config.views))

        def count() -> bm25.TermCounts:
            views = config.views
            runs = self._once(("runs", views), lambda: bm25.count_runs(self.passages(views)), "index bm25")
            return bm25.count_terms(runs, ANALYZERS[config.analyzer])

        return self._once(config, build, "index bm25")

    def dense_index(self, config: DenseConfig) -> Views[dense.Dense]:
        def build() -> Views[dense.Dense]:
            vectors = self.resources.embed(config.encoder, "passage", self.chunking.texts)
            own = dense.build(vectors, config.index, self.chunking)
            return Views(own, tuple((view, beside(view)) for view in self._entries(config.views)))

        def beside(view: Entries) -> dense.Dense:
            vectors = self.resources.embed(config.encoder, "passage", view.texts)
            dense.check_finite(vectors, lambda i: f"the text {view.texts[i]!r}")
            return dense.index(vectors, config.index)

        return self._once(config, build, "index dense")

    def passages(self, views: tuple[str, ...]) -> Iterable[str]:
        """Every text that is indexed: the chunks' own, then those of the other views."""
        return chain(self.chunking.texts, *(view.texts for view in self._entries(views)))

    def _entries(self, views: tuple[str, ...]) -> list[Entries]:
        return self._once(("views", views), lambda: entries_of(self.chunking, views), "index bm25")

    def bm25_leg(self, config: BM25Config, depth: int) -> Ranking:
        """Lexical hits of every question."""
        index = self.bm25_index(config)
        return self._once((config, depth), lambda: index.search(self.questions, depth), "search bm25")

    def dense_leg(self, config: DenseConfig, depth: int) -> Ranking:
        """Nearest chunks of every question; a blank one, or one that the model gives a zero vector, is near to none."""
        index, vectors = self.dense_index(config), self.question_vectors(config)

        def search() -> Ranking:
            found = index.search(vectors, depth)
            blank = np.array([not question.strip() for question in self.questions]) | ~vectors.any(axis=1)
            return Ranking(np.where(blank[:, None], NONE, found.chunks), np.where(blank[:, None], -np.inf, found.scores))

        return self._once((config, depth), search, "search dense")

    def question_vectors(self, config: DenseConfig) -> NDArray[np.float32]:
        """Unit vectors of the questions."""

        def embed() -> NDArray[np.float32]:
            vectors = self.resources.embed(config.encoder, "query", self.questions)
            dense.check_finite(vectors, lambda i: f"question {self.questions[i]!r}")
            return dense.unit(vectors)

        return self._once(("questions", config.encoder), embed, "search dense")

    def candidates(self, lexical: BM25Config, semantic: DenseConfig, depth: int) -> Candidates:
        """Union of both legs with both exact scores: independent of alpha and normalisation."""
        legs = self.bm25_leg(lexical, depth), self.dense_leg(semantic, depth)
        return self._once(
            (lexical, semantic, depth),
            lambda: candidates(
                *legs,
                lambda chunks: self.bm25_index(lexical).scores(self.questions, chunks),
                lambda chunks: self.dense_index(semantic).scores(self.question_vectors(semantic), chunks),
            ),
            "fuse",
        )

    def boost(self, config: FeaturesConfig) -> Boost | None:
        """What the documents' features add to the chunks; None without features."""
        if not config.root:
            return None
        of = self.feature_values(config)[:, self.chunking.document]
        return Boost(tuple(weight for _, weight in config.root), lambda chunks: of[:, chunks])

    def feature_values(self, config: FeaturesConfig) -> Floats:
        """Features x documents (see `lab.retrieval.features.feature`)."""
        for name, _ in config.root:
            if name not in self._features:
                self._features[name] = feature(self.chunking.corpus, name)
        return np.stack([self._features[name] for name, _ in config.root])

    def first_stage(self, config: Config) -> Ranking:
        """The ranking before the reranker: one leg, or the fusion of both, with the features if it has any."""
        boost = self.boost(config.features)
        key = (config.bm25, config.dense, config.fusion, config.features, config.depth)
        if config.dense is None or config.bm25 is None:
            leg, lower = self._only_leg(config)
            return leg if boost is None else self._once(key, lambda: boosted(leg, lower, ALONE, boost, config.depth), "fuse")
        assert config.fusion is not None  # hybrid systems have one
        found, fusion = self.candidates(config.bm25, config.dense, config.depth), config.fusion
        return self._once(key, lambda: fuse(found, fusion, config.depth, boost), "fuse")

    def _only_leg(self, config: Config) -> tuple[Ranking, float]:
        """The leg of a system that has one, and the lower bound of its scores."""
        if config.bm25 is not None:
            return self.bm25_leg(config.bm25, config.depth), 0.0
        assert config.dense is not None  # Config has at least one leg
        return self.dense_leg(config.dense, config.depth), -1.0

    def pool(self, config: Config) -> tuple[str, Ints]:
        """The reranker that a system asks and its (question, chunk) pairs as numbers; no pairs without one."""
        if config.rerank is None:
            return "", np.zeros(0, dtype=np.int64)
        chunks = self.first_stage(config).first(config.rerank.depth).chunks
        query, place = np.nonzero(chunks != NONE)
        return config.rerank.model, query * len(self.chunking) + chunks[query, place]

    def keep_pair_scores(self, model: str, keys: Ints, scores: Floats) -> None:
        """Scores of a reranker's pairs, whose numbers ascend."""
        self._pairs[model] = keys, scores

    def pair_scores(self, config: RerankConfig, ranking: Ranking) -> Floats:
        """The reranker's scores of a ranking's head (questions x depth, NaN where there is no hit)."""
        keys, scores = self._pairs[config.model]
        pool = ranking.first(config.depth).chunks
        found = np.full(pool.shape, np.nan)
        query, place = np.nonzero(pool != NONE)
        found[query, place] = scores[np.searchsorted(keys, query * len(self.chunking) + pool[query, place])]
        return found

    def known_pair_scores(self, model: str, chunks: Ints, query: Ints) -> Floats:
        """Scores of pairs that some system re-ranked (rows x any chunks, row i of question query[i]), NaN for others."""
        keys, scores = self._pairs[model]
        wanted = query[:, None] * len(self.chunking) + chunks
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((keys[place] == wanted) & (chunks != NONE), scores[place], np.nan)

    def ranking(self, config: Config) -> Ranking:
        """The system's ranking of chunks; `prepare_pairs` must have seen it if it reranks."""
        first = self.first_stage(config)
        if config.rerank is None:
            return first
        return rerank(first, self.pair_scores(config.rerank, first), config.rerank, self.questions)

    def delivery(self, how: str) -> Delivery:
        """What is handed to the reader for every chunk."""
        return self._once(("deliver", how), lambda: deliver(self.chunking, self.config, how, self._tokenize), "deliver")


def prepare_pairs(asked: Sequence[Stages], configs: Sequence[Config]) -> None:
    """Score the distinct pairs that any of the systems re-ranks, for all sets of questions over one chunking at once: a
    reranker that reads a text once then serves all of them."""
    for model in dict.fromkeys(config.rerank.model for config in configs if config.rerank):
        pools = [[keys for name, keys in map(stage.pool, configs) if name == model] for stage in asked]
        distinct = [np.unique(np.concatenate(keys)) for keys in pools]
        pairs = [np.divmod(keys, len(stage.chunking)) for stage, keys in zip(asked, distinct, strict=True)]
        questions = [stage.questions[q] for stage, (query, _) in zip(asked, pairs, strict=True) for q in query]
        texts = [stage.chunking.texts[c] for stage, (_, chunks) in zip(asked, pairs, strict=True) for c in chunks]
        scores = asked[0].resources.score_pairs(model, questions, texts)
        borders = np.cumsum([len(keys) for keys in distinct])[:-1]
        for stage, keys, own in zip(asked, distinct, np.split(scores, borders), strict=True):
            stage.keep_pair_scores(model, keys, own)
