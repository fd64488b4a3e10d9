"""The stages of all systems that share a chunking: each is computed once per distinct slice of the
config it reads."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from lab.arrays import NONE, Floats, Ints, Vectors
from lab.chunking.chunk import Chunking
from lab.chunking.context import Delivery
from lab.config.config import Config
from lab.corpus.filter import Filter
from lab.errors import ConfigError
from lab.pipeline.indexes import Indexes
from lab.pipeline.memo import TimedMemo
from lab.pipeline.pair_scores import PairScores
from lab.pipeline.questions import Questions
from lab.pipeline.resources import Resources
from lab.relevance.query import Query
from lab.retrieval import dense
from lab.retrieval.config import BM25Config, DenseConfig
from lab.retrieval.fusion import ALONE, Candidates, boosted, candidates, fuse, fuse_at
from lab.retrieval.ranking import Ranking
from lab.retrieval.rerank import rerank
from lab.retrieval.stored import BINARY, as_asked
from lab.retrieval.variants import fuse_wordings


class Stages:
    """The indexes of one chunking and the questions that they are asked; built once per chunk
    config and asked by every system that shares it.

    `asking` gives stages over the same indexes with other questions. Where these use filters, both
    legs search only the chunks of documents that pass a question's, so that `depth` of these are
    kept whatever the index: they are scored exactly, without the graph or cells of an approximate
    one. BM25's statistics stay those of all chunks, as in search engines. Where they use variants,
    every wording of a question is searched (`variants` are the stages that ask the others), and
    rankings of its wordings are fused. `resources`, the indexes' own by default, embed and score
    what is asked, and time it.
    """

    def __init__(
        self, indexes: Indexes, questions: Questions, resources: Resources | None = None
    ) -> None:
        resources = resources or indexes.resources
        self.indexes = indexes
        self.questions = questions
        self.resources = resources
        self.variants: Stages | None = None
        if questions.variants is not None:
            self.variants = Stages(indexes, questions.variants, resources)
        self.pairs = PairScores(indexes.chunking, questions, resources)
        self._vectors: TimedMemo[Hashable, Vectors] = TimedMemo(resources, "search dense")
        self._bm25: TimedMemo[tuple[BM25Config, int], Ranking] = TimedMemo(resources, "search bm25")
        self._dense: TimedMemo[tuple[DenseConfig, int], Ranking] = TimedMemo(
            resources, "search dense"
        )
        self._candidates: TimedMemo[tuple[BM25Config, DenseConfig, int], Candidates] = TimedMemo(
            resources, "fuse"
        )
        self._first_stages: TimedMemo[Hashable, Ranking] = TimedMemo(resources, "fuse")
        # What is fused of the wordings of a question -> its ranking.
        self._fused_wordings: TimedMemo[Hashable, Ranking] = TimedMemo(resources, "fuse")

    @property
    def chunking(self) -> Chunking:
        return self.indexes.chunking

    def delivery(self, how: str) -> Delivery:
        """What is handed to the reader for every chunk."""
        return self.indexes.delivery(how)

    @property
    def wordings(self) -> tuple["Stages", ...]:
        """The questions in their own words, then their variants if these are used."""
        return (self,) if self.variants is None else (self, self.variants)

    def trim(self, most: int) -> None:
        """Forget the rankings, and the weighed indexes, of all but the last `most` systems."""
        for memo in (
            self._bm25,
            self._dense,
            self._candidates,
            self._first_stages,
            self._fused_wordings,
        ):
            memo.trim(most)
        self.indexes.trim(most)

    def asking(
        self, queries: Sequence[Query], *, filtered: bool = False, variants: bool = False
    ) -> "Stages":
        """The stages that ask `queries`, with their filters and variants or without."""
        questions = Questions.of(queries, filtered=filtered, variants=variants)
        return Stages(self.indexes, questions, self.resources)

    def asked_by(self, config: Config) -> "Stages":
        """The same questions as a system asks them."""
        if not config.filter and not config.variants:
            return self
        return self.asking(self.questions.queries, filtered=config.filter, variants=config.variants)

    def bm25_leg(self, config: BM25Config, depth: int) -> Ranking:
        """Lexical hits of every question."""
        return self._fused(lambda stages: stages.own_bm25(config, depth), (config, depth), depth)

    def dense_leg(self, config: DenseConfig, depth: int) -> Ranking:
        """Nearest chunks of every question."""
        return self._fused(lambda stages: stages.own_dense(config, depth), (config, depth), depth)

    def _fused(self, rank: Callable[["Stages"], Ranking], key: Hashable, depth: int) -> Ranking:
        """A ranking of the questions in their own words, fused with that of their variants if these
        are used."""
        as_asked, others = rank(self), self.variants
        if others is None:
            return as_asked
        return self._fused_wordings.once(
            key, lambda: fuse_wordings(as_asked, rank(others), self.questions.owner, depth)
        )

    def own_bm25(self, config: BM25Config, depth: int) -> Ranking:
        """Lexical hits of every question in its own words."""
        index = self.indexes.bm25_index(config)

        def among(places: Sequence[int], chunks: Ints | None) -> Ranking:
            texts = [self.questions.texts[place] for place in places]
            return (index if chunks is None else index.only(chunks)).search(texts, depth)

        return self._bm25.once((config, depth), lambda: self._passing(among, depth))

    def own_dense(self, config: DenseConfig, depth: int) -> Ranking:
        """Nearest chunks of every question in its own words; a blank one, or one that the model
        gives a zero vector, is near to none."""
        index, vectors = self.indexes.dense_index(config), self.question_vectors(config)

        def among(places: Sequence[int], chunks: Ints | None) -> Ranking:
            return (index if chunks is None else index.only(chunks)).search(vectors[places], depth)

        def search() -> Ranking:
            nearest = self._passing(among, depth)
            blank = np.array([not text.strip() for text in self.questions.texts])
            nowhere = (blank | ~vectors.any(axis=1))[:, None]
            return Ranking(
                np.where(nowhere, NONE, nearest.chunks),
                np.where(nowhere, -np.inf, nearest.scores),
            )

        return self._dense.once((config, depth), search)

    def _passing(
        self, among: Callable[[Sequence[int], Ints | None], Ranking], depth: int
    ) -> Ranking:
        """Search for all questions, those with one filter together: `among` is given their places
        and the chunks that pass (None: all), and its ranking counts these."""
        groups: dict[Filter | None, list[int]] = {}
        for place, wanted in enumerate(self.questions.filters):
            groups.setdefault(wanted, []).append(place)
        if groups.keys() <= {None}:
            return among(range(len(self.questions)), None)
        shape = len(self.questions), max(1, min(depth, len(self.chunking)))
        hits = Ranking(np.full(shape, NONE, dtype=np.int64), np.full(shape, -np.inf))
        for wanted, places in groups.items():
            passing = None if wanted is None else self.indexes.passing(wanted)
            ranking = among(places, passing)
            width = ranking.chunks.shape[1]  # several views may find fewer than `depth`
            hits.chunks[places, :width] = (
                ranking.chunks if passing is None else np.append(passing, NONE)[ranking.chunks]
            )
            hits.scores[places, :width] = ranking.scores
        return hits

    def admits(self, query: int, doc_id: str) -> bool:
        """Whether a question may be answered from a document."""
        wanted, corpus = self.questions.filters[query], self.chunking.corpus
        return wanted is None or doc_id not in corpus or wanted.passes(corpus[doc_id].metadata)

    def question_vectors(self, config: DenseConfig) -> Vectors:
        """Vectors of the questions, as they are compared."""

        def embed() -> Vectors:
            texts = self.questions.texts
            vectors = self.resources.embed(config.encoder, "query", texts)
            dense.check_finite(vectors, lambda i: f"question {texts[i]!r}")
            return as_asked(vectors, config.dims, config.storage, similarity)

        similarity = self.resources.similarity(config)
        compared = config.dims, config.storage == BINARY
        return self._vectors.once((config.encoder, similarity, *compared), embed)

    def candidates(self, lexical: BM25Config, semantic: DenseConfig, depth: int) -> Candidates:
        """Union of both legs with both exact scores, of every question in its own words:
        independent of alpha and normalisation."""
        bm25, nearest = self.own_bm25(lexical, depth), self.own_dense(semantic, depth)

        def bm25_scores(chunks: Ints) -> Floats:
            return self.indexes.bm25_index(lexical).scores(self.questions.texts, chunks)

        def dense_scores(chunks: Ints) -> Floats:
            vectors = self.question_vectors(semantic)
            return self.indexes.dense_index(semantic).scores(vectors, chunks)

        return self._candidates.once(
            (lexical, semantic, depth), lambda: candidates(bm25, nearest, bm25_scores, dense_scores)
        )

    def first_stage(self, config: Config) -> Ranking:
        """The ranking before the reranker: one leg, or the fusion of both, with the features if it
        has any."""
        key = "first stage", *_first_stage_key(config)
        return self._fused(lambda stages: stages._own_first_stage(config), key, config.depth)

    def _own_first_stage(self, config: Config) -> Ranking:
        boost, key = self.indexes.boost(config.features), _first_stage_key(config)
        if config.dense is None or config.bm25 is None:
            leg, lower = self._only_leg(config)
            if boost is None:
                return leg
            return self._first_stages.once(
                key, lambda: boosted(leg, lower, ALONE, boost, config.depth)
            )
        fusion = config.fusion
        assert fusion is not None  # hybrid systems have one
        both = self.candidates(config.bm25, config.dense, config.depth)
        if isinstance(fusion.alpha, float):
            return self._first_stages.once(key, lambda: fuse(both, fusion, config.depth, boost))
        alphas = self.alphas(config)
        return self._first_stages.once(
            key, lambda: fuse_at(both, fusion, alphas, config.depth, boost)
        )

    def alphas(self, config: Config) -> Floats:
        """The alpha of every question of a hybrid system."""
        fusion = config.fusion
        assert fusion is not None  # hybrid systems have one
        if isinstance(fusion.alpha, float):
            return np.full(len(self.questions), fusion.alpha)
        if isinstance(fusion.alpha, str):
            raise ConfigError(
                f"alpha '{fusion.alpha}' is learned from questions whose evidence is known: sweep "
                "it, and load the run"
            )
        return fusion.alpha.of(self, config)

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

        def held(stages: Stages) -> Ranking:
            if lexical is not None and semantic is not None:
                chunks = stages.candidates(lexical, semantic, depth).chunks
                return Ranking(chunks, np.zeros(chunks.shape))
            if lexical is not None:
                return stages.own_bm25(lexical, depth)
            assert semantic is not None  # a system has a leg
            return stages.own_dense(semantic, depth)

        most = 2 * depth * (1 + int(np.bincount(self.questions.owner).max(initial=0)))
        return self._fused(held, ("reach", lexical, semantic, depth), most)

    def first_stage_at(self, config: Config, query: Ints, alphas: Floats) -> Ranking:
        """The first stage of some questions of a hybrid system, each at an alpha of its own in
        [0, 1]."""
        assert config.bm25 is not None  # hybrid systems have both legs
        assert config.dense is not None
        assert config.fusion is not None
        of_questions = self.candidates(config.bm25, config.dense, config.depth).of(query)
        boost = self.indexes.boost(config.features)
        return fuse_at(of_questions, config.fusion, alphas, config.depth, boost)

    def pool(self, config: Config) -> tuple[str, Ints]:
        """The reranker that a system asks and its (question, chunk) pairs as numbers; no pairs
        without one."""
        if config.rerank is None:
            return "", np.zeros(0, dtype=np.int64)
        chunks = self.first_stage(config).first(config.rerank.depth).chunks
        query, place = np.nonzero(chunks != NONE)
        return config.rerank.model, query * len(self.chunking) + chunks[query, place]

    def ranking(self, config: Config) -> Ranking:
        """The system's ranking of chunks; `lab.pipeline.pairs` must have seen it if it reranks."""
        first = self.first_stage(config)
        if config.rerank is None:
            return first
        scores = self.pairs.of_head(config.rerank, first)
        return rerank(first, scores, config.rerank, self.questions.texts)


def _first_stage_key(config: Config) -> tuple[Hashable, ...]:
    """What a first stage reads of a config."""
    return config.bm25, config.dense, config.fusion, config.features, config.depth
