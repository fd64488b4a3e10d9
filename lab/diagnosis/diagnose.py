"""Diagnosing the systems of one chunking while its stages are alive: causes, and proofs by changing
one thing."""

from collections.abc import Iterable, Mapping

import numpy as np

from lab.arrays import NEVER, Ints
from lab.config.config import Config
from lab.diagnosis.alpha.families import Families, Family
from lab.diagnosis.causes import CAUSES, HIT, NAMES, Codes, assign
from lab.diagnosis.cutoff import Cutoff
from lab.diagnosis.cuts import blamed_cut, either_side
from lab.diagnosis.interventions import (
    CROWDED,
    DETACHED,
    DILUTED,
    OUTRANKED,
    SPLIT,
    Case,
    Checks,
    JudgedAs,
    Recovered,
)
from lab.diagnosis.misses import Miss, proof
from lab.diagnosis.neighbours import Neighbours
from lab.diagnosis.ranks import Trail
from lab.diagnosis.stage_ranks import Trails
from lab.diagnosis.vocabulary import unmatched
from lab.evaluation.scores import SystemRun
from lab.pipeline.stages import Stages
from lab.relevance.judge import Judge, SpanJudge, place
from lab.relevance.pieces import Pieces
from lab.retrieval.analyzer import ANALYZERS


class Diagnosis:
    """Built once per chunking and asked for every system (`configs`) that shares it."""

    def __init__(
        self,
        stage: Stages,
        asked: Pieces,
        cutoff: Cutoff,
        configs: Iterable[Config],
        judged_as: JudgedAs,
    ) -> None:
        self.stage, self.asked, self.cutoff = stage, asked, cutoff
        self.trails = Trails(stage, asked, cutoff.k)
        self._families = Families(stage, asked, cutoff, configs)
        self.checks = Checks(stage, asked, cutoff, judged_as, self.trails, self._families)

    @property
    def families(self) -> tuple[Family, ...]:
        """The families of the systems asked so far."""
        return self._families.known

    def misses(self, config: Config, run: SystemRun) -> tuple[Miss, ...]:
        """All missed pieces of one system with cause and proof."""
        self._families.of(config, run.judge)
        trail = self.trails.trail(config, run, self.cutoff.fitting(run))
        case, recovered = Case(config, run, trail, assign(trail)), Recovered()
        self.checks.neighbours(case, recovered)
        # Chunking comes before what assign blames: where whole chunks alone bring a cut piece back,
        # it lost the piece.
        case.codes[self.checks.whole(case, recovered)] = SPLIT
        case.codes[self._crowded(run, trail, case.codes)] = CROWDED
        self.checks.recover(case, recovered)
        case.codes[self.checks.closer(case, recovered)] = DILUTED
        case.codes[self.checks.detached(case, recovered)] = DETACHED
        return tuple(
            self._miss(case, piece, recovered.of(piece))
            for piece in np.flatnonzero(case.codes != HIT).tolist()
        )

    def _crowded(self, run: SystemRun, trail: Trail, codes: Codes) -> Ints:
        """Outranked pieces that are within k once near-duplicates ahead count once."""
        found = []
        for piece in np.flatnonzero(
            (codes == OUTRANKED) & (trail.needed == 1) & (trail.final < NEVER)
        ).tolist():
            if isinstance(run.judge, SpanJudge):
                ahead, k = self._ahead(run, trail, piece), int(trail.k[piece])
                if (
                    self._near(run.judge).distinct_rank(ahead, self._evidence(run.judge, piece), k)
                    <= k
                ):
                    found.append(piece)
        return np.array(found, dtype=np.int64)

    def _miss(self, case: Case, piece: int, recovered: Mapping[str, str]) -> Miss:
        config, run, trail, cause = case.config, case.run, case.trail, NAMES[case.codes[piece]]
        query, number = (
            self.asked.queries[self.asked.query[piece]],
            int(self._families.numbers[piece]),
        )
        verified, remedy, by = proof(cause, recovered)
        cut_at, cut_text = self._cut(run.judge, piece) if trail.needed[piece] > 1 else (-1, "")
        tail = self.trails.tails(config.dense).get(piece) if config.dense else None
        family = self._families.of(config, run.judge)
        ranked = cause in ("outranked", "crowded", "demoted")
        return Miss(
            query_id=query.query_id,
            piece=number + 1,
            kind=query.kind,
            cause=cause,
            stage=CAUSES[cause].stage,
            verified=verified,
            remedy=remedy,
            recovered_by=by,
            k=int(trail.k[piece]),
            needed=_rank(trail.needed, piece),
            bm25_rank=_rank(trail.bm25, piece),
            dense_rank=_rank(trail.dense, piece),
            first_rank=_rank(trail.first, piece),
            reranked_rank=_rank(trail.reranked, piece),
            final_rank=_rank(trail.final, piece),
            part_rank=_rank(trail.part, piece),
            cut_at=cut_at,
            cut_text=cut_text,
            unmatched=self._unmatched(config, piece) if cause in ("lexical_gap", "both") else "",
            tail_start=tail.start if tail else -1,
            tail_end=tail.end if tail else -1,
            outranked_by=self._outranked_by(run, trail, piece) if ranked else "",
            alphas=family.curves[self.asked.query[piece]].told(number, int(trail.k[piece]))
            if family
            else "",
            filtered=self.trails.left_out.why(piece),
        )

    def _cut(self, judge: Judge, piece: int) -> tuple[int, str]:
        def compute() -> tuple[int, str]:
            for evidence in self.asked.items[piece]:
                text, start, end = place(judge.spans.corpus, evidence)
                document = judge.spans.corpus.position.get(evidence.doc_id, -1)
                held = [
                    s for s in self._evidence(judge, piece) if judge.spans.document[s] == document
                ]
                cut = blamed_cut(
                    [(int(judge.spans.start[s]), int(judge.spans.end[s])) for s in held], start, end
                )
                if cut >= 0:
                    return cut, either_side(text, cut)
            return -1, ""

        return self.trails.once((judge, "cut", piece), compute)

    def _unmatched(self, config: Config, piece: int) -> str:
        assert config.bm25 is not None  # a lexical gap has a lexical leg
        bm25, corpus = config.bm25, self.stage.chunking.corpus

        def compute() -> str:
            folded = self.trails.once(
                "folded", lambda: "\n".join(document.text for document in corpus).lower()
            )
            text, start, end = place(corpus, self.asked.items[piece][0])
            query, index = (
                self.asked.queries[self.asked.query[piece]],
                self.stage.bm25_index(bm25).own,
            )
            asked = (query.text, *(query.variants if self.stage.variants else ()))
            terms = [term for wording in asked for term in index.terms(wording)]
            words = unmatched(
                terms, text[start:end], ANALYZERS[bm25.analyzer], index.vocabulary, folded
            )
            return ", ".join(map(str, words))

        return self.trails.once((bm25, "unmatched", piece), compute)

    def _outranked_by(self, run: SystemRun, trail: Trail, piece: int) -> str:
        """The judged things ahead within k; spans with what they are to the evidence."""
        ahead = self._ahead(run, trail, piece)[: int(trail.k[piece])]
        if not isinstance(run.judge, SpanJudge):
            return ", ".join(
                run.judge.spans.corpus.documents[document].doc_id for document in ahead
            )
        evidence, near = self._evidence(run.judge, piece), self._near(run.judge)
        return ", ".join(
            f"{run.judge.spans[span].chunk_id} ({near.relation(span, evidence)})" for span in ahead
        )

    def _ahead(self, run: SystemRun, trail: Trail, piece: int) -> list[int]:
        """What stands before the rank that completes the piece, the piece's own spans left out."""
        own, row = (
            set(self._evidence(run.judge, piece)),
            run.judged.ranking.chunks[self.asked.query[piece]],
        )
        last = len(row) if trail.final[piece] == NEVER else int(trail.final[piece]) - 1
        return [span for span in row[:last].tolist() if span >= 0 and span not in own]

    def _near(self, judge: SpanJudge) -> Neighbours:
        return self.trails.once((judge, "near"), lambda: Neighbours(judge.spans))

    def _evidence(self, judge: Judge, piece: int) -> list[int]:
        """The judged spans (or documents) that hold some of a piece."""

        def compute() -> list[int]:
            return sorted(
                {
                    int(span)
                    for holder in judge.holders(piece)
                    for spans in holder.spans
                    for span in spans
                }
            )

        return self.trails.once((judge, "evidence", piece), compute)


