"""Models and cache together: every distinct text is encoded once, every distinct pair scored once,
ever."""

import hashlib
import time
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lab.arrays import Floats, Ints, Span, Vectors
from lab.chunking.units import words
from lab.cluster.cluster import Cluster
from lab.corpus.document import Corpus
from lab.errors import ConfigError, ModelError
from lab.pipeline.given import asking, checked_vectors, encoding, scored_parts, token_vectors
from lab.pipeline.kept import Kept
from lab.pipeline.memory import peak_megabytes
from lab.pipeline.slabs import SLAB, slabs
from lab.pipeline.tokens import starts_of
from lab.retrieval.config import DEFAULT_MODEL, LIKELIHOOD, MAXSIM, DenseConfig
from lab.retrieval.cross_encoder import CrossEncoderScorer
from lab.retrieval.encoder import Encoder, SentenceEncoder
from lab.retrieval.late import late_vectors
from lab.retrieval.likelihood import QueryLikelihood
from lab.retrieval.prompts import Role
from lab.retrieval.rerank import MaxSim, PairScorer
from lab.retrieval.stored import is_binary
from lab.retrieval.synonyms import Synonyms, read_synonyms
from lab.storage.cache import Cache, cache_key
from lab.storage.progress import Progress, Silent


@dataclass
class Resources:
    """What stages need beside their config. `encoders` and `scorers` given by name take the place
    of models to load; `seconds` says where the time went, `peak_mb` the most memory that the
    process had held when a stage last ended, `counted` of all texts and pairs asked for whether
    each had to be computed, `reranked` of every pair of a cross-encoder whether it was saturated
    and whether it was cut. A `cluster` encodes where there is one."""

    cache: Cache
    progress: Progress = field(default_factory=Silent)
    encoders: dict[str, Encoder] = field(default_factory=dict)
    scorers: dict[str, PairScorer] = field(default_factory=dict)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    peak_mb: dict[str, float] = field(default_factory=dict)
    reranked: dict[str, dict[bytes, tuple[bool, bool]]] = field(default_factory=dict)
    cluster: Cluster | None = None
    _synonyms: dict[str, Synonyms] = field(default_factory=dict)
    counted: dict[str, dict[bytes, bool]] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of the block to a stage, but for what stages inside it take: all stages add
        up to the whole."""
        start, before = time.perf_counter(), sum(self.seconds.values())
        yield
        self.seconds[stage] += time.perf_counter() - start - (sum(self.seconds.values()) - before)
        self.peak_mb[stage] = peak_megabytes()

    @cached_property
    def kept(self) -> Kept:
        """What models have computed in this run and the cache keeps."""
        return Kept(self.cache)

    def encoder(self, name: str) -> Encoder:
        """An encoder by `DenseConfig.encoder`, the model's name with how it computes."""
        if name not in self.encoders:
            self.encoders[name] = SentenceEncoder(*name.split("|"))  # type: ignore[arg-type]
        return self.encoders[name]

    def similarity(self, config: DenseConfig) -> str:
        """How a leg compares vectors: as it says, else as its model's authors do."""
        if is_binary(config.storage):
            return "cosine"  # of signs; whatever the lengths, they are gone
        if config.similarity != "model":
            return config.similarity
        return str(getattr(self.encoder(config.encoder), "similarity", "cosine"))

    def scorer(self, name: str) -> PairScorer:
        if name not in self.scorers:
            method, _, model = name.partition(":")
            if method == MAXSIM:
                encoder = self.encoder(model or DEFAULT_MODEL)
                if not isinstance(encoder, SentenceEncoder):
                    raise ModelError(
                        f"rerank.model '{name}' reads token vectors, which the given encoder does "
                        "not have; "
                        "name a sentence-transformers model (maxsim:NAME) or give a reranker of "
                        "that name"
                    )
                self.scorers[name] = MaxSim(encoder)
            elif method == LIKELIHOOD:
                self.scorers[name] = QueryLikelihood(model)
            else:
                self.scorers[name] = CrossEncoderScorer(name)
        return self.scorers[name]

    def read_synonyms(self, paths: Iterable[str]) -> None:
        """Read files of rules, each once, so that a sweep sees one state of them. Raises
        ConfigError with every bad line."""
        problems: list[str] = []
        for path in paths:
            try:
                self.synonyms(path)
            except ConfigError as fault:
                problems.extend(fault.problems)
        if problems:
            raise ConfigError(problems)

    def synonyms(self, path: str) -> Synonyms:
        """The rules of a file."""
        if path not in self._synonyms:
            self._synonyms[path] = read_synonyms(path)
        return self._synonyms[path]

    def know_synonyms(self, path: str, rules: Synonyms) -> None:
        """Rules that were kept of a file, whatever lies at its path now."""
        self._synonyms[path] = rules

    def encode(self, model: str, role: Role, texts: Iterable[str]) -> None:
        """Put the vectors of those texts into the cache that it does not hold yet, without reading
        the others."""
        keys = self._vector_keys(model, role, texts)
        held = self.cache.holding(keys.values())
        self._count("texts", keys.values(), held)
        self.embed(model, role, [text for text, key in keys.items() if key not in held])

    def _vector_keys(self, model: str, role: Role, texts: Iterable[str]) -> dict[str, bytes]:
        encoder = self.encoder(model)
        prefix = ("vector", encoder.identity, encoder.prompt(role))
        return {text: cache_key(*prefix, text) for text in texts}

    def embed(self, model: str, role: Role, texts: Sequence[str]) -> Vectors:
        """One vector a text, from the cache where it has them."""
        encoder, keys = self.encoder(model), self._vector_keys(model, role, texts)
        known = self.cache.get(keys.values())
        missing = sorted(
            (text for text, key in keys.items() if key not in known),
            key=lambda text: (len(text), text),
        )
        self._count("texts", keys.values(), known)
        keep = token_vectors(encoder, self.scorers.values()) if role == "passage" else None
        with self.timed("encode"):
            encode, size = encoding(encoder, model, self.cluster, keep)
            advance = self.progress.stage(
                f"encode {'questions' if role == 'query' else 'texts'}", len(missing)
            )
            for slab in slabs(missing, size):
                with self.kept.part("encoded text", model) as finite:
                    for places, given in encode(slab, role, advance):
                        vectors = checked_vectors(model, len(places), given)
                        for place, vector in zip(places, vectors, strict=True):
                            key = keys[slab[place]]
                            known[key] = vector.astype("<f4").tobytes()
                            if np.isfinite(vector).all():
                                finite[key] = known[key]
        if not texts:
            return np.zeros((0, 1), dtype=np.float32)
        rows = [known[keys[text]] for text in texts]
        if len(lengths := {len(row) // 4 for row in rows}) > 1:
            raise ModelError(
                f"model '{model}' has vectors of several dimensions "
                f"({', '.join(map(str, sorted(lengths)))}) under the identity "
                f"{encoder.identity!r}; expected another identity for every other model"
            )
        return np.frombuffer(b"".join(rows), dtype="<f4").reshape(len(texts), -1)

    def embed_late(self, model: str, spans: Sequence[tuple[str, int, int]]) -> Vectors:
        """One vector a span (its document's text, start, end) as read within the document, from the
        cache where it has them. A document is read once for all its spans that are missing."""
        encoder = self.encoder(model)
        assert isinstance(
            encoder, SentenceEncoder
        )  # others are refused before (see lab.sweeping.preflight.needs)
        digests = {
            text: hashlib.sha256(text.encode()).hexdigest()
            for text in {text for text, _, _ in spans}
        }
        prefix = ("late vector", encoder.identity, encoder.prompt("passage"))
        keys = [
            cache_key(*prefix, digests[text], str(start), str(end)) for text, start, end in spans
        ]
        known = self.cache.get(keys)
        missing: dict[str, dict[bytes, Span]] = {}
        for key, (text, start, end) in zip(keys, spans, strict=True):
            if key not in known:
                missing.setdefault(text, {})[key] = start, end
        self._count("texts", keys, known)
        with self.timed("encode"):
            advance = self.progress.stage("encode documents", len(missing))
            for text in sorted(missing, key=lambda text: (len(text), text)):
                vectors = late_vectors(
                    encoder, text, list(missing[text].values()), scaled=encoder.scales
                )
                fresh = {
                    key: vector.astype("<f4").tobytes()
                    for key, vector in zip(missing[text], vectors, strict=True)
                }
                self.kept.put("encoded text", model, fresh)
                known |= fresh
                advance(1)
        if not spans:
            return np.zeros((0, 1), dtype=np.float32)
        return np.frombuffer(b"".join(known[key] for key in keys), dtype="<f4").reshape(
            len(spans), -1
        )

    def score_pairs(self, model: str, questions: Sequence[str], texts: Sequence[str]) -> Floats:
        """One score a (question, text) pair, from the cache where it has them."""
        scorer = self.scorer(model)
        prefix = "pair", scorer.identity  # asked once: it may read files
        keys = [
            cache_key(*prefix, question, text)
            for question, text in zip(questions, texts, strict=True)
        ]
        known = self.cache.get(keys)
        missing = {key: place for place, key in enumerate(keys) if key not in known}
        # One text after the other: a reranker that reads a text once serves all its questions in
        # one slab. A hosted one is asked a question at a time.
        by_question = getattr(scorer, "by_question", False)
        order = sorted(
            missing.values(),
            key=lambda i: (by_question and questions[i], len(texts[i]), texts[i], questions[i]),
        )
        self._count("pairs", keys, known)
        with self.timed("rerank"), asking(model):
            advance = self.progress.stage("score pairs", len(missing))
            for slab in slabs(order, 8 * SLAB):
                asked, read = [questions[i] for i in slab], [texts[i] for i in slab]
                with self.kept.part("scored pair", model) as fresh:
                    for places, scores in scored_parts(model, scorer, asked, read, advance):
                        for place, score in zip(places, scores, strict=True):
                            fresh[keys[slab[place]]] = score.astype("<f8").tobytes()
                known |= fresh
        all_scores = np.frombuffer(b"".join(known[key] for key in keys), dtype="<f8")
        if isinstance(scorer, CrossEncoderScorer):
            pairs = zip(questions, texts, all_scores.tolist(), strict=True)
            self._reread(model, scorer, dict(zip(keys, pairs, strict=True)))
        return all_scores

    def _reread(
        self, model: str, scorer: CrossEncoderScorer, pairs: dict[bytes, tuple[str, str, float]]
    ) -> None:
        """Count what a cross-encoder does not tell apart and does not read to the end, every pair
        once."""
        of_pairs = self.reranked.setdefault(model, {})
        fresh = {key: pair for key, pair in pairs.items() if key not in of_pairs}
        saturated = scorer.saturated(np.array([score for _, _, score in fresh.values()]))
        cut = scorer.cut([q for q, _, _ in fresh.values()], [t for _, t, _ in fresh.values()])
        of_pairs.update(zip(fresh, zip(saturated.tolist(), cut.tolist(), strict=True), strict=True))

    def _count(self, what: str, keys: Iterable[bytes], known: Container[bytes]) -> None:
        """Count every distinct key once a run, however often its value is asked for."""
        counted = self.counted.setdefault(what, {})
        counted |= {key: key not in known for key in set(keys) - counted.keys()}

    @property
    def counts(self) -> dict[str, int]:
        """How many distinct texts and pairs were computed, and how many came from the cache."""
        return {
            f"{what} {how}": sum(computed is (how == "computed") for computed in keys.values())
            for what, keys in self.counted.items()
            for how in ("computed", "cached")
        }

    def token_starts(self, model: str | None, corpus: Corpus) -> list[Ints]:
        """Per document the offsets at which tokens of the model begin; of words, when there is no
        model."""
        if model is None:
            return [starts_of(words(document.text)) for document in corpus]
        encoder = self.encoder(model)
        counter = getattr(encoder, "counted_by", encoder.identity)
        keys = [cache_key("token starts", counter, document.text) for document in corpus]
        known = self.cache.get(keys)
        missing = {
            key: document for key, document in zip(keys, corpus, strict=True) if key not in known
        }
        advance = self.progress.stage("count tokens", len(missing))
        fresh: dict[bytes, bytes] = {}
        for key, document in missing.items():
            fresh[key] = starts_of(encoder.offsets(document.text)).astype("<i4").tobytes()
            advance(1)
        self.cache.put(fresh, model)
        return [np.frombuffer((known | fresh)[key], dtype="<i4").astype(np.int64) for key in keys]
