"""Re-runs: pieces asked again over another first stage, then re-ranked and judged as before; only
what decides is scored."""

import numpy as np

from lab.arrays import NONE, Bools, Floats, Ints
from lab.config.config import Config
from lab.pipeline.memo import Memo
from lab.pipeline.stages import Stages
from lab.relevance.coverage import CoveringSpans
from lab.relevance.judge import DocumentJudge, Judge
from lab.relevance.pieces import Pieces
from lab.retrieval.config import RerankConfig
from lab.retrieval.ranking import Ranking, project
from lab.retrieval.rerank import rerank

# The alternatives of a piece.
Coverings = tuple[CoveringSpans, ...]


class Reruns:
    """Built once per chunking. Pair scores that a re-run had to compute are known to the later
    ones."""

    def __init__(self, stages: Stages, pieces: Pieces) -> None:
        self.stages = stages
        self.pieces = pieces
        self._coverings: Memo[tuple[Judge, int], Coverings] = Memo()

    def within(self, config: Config, judge: Judge, units: Ints, first: Ranking, k: Ints) -> Bools:
        """Whether each piece is complete within its k (one row of `first`, a first stage, and one k
        a piece)."""
        coverings = [self._coverings_of(judge, unit) for unit in units.tolist()]
        target = self._judged_as(config, judge)

        def complete(ranking: Ranking) -> Bools:
            shown = project(ranking, target).chunks
            rows = zip(coverings, shown, k.tolist(), strict=True)
            return np.array([_covered(covering, row[:read]) for covering, row, read in rows], bool)

        if config.rerank is None or not len(units):
            return complete(first)
        query, pool = self.pieces.query[units], first.first(config.rerank.depth).chunks
        evidence = _evidence(pool, target, coverings)
        scores = self.stages.pairs.known(config.rerank.model, pool, query)
        # No order of the pool brings in what is not in it, so rows without evidence are decided
        # already.
        self._fill(config.rerank, query, pool, scores, evidence)
        undecided = np.isnan(scores) & (pool != NONE) & evidence.any(axis=1, keepdims=True)
        if config.rerank.blend == 1:
            # The others only push the evidence down: all below it is the best case, all above it
            # the worst.
            best = complete(self._reranked(config.rerank, query, first, scores, above=False))
            worst = complete(self._reranked(config.rerank, query, first, scores, above=True))
            undecided[~best | worst] = False
        self._fill(config.rerank, query, pool, scores, undecided)
        # What is still unknown stands in rows where it decides nothing.
        return complete(self._reranked(config.rerank, query, first, scores, above=False))

    def _coverings_of(self, judge: Judge, unit: int) -> Coverings:
        return self._coverings.once((judge, unit), lambda: judge.covering_spans(unit))

    def _fill(
        self, config: RerankConfig, query: Ints, pool: Ints, scores: Floats, wanted: Bools
    ) -> None:
        """Score the wanted pairs that nobody has scored."""
        row, column = np.nonzero(wanted & np.isnan(scores))
        if len(row):
            scores[row, column] = self.stages.pairs.ask(config.model, query[row], pool[row, column])

    def _reranked(
        self, config: RerankConfig, query: Ints, first: Ranking, scores: Floats, above: bool
    ) -> Ranking:
        """Unknown pairs take a score above or below all known ones: finite, for blending subtracts
        scores."""
        known = scores[~np.isnan(scores)]
        edge = known.max(initial=0.0) + 1 if above else known.min(initial=0.0) - 1
        questions = [self.stages.questions.texts[q] for q in query]
        return rerank(first, np.where(np.isnan(scores), edge, scores), config, questions)

    def _judged_as(self, config: Config, judge: Judge) -> Ints:
        """What every chunk is judged as: its delivered span, or its document."""
        spans = self.stages.delivery(config.deliver).span_of
        return judge.spans.document[spans] if isinstance(judge, DocumentJudge) else spans


def _evidence(pool: Ints, target: Ints, coverings: list[Coverings]) -> Bools:
    """Which chunks of a pool are judged as something that holds evidence of their row's piece."""
    judged = np.append(target, NONE)[pool]
    row = np.arange(len(pool)) * (len(target) + 1)
    wanted = [
        key + spans
        for key, covering in zip(row.tolist(), coverings, strict=True)
        for alternative in covering
        for spans in alternative.spans
    ]
    keys = np.concatenate(wanted or [np.zeros(0, dtype=np.int64)])
    return np.asarray(np.isin(row[:, None] + judged, keys) & (pool != NONE))


def _covered(coverings: Coverings, row: Ints) -> bool:
    """Whether the judged things of a row cover one of the alternatives."""
    shown = set(row.tolist())

    def weight(alternative: CoveringSpans) -> int:
        parts = zip(alternative.weights, alternative.spans, strict=True)
        return sum(int(weight) for weight, spans in parts if not shown.isdisjoint(spans.tolist()))

    return any(weight(alternative) >= alternative.need for alternative in coverings)