def foreign_misses(run: SystemRun, asked: Pieces, cutoff: Cutoff) -> tuple[Miss, ...]:
    """Missed pieces of a foreign system, of which only the hits are known: not in the corpus, split
    between its spans, not returned, ranked too low, or beyond the budget."""
    budget, final, k = cutoff.fitting(run), run.judged.complete, np.full(len(asked), cutoff.k)
    limit = k if budget is None else budget[asked.query]
    # Judged documents are ranked already, and arrive whole.
    part = run.judge.arrival(run.judged.ranking)[0] if isinstance(run.judge, SpanJudge) else final
    never = np.zeros(len(asked), dtype=bool)
    inside = np.array(
        [any(place(run.judge.spans.corpus, item)[0] for item in items) for items in asked.items]
    )
    needed = (
        np.where(never, 0, 1) if not isinstance(run.judge, SpanJudge) else run.judge.pieces_needed()
    )
    trail = Trail(
        limit,
        np.maximum(k, limit),
        inside,
        never,
        np.where(part == NEVER, 1, needed),
        never,
        None,
        None,
        final < NEVER,
        part < NEVER,
        final < NEVER,
        final,
        part,
        final,
        final,
        never,
    )
    numbers, codes = (
        np.arange(len(asked)) - np.searchsorted(asked.query, asked.query) + 1,
        assign(trail),
    )
    found = []
    for piece in np.flatnonzero(codes != HIT).tolist():
        query, cause = asked.queries[asked.query[piece]], NAMES[codes[piece]]
        recovered = (
            {"larger budget": "a larger token budget"} if final[piece] <= trail.k[piece] else {}
        )
        verified, remedy, by = proof(cause, recovered)
        found.append(
            Miss(
                query.query_id,
                int(numbers[piece]),
                query.kind,
                cause,
                CAUSES[cause].stage,
                verified,
                remedy,
                by,
                int(trail.k[piece]),
                _rank(needed, piece),
                0,
                0,
                _rank(final, piece),
                _rank(final, piece),
                _rank(final, piece),
                _rank(part, piece),
                -1,
                "",
                "",
                -1,
                -1,
                "",
                "",
            )
        )
    return tuple(found)


def _rank(ranks: Ints | None, piece: int) -> int:
    return 0 if ranks is None or ranks[piece] == NEVER else int(ranks[piece])
