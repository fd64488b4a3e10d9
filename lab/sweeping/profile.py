"""What a sweep cost: sizes of the indexes, and how long each system takes to answer."""

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lab.config.config import Config
from lab.pipeline.questions import Questions
from lab.pipeline.stages import Stages

# Questions that are asked one at a time.
SAMPLE = 50


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds for one question under one system, retrieval alone: analysis, both legs, fusion;
    neither the encoding of the question nor a reranker. `p50` and `p95` of questions asked one at a
    time, `batch` a question's share when all are asked at once. NaN for a foreign system, which
    runs elsewhere."""

    p50: float = float("nan")
    p95: float = float("nan")
    batch: float = float("nan")


@dataclass
class Profile:
    """Collected while a sweep runs: `indexes` are bytes by chunking and leg, `latencies` a system's
    by its config."""

    indexes: dict[str, int] = field(default_factory=dict)
    latencies: dict[Config, Latency] = field(default_factory=dict)

    def measure(self, stage: Stages, systems: Mapping[Config, Config]) -> None:
        """Time the systems of one chunking (by their configs), whose indexes are built, and add up
        what these hold."""
        for config, system in systems.items():
            # A reranker is not timed, so its system answers as fast as the one without.
            plain = config.model_copy(update={"rerank": None})
            if plain not in self.latencies:
                asked = system.model_copy(update={"rerank": None})
                self.latencies[plain] = latency(stage, asked)
            self.latencies[config] = self.latencies[plain]
            legs = {
                "bm25": config.bm25 and stage.indexes.bm25_index(config.bm25),
                "dense": config.dense and stage.indexes.dense_index(config.dense),
            }
            self.indexes |= {
                f"{_place(config)} {leg}": index.size for leg, index in legs.items() if index
            }

    def index_bytes(self, config: Config) -> float:
        """Bytes of the indexes that a system searches; NaN for a foreign one."""
        legs = [leg for leg in ("bm25", "dense") if getattr(config, leg) is not None]
        return (
            float(sum(self.indexes.get(f"{_place(config)} {leg}", float("nan")) for leg in legs))
            if legs
            else float("nan")
        )

    def columns(self, configs: Sequence[Config]) -> Mapping[str, list[float]]:
        """Latencies as columns of the table of systems, one entry a system."""
        known = [self.latencies.get(config, Latency()) for config in configs]
        return {
            "query_p50_ms": [latency.p50 for latency in known],
            "query_p95_ms": [latency.p95 for latency in known],
            "query_batch_ms": [latency.batch for latency in known],
        }


def _place(config: Config) -> str:
    """Whose indexes these are: a chunking's, and with further views another one."""
    return " ".join(
        [config.chunk.label, *(["+".join(config.views)] if len(config.views) > 1 else [])]
    )


def latency(stage: Stages, config: Config) -> Latency:
    """Ask a sample of the questions one at a time and all of them at once, each after a first time
    that is not counted."""
    every = range(len(stage.questions))
    sample = [[place] for place in every[:: max(len(every) // SAMPLE, 1)]]
    _ask(stage, config, sample[0])
    single = [_ask(stage, config, places) for places in sample]
    _ask(stage, config, every)
    p50, p95 = np.percentile(single, [50, 95])
    return Latency(float(p50), float(p95), _ask(stage, config, every) / max(len(every), 1))


def _ask(stage: Stages, config: Config, places: Sequence[int]) -> float:
    """Milliseconds for some questions together, their vectors given."""
    queries = [stage.questions.queries[place] for place in places]
    questions = Questions.of(queries, filtered=config.filter, variants=config.variants)
    # What is timed here is no stage of the sweep.
    elsewhere = replace(stage.resources, seconds=defaultdict(float), peak_mb={})
    asking = Stages(stage.indexes, questions, elsewhere)
    for wording in asking.wordings:
        if config.dense is not None:
            wording.question_vectors(config.dense)
    start = time.perf_counter()
    asking.first_stage(config)
    return 1000 * (time.perf_counter() - start)
