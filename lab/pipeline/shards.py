"""Shards: the documents of a corpus in parts, each held by an actor of a cluster."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lab.arrays import Ints
from lab.chunking.chunk import Chunking
from lab.chunking.config import ChunkConfig
from lab.cluster.cluster import result
from lab.config.config import Config
from lab.corpus.document import Corpus
from lab.errors import CorpusError
from lab.pipeline.resources import Resources
from lab.pipeline.shard import Shard
from lab.pipeline.work import absorb
from lab.pipeline.workplace import Workplace

# Seconds between two looks at what shards report.
PULSE = 0.5


def _shard(workplace: Workplace, documents: Any) -> Any:
    """An actor that holds the documents of a reference. It is started again should its worker or
    node die, and what was asked is asked again."""
    import ray

    class Actor(Shard):
        def __init__(self, place: Workplace, held: Sequence[Any]) -> None:
            super().__init__(result(held[0]), place.resources())

    options: dict[str, Any] = {"max_restarts": -1, "max_task_retries": -1}
    spread = {"num_cpus": 0.001, "scheduling_strategy": "SPREAD"}
    # Within a list it is the reference that travels, of which another start needs the value again.
    return ray.remote(Actor).options(**options, **spread).remote(workplace, [documents])


class Shards:
    """Consecutive parts of a corpus, about equally many documents each."""

    def __init__(self, corpus: Corpus, count: int, resources: Resources) -> None:
        workplace = Workplace.of(resources)
        self._listen = workplace.listener(resources)
        assert resources.cluster is not None  # shards lie in one
        self._resources, self._cluster = resources, resources.cluster
        borders = np.linspace(0, len(corpus), min(count, len(corpus)) + 1).astype(int)
        self._first = borders[:-1]
        # References, too, are kept: a shard that is started again fetches its documents anew.
        self._workplace = workplace
        self._documents = [
            self._cluster.put(list(corpus.documents[first:end])) for first, end in pairwise(borders)
        ]
        self._actors = [_shard(workplace, documents) for documents in self._documents]

    def ask(self, method: str, arguments: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """What every shard returns; None of those that are not asked."""
        import ray

        waiting = [
            None if some is None else getattr(actor, method).remote(*some)
            for actor, some in zip(self._actors, arguments, strict=True)
        ]
        left = [reference for reference in waiting if reference is not None]
        while left:
            _, left = ray.wait(left, num_returns=len(left), timeout=PULSE)
            self._listen()
        return [None if reference is None else result(reference) for reference in waiting]

    def cut(self, corpus: Corpus, config: ChunkConfig) -> tuple[Chunking, Ints]:
        """The chunking of the whole, and the first chunk of every shard, with the end of the last.
        Raises CorpusError where nothing can be indexed."""
        parts: list[Chunking | None] = self.ask("cut", [(config,)] * len(self._actors))
        whole = [
            (part, document) for part, document in zip(parts, self._first, strict=True) if part
        ]
        if not whole:
            raise CorpusError("the corpus has no text but white space; nothing can be indexed")
        first = np.cumsum([0, *(len(part) if part else 0 for part in parts)])
        starts = [first[place] for place, part in enumerate(parts) if part]
        start, end, level = (
            np.concatenate([getattr(part, name) for part, _ in whole])
            for name in ("start", "end", "level")
        )
        return Chunking(
            corpus,
            np.concatenate([part.document + document for part, document in whole]),
            start,
            end,
            level,
            blank=sum(part.blank for part, _ in whole),
            faults=tuple(fault for part, _ in whole for fault in part.faults),
            shared=tuple(
                (chunk + int(ahead), of)
                for (part, _), ahead in zip(whole, starts, strict=True)
                for chunk, of in part.shared
            ),
        ), first

    def put(self, value: Any) -> Any:
        """A reference to what shards are handed again and again."""
        return self._cluster.put(value)

    def encode(self, configs: Iterable[Config]) -> None:
        """Have every shard encode its own chunks and views."""
        for chunk, dense in dict.fromkeys((c.chunk, c.dense) for c in configs if c.dense):
            self.ask("encode", [(chunk, dense)] * len(self._actors))

    def end(self) -> None:
        """End the actors, and add their work to that of the one who asked."""
        import ray

        for work in self.ask("work", [()] * len(self._actors)):
            absorb(self._resources, work)
        for actor in self._actors:
            ray.kill(actor)
