"""Re-runs: pieces asked again over another first stage, then re-ranked and judged as before; only
what decides is scored."""

import numpy as np

from lab.arrays import NONE, Bools, Floats, Ints
from lab.config.config import Config
from lab.pipeline.stages import Stages
from lab.relevance.judge import DocumentJudge, Holder, Judge
from lab.relevance.pieces import Pieces
from lab.retrieval.config import RerankConfig
from lab.retrieval.ranking import Ranking, project
from lab.retrieval.rerank import rerank


class Reruns:
    """Built once per chunking. Pair scores that a re-run had to compute are known to the later
    ones."""

    def __init__(self, stage: Stages, asked: Pieces) -> None:
        self.stage, self.asked = stage, asked
        self._holders: dict[tuple[Judge, int], tuple[Holder, ...]] = {}

    def within(self, config: Config, judge: Judge, pieces: Ints, first: Ranking, k: Ints) -> Bools:
        """Whether each piece is complete within its k (one row of `first`, a first stage, and one k
        a piece)."""
        holders, things = (
            [self._held_by(judge, piece) for piece in pieces.tolist()],
            self._judged_things(config, judge),
        )

        def held(ranking: Ranking) -> Bools:
            delivered = project(ranking, things).chunks
            return np.array(
                [
                    _held(own, row[:read])
                    for own, row, read in zip(holders, delivered, k.tolist(), strict=True)
                ],
                dtype=bool,
            )

        if config.rerank is None or not len(pieces):
            return held(first)
        query, pool = self.asked.query[pieces], first.first(config.rerank.depth).chunks
        shown = np.append(things, NONE)[pool]
        row = np.arange(len(pieces))[:, None] * (len(things) + 1)
        own = np.concatenate(
            [key + _spans(of) for key, of in zip(row[:, 0].tolist(), holders, strict=True)]
        )
        evidence = np.isin(row + shown, own) & (pool != NONE)
        scores = self.stage.known_pair_scores(config.rerank.model, pool, query)
        # No order of the pool brings in what is not in it, so rows without evidence are decided
        # already.
        self._fill(config.rerank, query, pool, scores, evidence)
        open_ = np.isnan(scores) & (pool != NONE) & evidence.any(axis=1)[:, None]
        if config.rerank.blend == 1:
            # The others only push the evidence down: all below it is the best case, all above it
            # the worst.
            best, worst = (
                held(self._reranked(config.rerank, query, first, scores, fill))
                for fill in (-np.inf, np.inf)
            )
            open_ &= (best & ~worst)[:, None]
        self._fill(config.rerank, query, pool, scores, open_)
        # What is still unknown stands in rows where it decides nothing.
        return held(self._reranked(config.rerank, query, first, scores, -np.inf))

    def _held_by(self, judge: Judge, piece: int) -> tuple[Holder, ...]:
        if (judge, piece) not in self._holders:
            self._holders[judge, piece] = judge.holders(piece)
        return self._holders[judge, piece]

    def _fill(
        self, config: RerankConfig, query: Ints, pool: Ints, scores: Floats, wanted: Bools
    ) -> None:
        """Score the wanted pairs that nobody has scored."""
        row, column = np.nonzero(wanted & np.isnan(scores))
        if len(row):
            scores[row, column] = self.stage.score_new_pairs(
                config.model, query[row], pool[row, column]
            )

    def _reranked(
        self, config: RerankConfig, query: Ints, first: Ranking, scores: Floats, unknown: float
    ) -> Ranking:
        """Unknown pairs take a score beyond all known ones: finite, for blending subtracts
        scores."""
        known = scores[~np.isnan(scores)]
        edge = {-np.inf: known.min(initial=0.0) - 1, np.inf: known.max(initial=0.0) + 1}[unknown]
        asked = [self.stage.questions[q] for q in query]
        return rerank(first, np.where(np.isnan(scores), edge, scores), config, asked)

    def _judged_things(self, config: Config, judge: Judge) -> Ints:
        """What every chunk is judged as: its delivered span, or its document."""
        spans = self.stage.delivery(config.deliver).span_of
        return judge.spans.document[spans] if isinstance(judge, DocumentJudge) else spans


def _spans(holders: tuple[Holder, ...]) -> Ints:
    return np.concatenate(
        [part for holder in holders for part in holder.spans] or [np.zeros(0, dtype=np.int64)]
    )


def _held(holders: tuple[Holder, ...], row: Ints) -> bool:
    """Whether the judged things of a row hold one of the alternatives."""
    seen = set(row.tolist())
    return any(
        sum(
            int(weight)
            for weight, spans in zip(own.weights, own.spans, strict=True)
            if not seen.isdisjoint(spans.tolist())
        )
        >= own.need
        for own in holders
    )
