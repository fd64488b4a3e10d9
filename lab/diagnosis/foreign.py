"""Diagnosing a foreign system from the stages that it shows: what cannot be seen is not guessed."""

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np

from lab.arrays import NEVER, NONE, Bools, Ints
from lab.config.config import Config
from lab.diagnosis.alpha.curve import Curve
from lab.diagnosis.alpha.families import Drawer, Family, fused_otherwise
from lab.diagnosis.causes import assign
from lab.diagnosis.competitors import Competitors
from lab.diagnosis.cutoff import Cutoff
from lab.diagnosis.diagnose import known_rank, miss_of, parted_at
from lab.diagnosis.interventions.intervention import Case, Intervention
from lab.diagnosis.interventions.order import VISIBLE, WEIGHED, intervened
from lab.diagnosis.misses import Miss
from lab.diagnosis.stage_ranks import StageRanks
from lab.evaluation.scores import SystemRun
from lab.pipeline.foreign.anchoring import Anchored
from lab.relevance.judge import Judge, SpanJudge
from lab.relevance.pieces import Pieces
from lab.relevance.place import place
from lab.retrieval.config import BM25Config, DenseConfig, RerankConfig
from lab.retrieval.ranking import Ranking


class ForeignDiagnosis:
    """One foreign system: `hits` are its rankings over the spans that it returned, `run` what was
    judged of the final one."""

    def __init__(
        self, name: str, hits: Anchored, run: SystemRun, pieces: Pieces, cutoff: Cutoff
    ) -> None:
        self.name = name
        self.hits = hits
        self.run = run
        self.pieces = pieces
        self.cutoff = cutoff
        self.competitors = Competitors(pieces)

    @cached_property
    def family(self) -> Family | None:
        """The exact curves over the weight of both legs, before any reranker; None where they
        cannot be drawn (see `Visible.fusion`)."""
        fusion = self.hits.visible.fusion
        if fusion is None:
            return None
        both = Config(bm25=BM25Config(), dense=DenseConfig(), fusion=fusion, retriever=self.name)
        every = range(len(self.pieces.queries))
        return Family(both, self.cutoff.cap, tuple(self._curves(both, every, self.cutoff.precise)))

    def _curves(
        self, config: Config, questions: Iterable[int], relevant_too: bool = False
    ) -> Iterable[Curve]:
        assert config.fusion is not None  # a family is hybrid
        spans, visible = np.arange(len(self.hits.spans)), self.hits.visible
        drawer = Drawer(self.pieces, self.run.judge, spans, self.cutoff.cap, relevant_too)
        return drawer.curves(visible.candidates, config.fusion, visible.depth, questions)

    def otherwise(
        self, config: Config, judge: Judge, questions: Ints
    ) -> tuple[Config, dict[int, Curve]]:
        """Curves for some questions under another normalisation."""
        other, each = fused_otherwise(config), np.unique(questions).tolist()
        return other, dict(zip(each, self._curves(other, each), strict=True))

    def unfiltered(self, config: Config, judge: Judge) -> Ints:
        """Per piece its rank before the filter, where nothing behind that orders anew."""
        chain = self.hits.visible.chain
        for at, stage in enumerate(chain):
            if stage.kind == "filter" and all(later.kind == "filter" for later in chain[at:]):
                return self._before(at)
        return np.full(len(self.pieces), NEVER)

    def misses(self) -> tuple[Miss, ...]:
        """All missed pieces with cause and proof."""
        ranks, visible, chain = self._stage_ranks(), self.hits.visible, self.hits.visible.chain
        config = Config(
            bm25=BM25Config() if "lexical" in visible.legs else None,
            dense=DenseConfig() if "dense" in visible.legs else None,
            fusion=visible.fusion if visible.stated else None,
            rerank=None if visible.reranker is None else RerankConfig(depth=1),
            retriever=self.name,
        )
        among: tuple[Intervention, ...] = VISIBLE
        if visible.reranker is None and (not chain or self._order_kept()):
            among = (*VISIBLE, *WEIGHED)
        case = Case(self, config, self.run, ranks, assign(ranks), self.family)
        case = intervened(case, among)
        return tuple(self._miss(case, unit) for unit in case.missed.tolist())

    def _miss(self, case: Case, unit: int) -> Miss:
        cut = None
        if case.ranks.needed[unit] > 1:
            cut = parted_at(self.competitors, self.pieces, self.run.judge, unit)
        return replace(miss_of(case, unit, cut), needed=known_rank(self._needed, unit))

    def _order_kept(self) -> bool:
        """Whether the final ranking is the head of the fused one."""
        fused, final = self.hits.visible.chain[-1].ranking.chunks, self.hits.ranking.chunks
        width = min(fused.shape[1], final.shape[1])
        alike = (fused[:, :width] == final[:, :width]) | (final[:, :width] == NONE)
        return bool(alike.all() and (final[:, width:] == NONE).all())

    def _arrival(self, ranking: Ranking) -> tuple[Ints, Ints]:
        return self.run.judge.arrival(ranking)

    @cached_property
    def _chain(self) -> list[Ints]:
        """The rank of every piece behind each stage that is seen behind the legs."""
        return [self._arrival(stage.ranking)[1] for stage in self.hits.visible.chain]

    @cached_property
    def _leg_ranks(self) -> dict[str, Ints]:
        return {kind: self._arrival(leg)[1] for kind, leg in self.hits.visible.legs.items()}

    def _before(self, place: int) -> Ints:
        """Ranks before a stage of the chain: behind the stage before it, else in the only leg."""
        if place:
            return self._chain[place - 1]
        if len(self._leg_ranks) == 1:
            return next(iter(self._leg_ranks.values()))
        return np.full(len(self.pieces), NEVER)

    @cached_property
    def _inside(self) -> Bools:
        corpus = self.run.judge.spans.corpus
        held = [any(place(corpus, item)[0] for item in items) for items in self.pieces.items]
        return np.array(held, dtype=bool)

    @cached_property
    def _needed(self) -> Ints:
        """The least number of the known spans that hold a piece, NEVER where these do not."""
        if isinstance(self.run.judge, SpanJudge):
            return self.run.judge.pieces_needed()
        return np.where(self._inside, 1, NEVER)

    def _stage_ranks(self) -> StageRanks:
        """What is not seen is taken to be as what follows it."""
        final, k = self.run.judged.complete, np.full(len(self.pieces), self.cutoff.k)
        budget = self.cutoff.fitting(self.run)
        limit = k if budget is None else budget[self.pieces.query]
        visible, ranking = self.hits.visible, self.hits.ranking
        reach_part, reach = self._arrival(visible.reach(ranking))
        part = self._arrival(ranking)[0]
        filtered = self._filtered(reach)
        reranker = visible.reranker
        first = self._before(len(self._chain) if reranker is None else reranker)
        if reranker is None and not self._chain and len(self._leg_ranks) != 1:
            first = final
        pool = reach < NEVER
        return StageRanks(
            limit=limit,
            k=np.maximum(k, limit),
            inside=self._needed < NEVER if self.hits.whole else self._inside,
            filtered=filtered,
            # What has not arrived in part was not split, as far as can be seen.
            needed=self._needed if self.hits.whole else self._seen_needed(reach_part, part),
            unread=np.zeros(len(self.pieces), dtype=bool),
            bm25=self._leg_ranks.get("lexical"),
            dense=self._leg_ranks.get("dense"),
            pool=pool,
            pool_part=reach_part < NEVER,
            exact_pool=pool,
            first=first,
            part=part,
            reranked=final if reranker is None else self._chain[reranker],
            final=final,
            unseen=self._unseen(first, final, pool & ~filtered),
            unsearched=visible.searched_unseen(ranking)[self.pieces.query],
        )

    def _seen_needed(self, reach_part: Ints, part: Ints) -> Ints:
        return np.where(np.minimum(reach_part, part) == NEVER, 1, self._needed)

    def _filtered(self, reach: Ints) -> Bools:
        """What a filter that is seen removed."""
        gone = np.zeros(len(self.pieces), dtype=bool)
        for at, stage in enumerate(self.hits.visible.chain):
            if stage.kind == "filter":
                before = self._chain[at - 1] if at else reach
                gone |= (before < NEVER) & (self._chain[at] == NEVER)
        return gone

    def _unseen(self, first: Ints, final: Ints, had: Bools) -> Bools:
        """What was lost between two stages that are seen by none that is: it was within k, or there
        was room for it. What a reranker is seen to do is its own."""
        visible, k = self.hits.visible, self.cutoff.k
        if visible.reranker is not None or (not visible.legs and not visible.chain):
            return np.zeros(len(had), dtype=bool)
        kept = self._chain[-1] < NEVER if self._chain else had
        room = self.run.judged.ranking.lengths[self.pieces.query] < k
        return np.asarray(had & (((first <= k) & (final > k)) | (kept & (final == NEVER) & room)))
