"""The stages of all systems that share a chunking: each is computed once per distinct slice of the
config it reads."""

from collections.abc import Callable, Hashable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from lab.arrays import NONE, Floats, Ints, Vectors
from lab.chunking.config import ChunkConfig
from lab.config.config import Config
from lab.corpus.document import Corpus
from lab.corpus.filter import Filter
from lab.pipeline.indexes import Indexes
from lab.pipeline.resources import Resources
from lab.relevance.query import Query
from lab.retrieval import dense
from lab.retrieval.config import BM25Config, DenseConfig, RerankConfig
from lab.retrieval.fusion import ALONE, Candidates, boosted, candidates, fuse, fuse_at
from lab.retrieval.ranking import Ranking
from lab.retrieval.rerank import rerank
from lab.retrieval.variants import fuse_wordings

T = TypeVar("T")


class Stages(Indexes):
    """The indexes of one chunking asked some questions; built once per chunk config and asked by
    every system that shares it.

    `asking` gives stages with the same chunks and indexes and other questions. Where these use
    filters, both legs search only the chunks of documents that pass a question's, so that `depth`
    of these are kept whatever the index: they are scored exactly, without the graph or cells of an
    approximate one. BM25's statistics stay those of all chunks, as in search engines. Where they
    use variants, every wording of a question is searched, and rankings of its wordings are fused.
    """

    def __init__(
        self, corpus: Corpus, queries: Sequence[Query], config: ChunkConfig, resources: Resources
    ) -> None:
        super().__init__(corpus, config, resources)
        self._ask(queries, filtered=False, variants=False)

    def asking(
        self, queries: Sequence[Query], *, filtered: bool = False, variants: bool = False
    ) -> "Stages":
        """The stages that ask `queries`, with their filters and variants or without."""
        other = copy(self)
        other._ask(queries, filtered=filtered, variants=variants)
        return other

    def _ask(self, queries: Sequence[Query], *, filtered: bool, variants: bool) -> None:
        self.queries, self.questions = tuple(queries), [query.text for query in queries]
        self.filters = [query.filter if filtered else None for query in queries]
        self._memo: dict[Hashable, Any] = {}
        self._pairs: dict[str, tuple[Ints, Floats]] = {}
        # The variants of all questions as questions of their own; `owner` says whose each is.
        self.owner = np.repeat(
            np.arange(len(queries)), [len(query.variants) if variants else 0 for query in queries]
        )
        self.variants: Stages | None = None
        if len(self.owner):
            worded = [
                replace(query, text=text, variants=())
                for query in queries
                for text in query.variants
            ]
            self.variants = self.asking(worded, filtered=filtered)

    def asked_by(self, config: Config) -> "Stages":
        """The same questions as a system asks them."""
        if not config.filter and not config.variants:
            return self
        return self.asking(self.queries, filtered=config.filter, variants=config.variants)

    def _once(self, key: Hashable, compute: Callable[[], T], stage: str) -> T:
        return self._kept(self._memo, key, compute, stage)

    @property
    def wordings(self) -> tuple["Stages", ...]:
        """The questions in their own words, then their variants if these are used."""
        return (self,) if self.variants is None else (self, self.variants)

    def bm25_leg(self, config: BM25Config, depth: int) -> Ranking:
        """Lexical hits of every question."""
        return self._fused(lambda stage: stage.own_bm25(config, depth), (config, depth), depth)

    def dense_leg(self, config: DenseConfig, depth: int) -> Ranking:
        """Nearest chunks of every question."""
        return self._fused(lambda stage: stage.own_dense(config, depth), (config, depth), depth)

    def _fused(self, rank: Callable[["Stages"], Ranking], key: Hashable, depth: int) -> Ranking:
        """A ranking of the questions in their own words, fused with that of their variants if these
        are used."""
        own, others = rank(self), self.variants
        if others is None:
            return own
        return self._once(
            ("wordings", key), lambda: fuse_wordings(own, rank(others), self.owner, depth), "fuse"
        )

    def own_bm25(self, config: BM25Config, depth: int) -> Ranking:
        """Lexical hits of every question in its own words."""
        index = self.bm25_index(config)

        def among(places: Sequence[int], chunks: Ints | None) -> Ranking:
            texts = [self.questions[place] for place in places]
            return (index if chunks is None else index.only(chunks)).search(texts, depth)

        return self._once((config, depth), lambda: self._passing(among, depth), "search bm25")

    def own_dense(self, config: DenseConfig, depth: int) -> Ranking:
        """Nearest chunks of every question in its own words; a blank one, or one that the model
        gives a zero vector, is near to none."""
        index, vectors = self.dense_index(config), self.question_vectors(config)

        def among(places: Sequence[int], chunks: Ints | None) -> Ranking:
            return (index if chunks is None else index.only(chunks)).search(vectors[places], depth)

        def search() -> Ranking:
            found = self._passing(among, depth)
            blank = np.array([not question.strip() for question in self.questions]) | ~vectors.any(
                axis=1
            )
            return Ranking(
                np.where(blank[:, None], NONE, found.chunks),
                np.where(blank[:, None], -np.inf, found.scores),
            )

        return self._once((config, depth), search, "search dense")

    def _passing(
        self, among: Callable[[Sequence[int], Ints | None], Ranking], depth: int
    ) -> Ranking:
        """Search for all questions, those with one filter together: `among` is given their places
        and the chunks that pass (None: all), and its ranking counts these."""
        groups: dict[Filter | None, list[int]] = {}
        for place, one in enumerate(self.filters):
            groups.setdefault(one, []).append(place)
        if groups.keys() <= {None}:
            return among(range(len(self.filters)), None)
        shape = len(self.filters), max(1, min(depth, len(self.chunking)))
        found = Ranking(np.full(shape, NONE, dtype=np.int64), np.full(shape, -np.inf))
        for one, places in groups.items():
            passing = None if one is None else self.passing(one)
            ranking = among(places, passing)
            width = ranking.chunks.shape[1]  # several views may find fewer than `depth`
            found.chunks[places, :width] = (
                ranking.chunks if passing is None else np.append(passing, NONE)[ranking.chunks]
            )
            found.scores[places, :width] = ranking.scores
        return found

    def admits(self, query: int, doc_id: str) -> bool:
        """Whether a question may be answered from a document."""
        wanted, corpus = self.filters[query], self.chunking.corpus
        return wanted is None or doc_id not in corpus or wanted.passes(corpus[doc_id].metadata)

    def question_vectors(self, config: DenseConfig) -> Vectors:
        """Unit vectors of the questions."""

        def embed() -> Vectors:
            vectors = self.resources.embed(config.encoder, "query", self.questions)
            dense.check_finite(vectors, lambda i: f"question {self.questions[i]!r}")
            return dense.unit(vectors)

        return self._once(("questions", config.encoder), embed, "search dense")

    def candidates(self, lexical: BM25Config, semantic: DenseConfig, depth: int) -> Candidates:
        """Union of both legs with both exact scores, of every question in its own words:
        independent of alpha and normalisation."""
        legs = self.own_bm25(lexical, depth), self.own_dense(semantic, depth)
        return self._once(
            (lexical, semantic, depth),
            lambda: candidates(
                *legs,
                lambda chunks: self.bm25_index(lexical).scores(self.questions, chunks),
                lambda chunks: self.dense_index(semantic).scores(
                    self.question_vectors(semantic), chunks
                ),
            ),
            "fuse",
        )

    def first_stage(self, config: Config) -> Ranking:
        """The ranking before the reranker: one leg, or the fusion of both, with the features if it
        has any."""
        key = (config.bm25, config.dense, config.fusion, config.features, config.depth)
        return self._fused(
            lambda stage: stage._own_first_stage(config), ("first stage", *key), config.depth
        )

    def _own_first_stage(self, config: Config) -> Ranking:
        boost = self.boost(config.features)
        key = (config.bm25, config.dense, config.fusion, config.features, config.depth)
        if config.dense is None or config.bm25 is None:
            leg, lower = self._only_leg(config)
            return (
                leg
                if boost is None
                else self._once(
                    key, lambda: boosted(leg, lower, ALONE, boost, config.depth), "fuse"
                )
            )
        assert config.fusion is not None  # hybrid systems have one
        found, fusion = self.candidates(config.bm25, config.dense, config.depth), config.fusion
        return self._once(key, lambda: fuse(found, fusion, config.depth, boost), "fuse")

    def _only_leg(self, config: Config) -> tuple[Ranking, float]:
        """The leg of a system that has one, and the lower bound of its scores."""
        if config.bm25 is not None:
            return self.own_bm25(config.bm25, config.depth), 0.0
        assert config.dense is not None  # Config has at least one leg
        return self.own_dense(config.dense, config.depth), -1.0

    def reach(
        self, lexical: BM25Config | None, semantic: DenseConfig | None, depth: int
    ) -> Ranking:
        """All candidates of every question, those of its variants too if these are used; the order
        means nothing."""

        def held(stage: Stages) -> Ranking:
            if lexical is not None and semantic is not None:
                chunks = stage.candidates(lexical, semantic, depth).chunks
                return Ranking(chunks, np.zeros(chunks.shape))
            if lexical is not None:
                return stage.own_bm25(lexical, depth)
            assert semantic is not None  # a system has a leg
            return stage.own_dense(semantic, depth)

        most = 2 * depth * (1 + int(np.bincount(self.owner).max(initial=0)))
        return self._fused(held, ("reach", lexical, semantic, depth), most)

    def first_stage_of(self, config: Config, query: Ints) -> Ranking:
        """The first stage of some questions, one row each."""
        if config.bm25 is None or config.dense is None or config.fusion is None or len(self.owner):
            first = self.first_stage(config)
            return Ranking(first.chunks[query], first.scores[query])
        found = self.candidates(config.bm25, config.dense, config.depth).of(query)
        return fuse(found, config.fusion, config.depth, self.boost(config.features))

    def first_stage_at(self, config: Config, query: Ints, alphas: Floats) -> Ranking:
        """The first stage of some questions of a hybrid system, each at an alpha of its own between
        0 and 1."""
        assert config.bm25 is not None  # hybrid systems have both legs
        assert config.dense is not None
        assert config.fusion is not None
        found = self.candidates(config.bm25, config.dense, config.depth).of(query)
        return fuse_at(found, config.fusion, alphas, config.depth, self.boost(config.features))

    def pool(self, config: Config) -> tuple[str, Ints]:
        """The reranker that a system asks and its (question, chunk) pairs as numbers; no pairs
        without one."""
        if config.rerank is None:
            return "", np.zeros(0, dtype=np.int64)
        chunks = self.first_stage(config).first(config.rerank.depth).chunks
        query, place = np.nonzero(chunks != NONE)
        return config.rerank.model, query * len(self.chunking) + chunks[query, place]

    def keep_pair_scores(self, model: str, keys: Ints, scores: Floats) -> None:
        """Scores of a reranker's pairs, whose numbers ascend."""
        self._pairs[model] = keys, scores

    def pair_scores(self, config: RerankConfig, ranking: Ranking) -> Floats:
        """The reranker's scores of a ranking's head (questions x depth, NaN where there is no
        hit)."""
        keys, scores = self._pairs[config.model]
        pool = ranking.first(config.depth).chunks
        found = np.full(pool.shape, np.nan)
        query, place = np.nonzero(pool != NONE)
        found[query, place] = scores[
            np.searchsorted(keys, query * len(self.chunking) + pool[query, place])
        ]
        return found

    def known_pair_scores(self, model: str, chunks: Ints, query: Ints) -> Floats:
        """Scores of pairs that some system re-ranked (rows x any chunks, row i of question
        query[i]), NaN for others."""
        keys, scores = self._pairs[model]
        wanted = query[:, None] * len(self.chunking) + chunks
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((keys[place] == wanted) & (chunks != NONE), scores[place], np.nan)

    def score_new_pairs(self, model: str, query: Ints, chunks: Ints) -> Floats:
        """Score (question, chunk) pairs that no system re-ranked, and know them from now on."""
        asked, texts = [self.questions[q] for q in query], [self.chunking.texts[c] for c in chunks]
        found = self.resources.score_pairs(model, asked, texts)
        keys, scores = self._pairs[model]
        keys, place = np.unique(
            np.concatenate((keys, query * len(self.chunking) + chunks)), return_index=True
        )
        self._pairs[model] = keys, np.concatenate((scores, found))[place]
        return found

    def ranking(self, config: Config) -> Ranking:
        """The system's ranking of chunks; `lab.pipeline.pairs` must have seen it if it reranks."""
        first = self.first_stage(config)
        if config.rerank is None:
            return first
        return rerank(first, self.pair_scores(config.rerank, first), config.rerank, self.questions)
