"""What every system of a sweep costs, as far as it was measured."""

from collections.abc import Mapping, Sequence

import numpy as np

from lab.arrays import Floats
from lab.config.config import Config
from lab.evaluation.costs import Costs
from lab.retrieval.stored import bytes_each
from lab.sweeping.profile import Latency, Profile

# A foreign system's stages are not known; it counts as if it had them all.
ALL_STAGES = 5


def costs_of(
    configs: Sequence[Config],
    context_tokens: Floats,
    profile: Profile | None,
    dimensions: Mapping[str, int],
) -> Costs:
    """Context tokens; latency and index bytes after a profiled sweep only, the latency then
    differing from run to run; bytes of a chunk's vector where systems store them otherwise than
    whole; and stages, of which one that needs a model counts twice."""
    latency = np.full(len(configs), np.nan)
    if profile is not None:
        latency = (
            np.array([profile.latencies.get(config, Latency()).p50 for config in configs]) / 1000
        )
    stages = np.array([_stages(config) for config in configs])
    vectors = vector_bytes(configs, dimensions)
    return Costs(context_tokens, latency, stages, index_bytes(configs, profile), vectors)


def _stages(config: Config) -> float:
    if config.retriever is not None:
        return ALL_STAGES
    return (
        (config.bm25 is not None)
        + 2.0 * (config.dense is not None)
        + 2.0 * (config.rerank is not None)
    )


def index_bytes(configs: Sequence[Config], profile: Profile | None) -> Floats:
    """Size of every system's indexes, NaN where it was not measured."""
    if profile is None:
        return np.full(len(configs), np.nan)
    return np.array([profile.index_bytes(config) for config in configs])


def vector_bytes(configs: Sequence[Config], dimensions: Mapping[str, int]) -> Floats:
    """Bytes of a chunk's vector under every system, 0 without one; none at all where all systems
    store whole float32 vectors."""
    legs = [config.dense for config in configs]
    if all(leg is None or leg.stores_whole for leg in legs):
        return np.array([])
    return np.array(
        [
            0.0 if leg is None else bytes_each(leg.dims or dimensions[leg.encoder], leg.storage)
            for leg in legs
        ]
    )
