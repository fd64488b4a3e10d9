"""Workplace: where the tasks of a cluster find the cache, models and whom to report to."""

from dataclasses import dataclass
from typing import Any

from lab.cluster.cluster import fetched, task_name
from lab.cluster.keeper import KeptElsewhere, Listener, Reported, start_keeper
from lab.pipeline.resources import Resources
from lab.pipeline.shares import loaded
from lab.retrieval.cross_encoder import CrossEncoderScorer
from lab.retrieval.encoder import SentenceEncoder
from lab.retrieval.likelihood import QueryLikelihood
from lab.retrieval.rerank import MaxSim, PairScorer

# Rerankers that this worker has loaded.
_scorers: dict[str, PairScorer] = {}


@dataclass(frozen=True, eq=False)
class Workplace:
    """Handed to every task: a keeper, and a reference to the encoders and rerankers that were
    given as objects, which travel to the workers."""

    keeper: Any
    given: Any

    @staticmethod
    def of(resources: Resources) -> "Workplace":
        """The workplace of tasks that work for the one who holds these resources."""
        assert resources.cluster is not None  # there are no tasks without
        given = (
            {
                name: encoder
                for name, encoder in resources.encoders.items()
                if not isinstance(encoder, SentenceEncoder)
            },
            {
                name: scorer
                for name, scorer in resources.scorers.items()
                if not isinstance(scorer, CrossEncoderScorer | MaxSim | QueryLikelihood)
            },
        )
        return Workplace(start_keeper(resources.cache.path), resources.cluster.put(given))

    def listener(self, resources: Resources) -> Listener:
        """Tells what tasks report."""
        return Listener(self.keeper, resources.progress)

    def resources(self) -> Resources:
        """Resources of one task. Models stay with the worker; the cache is the keeper's."""
        encoders, scorers = fetched(self.given)
        loaded.update(encoders)
        _scorers.update(scorers)
        return Resources(
            KeptElsewhere(self.keeper), Reported(self.keeper, task_name()), loaded, _scorers
        )
