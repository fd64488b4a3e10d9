"""A leg that lies in shards: what comes back are the scores and ranks of one index."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from lab.arrays import NONE, Floats, Ints
from lab.pipeline.shards import Shards
from lab.retrieval import bm25
from lab.retrieval.ranking import Ranking, rank


class ShardedLeg:
    """One leg over all shards, asked as `Views` are. `legs` are references to each shard's `Leg`
    (None for one without chunks), `first` is the first chunk of each and the end of the last, and
    `numbered` gives questions as a shard is asked them. `own` has the terms and weights of BM25's
    whole, without postings. `chosen` are the chunks that are searched, by default all."""

    def __init__(
        self,
        shards: Shards,
        legs: Sequence[Any],
        first: Ints,
        numbered: Callable[[Any, int], Any],
        own: bm25.BM25 | None = None,
        chosen: Ints | None = None,
    ) -> None:
        self._shards, self._legs, self._first, self._numbered = shards, legs, first, numbered
        self.own, self._chosen = own, chosen

    @property
    def size(self) -> int:
        """Bytes of all indexes."""
        sizes = self._shards.ask("size", [None if leg is None else (leg,) for leg in self._legs])
        return sum(size or 0 for size in sizes)

    def only(self, chunks: Ints) -> "ShardedLeg":
        """The same over some chunks (ascending), which are numbered anew."""
        return ShardedLeg(self._shards, self._legs, self._first, self._numbered, self.own, chunks)

    def search(self, questions: Any, depth: int) -> Ranking:
        """The best `depth` chunks of every question: each is among the first of its shard."""
        borders = self._borders
        depth = max(1, min(depth, int(borders[-1])))
        arguments = [
            None
            if low == high
            else (leg, self._numbered(questions, shard), depth, self._among(shard))
            for shard, (leg, (low, high)) in enumerate(
                zip(self._legs, pairwise(borders.tolist()), strict=True)
            )
        ]
        hits = [
            Ranking(np.where(part.chunks == NONE, NONE, part.chunks + low), part.scores)
            for part, low in zip(self._shards.ask("search", arguments), borders[:-1], strict=True)
            if part is not None
        ]
        if not hits:
            shape = len(questions), 1
            return Ranking(np.full(shape, NONE, dtype=np.int64), np.full(shape, -np.inf))
        chunks, scores = (
            np.concatenate([getattr(part, name) for part in hits], axis=1)
            for name in ("chunks", "scores")
        )
        return rank(chunks, scores, depth)

    def scores(self, questions: Any, chunks: Ints) -> Floats:
        """Exact scores of given chunks (questions x any, NONE for absent), NaN where there is
        none."""
        return self._looked_up("scores", questions, chunks)

    def scores_of_others(self, questions: Any, chunks: Ints) -> Floats:
        """The best score over the views other than the chunk's own text."""
        return self._looked_up("scores_of_others", questions, chunks)

    @property
    def _borders(self) -> Ints:
        """Of the chunks that are searched, the first of every shard, and the end of the last."""
        if self._chosen is None:
            return self._first
        return np.searchsorted(self._chosen, self._first)

    def _among(self, shard: int) -> Ints | None:
        if self._chosen is None:
            return None
        low, high = self._borders[shard : shard + 2]
        return np.asarray(self._chosen[low:high] - self._first[shard])

    def _looked_up(self, method: str, questions: Any, chunks: Ints) -> Floats:
        looked_up, arguments = np.full(chunks.shape, np.nan), list[Any]()
        for shard, (leg, (low, high)) in enumerate(
            zip(self._legs, pairwise(self._borders.tolist()), strict=True)
        ):
            held = (chunks >= low) & (chunks < high)
            if leg is None or not held.any():
                arguments.append(None)
                continue
            local = np.where(held, chunks - low, NONE)
            among = () if method == "scores_of_others" else (self._among(shard),)
            arguments.append((leg, self._numbered(questions, shard), local, *among))
        for scores in self._shards.ask(method, arguments):
            if scores is not None:
                looked_up = np.fmax(looked_up, scores)
        return looked_up
