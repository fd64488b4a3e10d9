"""Tools: what a sweep works with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.config.retriever import RetrieverConfig
from lab.errors import RerankerError
from lab.pipeline.foreign.retriever import Retriever
from lab.pipeline.resources import Resources
from lab.retrieval.encoder import Encoder
from lab.retrieval.rerank import PairScorer
from lab.storage.cache import Cache, default_cache_path
from lab.storage.progress import Progress, Silent


@dataclass(frozen=True, slots=True)
class Tools:
    """What a sweep works with (see `lab.sweep`); `failed` are the rerankers that it has to do
    without."""

    cache: Path | None = None
    progress: Progress = field(default_factory=Silent)
    encoders: Mapping[str, Encoder] = field(default_factory=dict)
    rerankers: Mapping[str, PairScorer] = field(default_factory=dict)
    retrievers: Mapping[str, Retriever | RetrieverConfig] = field(default_factory=dict)
    profile: bool = False
    failed: tuple[RerankerError, ...] = ()

    def resources(self) -> Resources:
        """Models and cache of one sweep, which counts and times what it computes."""
        cache = Cache(self.cache or default_cache_path(), self.progress.note)
        return Resources(cache, self.progress, dict(self.encoders), dict(self.rerankers))
