"""Diagnosing the systems of one chunking while its stages are alive: causes, and proofs by changing
one thing."""

from lab.arrays import NEVER, Ints
from lab.config.config import Config
from lab.diagnosis.alpha.families import Family
from lab.diagnosis.causes import assign
from lab.diagnosis.competitors import Competitors
from lab.diagnosis.cuts import Cut, blamed_cut, cut_at
from lab.diagnosis.interventions.intervention import Case
from lab.diagnosis.interventions.order import intervened, proof
from lab.diagnosis.misses import Ahead, Miss, Ranks
from lab.diagnosis.replay import Replay
from lab.diagnosis.unread import Tail
from lab.diagnosis.vocabulary import Unmatched, unmatched
from lab.evaluation.scores import SystemRun
from lab.pipeline.memo import Memo
from lab.relevance.judge import Judge
from lab.relevance.pieces import Pieces
from lab.relevance.place import place
from lab.retrieval.folding import fold
from lab.retrieval.search_terms import SearchTerms


class Diagnosis:
    """Built once per chunking and asked for every system that shares it."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.stages = replay.stages
        self.pieces = replay.pieces
        self._cuts: Memo[tuple[Judge, int], Cut | None] = Memo()
        self._unmatched: Memo[tuple[SearchTerms, int], tuple[Unmatched, ...]] = Memo()
        self._folded = ""

    @property
    def families(self) -> tuple[Family, ...]:
        """The families of the systems asked so far."""
        return self.replay.families.known

    def family_name(self, config: Config, run: SystemRun) -> str | None:
        """The family on whose curves a system's first stage lies."""
        family = self.replay.families.of(config, run.judge)
        return None if family is None else family.name

    def misses(self, config: Config, run: SystemRun) -> tuple[Miss, ...]:
        """All missed pieces of one system with cause and proof."""
        family = self.replay.families.of(config, run.judge)
        ranks = self.replay.ranker.stage_ranks(config, run, self.replay.cutoff.fitting(run))
        case = intervened(Case(self.replay, config, run, ranks, assign(ranks), family))
        return tuple(self._miss(case, unit) for unit in case.missed.tolist())

    def _miss(self, case: Case, unit: int) -> Miss:
        config, ranker = case.config, self.replay.ranker
        tails = ranker.tails(config.dense) if config.dense else {}
        return miss_of(
            case,
            unit,
            self._cut(case.run.judge, unit) if case.ranks.needed[unit] > 1 else None,
            unmatched=self._unmatched_terms(case, unit),
            tail=tails.get(unit),
            filtered=ranker.filtered_out.why(unit),
        )

    def _cut(self, judge: Judge, unit: int) -> Cut | None:
        """The border that parts a piece; None where none does."""
        competitors = self.replay.competitors
        return self._cuts.once(
            (judge, unit), lambda: parted_at(competitors, self.pieces, judge, unit)
        )

    def _unmatched_terms(self, case: Case, unit: int) -> tuple[Unmatched, ...]:
        """The question's terms without a match, with the reason, where BM25 missed the piece."""
        bm25 = case.config.bm25
        if bm25 is None or case.cause(unit) not in ("lexical_gap", "both"):
            return ()
        searched = self.stages.indexes.bm25_index(bm25).own.terms

        def compute() -> tuple[Unmatched, ...]:
            corpus, query = (
                self.stages.chunking.corpus,
                self.pieces.queries[self.pieces.query[unit]],
            )
            text, start, end = place(corpus, self.pieces.items[unit][0])
            wordings = (query.text, *(query.variants if self.stages.variants else ()))
            terms = [term for wording in wordings for term in searched(wording)]
            return unmatched(
                terms,
                text[start:end],
                searched.analyzer,
                searched.vocabulary,
                self._folded_corpus(),
            )

        return self._unmatched.once((searched, unit), compute)

    def _folded_corpus(self) -> str:
        """The whole corpus as it is matched."""
        if not self._folded:
            documents = self.stages.chunking.corpus.documents
            self._folded = fold("\n".join(document.text for document in documents))
        return self._folded


def miss_of(
    case: Case,
    unit: int,
    cut: Cut | None,
    *,
    unmatched: tuple[Unmatched, ...] = (),
    tail: Tail | None = None,
    filtered: tuple[str, ...] = (),
) -> Miss:
    """A missed piece as its case tells it; what else is known of it is given."""
    pieces, ranks, cause = case.seen.pieces, case.ranks, case.cause(unit)
    query, number = pieces.query[unit], int(pieces.number[unit])
    k = int(ranks.k[unit])
    proved = proof(cause, case.changes(unit))
    outranked_by: tuple[Ahead, ...] = ()
    if cause in ("outranked", "crowded", "demoted"):
        outranked_by = case.seen.competitors.named(case.run, ranks, unit)
    alphas = None
    if case.family is not None:
        alphas = tuple(case.family.curves[query].within(number - 1, k))
    return Miss(
        query_id=pieces.queries[query].query_id,
        piece=number,
        kind=pieces.queries[query].kind,
        cause=cause,
        verified=proved.verified,
        remedy=proved.remedy,
        recovered_by=proved.recovered_by,
        k=k,
        needed=known_rank(ranks.needed, unit),
        ranks=Ranks(
            bm25=known_rank(ranks.bm25, unit),
            dense=known_rank(ranks.dense, unit),
            first_stage=known_rank(ranks.first, unit),
            reranked=known_rank(ranks.reranked, unit),
            final=known_rank(ranks.final, unit),
            part=known_rank(ranks.part, unit),
        ),
        cut=cut,
        unmatched=unmatched,
        tail=tail,
        outranked_by=outranked_by,
        alphas=alphas,
        filtered=filtered,
    )


def parted_at(competitors: Competitors, pieces: Pieces, judge: Judge, unit: int) -> Cut | None:
    """The border of spans that parts a piece; None where none does."""
    spans = judge.spans
    evidence_spans = competitors.evidence(judge, unit)
    for evidence in pieces.items[unit]:
        text, start, end = place(spans.corpus, evidence)
        document = spans.corpus.position.get(evidence.doc_id, -1)
        borders = [
            (int(spans.start[s]), int(spans.end[s]))
            for s in evidence_spans
            if spans.document[s] == document
        ]
        cut = blamed_cut(borders, start, end)
        if cut >= 0:
            return cut_at(text, cut)
    return None


def known_rank(ranks: Ints | None, unit: int) -> int | None:
    """A rank, None where there is none."""
    return None if ranks is None or ranks[unit] == NEVER else int(ranks[unit])
