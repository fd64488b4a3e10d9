"""Tools: what a sweep works with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.cluster.cluster import Cluster
from lab.config.hosted import HostedEncoderConfig, HostedRerankerConfig
from lab.config.retriever import RetrieverConfig
from lab.errors import ConfigError, RerankerError
from lab.evaluation.alpha_rules import AlphaRule
from lab.pipeline.foreign.retriever import Retriever
from lab.pipeline.hosted.connected import connected_encoders, connected_rerankers
from lab.pipeline.resources import Resources
from lab.retrieval.encoder import Encoder
from lab.retrieval.rerank import PairScorer
from lab.storage.cache import Cache, default_cache_path
from lab.storage.progress import Progress, Silent


@dataclass(frozen=True, slots=True)
class Tools:
    """What a sweep works with (see `lab.sweep`); `failed` are the rerankers that it has to do
    without, `rule` what gives questions their alpha if that is not to be learned."""

    cache: Path | None = None
    progress: Progress = field(default_factory=Silent)
    encoders: Mapping[str, Encoder | HostedEncoderConfig] = field(default_factory=dict)
    rerankers: Mapping[str, PairScorer | HostedRerankerConfig] = field(default_factory=dict)
    retrievers: Mapping[str, Retriever | RetrieverConfig] = field(default_factory=dict)
    profile: bool = False
    failed: tuple[RerankerError, ...] = ()
    cluster: Cluster | None = None
    shards: int = 1
    rule: AlphaRule | None = None

    def resources(self, cache: Cache | None = None) -> Resources:
        """Models and cache of one sweep, which counts and times what it computes."""
        cache = cache or Cache(self.cache or default_cache_path(), self.progress.note)
        encoders, rerankers = connected_encoders(self.encoders), connected_rerankers(self.rerankers)
        return Resources(cache, self.progress, encoders, rerankers, cluster=self.cluster)


def check_shards(tools: Tools) -> None:
    """Raises ConfigError for shards that are no number, or have no cluster to lie in."""
    if isinstance(tools.shards, bool) or not isinstance(tools.shards, int) or tools.shards < 1:
        raise ConfigError(f"corpus.shards is {tools.shards!r}; expected a whole number from 1")
    if tools.shards > 1 and tools.cluster is None:
        raise ConfigError(
            f"corpus.shards = {tools.shards} needs Ray's processes to lie in; add --ray (in Python "
            "cluster=), or leave it out"
        )
