"""Diagnosing the systems of one chunking while its stages are alive: causes, and proofs by changing one thing."""

from collections.abc import Callable, Iterable
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from lab.diagnosis.causes import CAUSES, GAPS, HIT, NAMES, assign
from lab.diagnosis.cuts import blamed_cut, either_side
from lab.diagnosis.misses import Miss, proof
from lab.diagnosis.neighbours import Neighbours
from lab.diagnosis.trail import Trail
from lab.diagnosis.vocabulary import HAN_OR_KANA, unmatched
from lab.evaluation.scores import SystemRun
from lab.experiment.config import Config
from lab.experiment.cutoff import Cutoff
from lab.experiment.families import Family, family, on_curves, representatives
from lab.experiment.stages import Stages
from lab.experiment.trails import Trails, exactly
from lab.experiment.transplant import Transplants
from lab.retrieval.analyzer import ANALYZERS, AnalyzerName
from lab.retrieval.config import FeaturesConfig
from lab.truth.judge import NEVER, Judge, SpanJudge, place
from lab.truth.pieces import Pieces

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Told = Callable[[int], str]

WIDER = 4
SPLIT, TRUNCATED = NAMES.index("split"), NAMES.index("truncated")
CUT = NAMES.index("cut")
OUTRANKED, CROWDED = NAMES.index("outranked"), NAMES.index("crowded")


class Diagnosis:
    """Built once per chunking and asked for every system (`configs`) that shares it."""

    def __init__(self, stage: Stages, asked: Pieces, cutoff: Cutoff, configs: Iterable[Config]) -> None:
        self.stage, self.asked, self.cutoff = stage, asked, cutoff
        self._families: dict[Config, Family | None] = dict.fromkeys(representatives(configs))
        self.trails = Trails(stage, asked, cutoff.k)
        self.transplants = Transplants(stage, asked)
        self._numbers = np.arange(len(asked)) - np.searchsorted(asked.query, asked.query) + 1

    @property
    def families(self) -> tuple[Family, ...]:
        """The families of the systems asked so far."""
        return tuple(family for family in self._families.values() if family is not None)

    def misses(self, config: Config, run: SystemRun) -> tuple[Miss, ...]:
        """All missed pieces of one system with cause and proof."""
        self._prepare_family(config, run.judge)
        trail = self.trails.trail(config, run, self.cutoff.fitting(run))
        codes = assign(trail)
        whole = self._whole(config, run, trail, codes)
        # Chunking comes before what assign blames: where whole chunks alone bring a cut piece back, it lost the piece.
        codes[trail.missed & (whole <= trail.k)] = SPLIT
        codes[self._crowded(run, trail, codes)] = CROWDED
        recovered = self._recovered(config, run, trail, codes, whole)
        return tuple(self._miss(config, run, trail, int(p), NAMES[codes[p]], recovered) for p in np.flatnonzero(codes != HIT))

    def _prepare_family(self, config: Config, judge: Judge) -> None:
        for own, known in self._families.items():
            if known is None and on_curves(own, config):
                self._families[own] = family(self.stage, own, judge, self.asked, self.cutoff.cap)

    def _family(self, config: Config) -> Family | None:
        return next((family for family in self.families if on_curves(family.config, config)), None)

    def _whole(self, config: Config, run: SystemRun, trail: Trail, codes: NDArray[np.int8]) -> Ints:
        """Per piece the rank of a chunk that holds it whole in place of its parts; NEVER where no cut can be to blame."""
        cut = np.isin(codes, [SPLIT, OUTRANKED, *(NAMES.index(gap) for gap in GAPS.values())]) & (trail.needed > 1) & trail.inside
        ranks, wanted = np.full(len(codes), NEVER), np.flatnonzero(cut)
        if len(wanted):
            ranks[wanted] = self.transplants.ranks(config, run.judge, wanted, None)
        return ranks

    def _crowded(self, run: SystemRun, trail: Trail, codes: NDArray[np.int8]) -> Ints:
        """Outranked pieces that are within k once near-duplicates ahead count once."""
        found = []
        for piece in np.flatnonzero((codes == OUTRANKED) & (trail.needed == 1) & (trail.final < NEVER)).tolist():
            if isinstance(run.judge, SpanJudge):
                ahead, k = self._ahead(run, trail, piece), int(trail.k[piece])
                if self._near(run.judge).distinct_rank(ahead, self._evidence(run.judge, piece), k) <= k:
                    found.append(piece)
        return np.array(found, dtype=np.int64)

    def _recovered(
        self, config: Config, run: SystemRun, trail: Trail, codes: NDArray[np.int8], whole: Ints
    ) -> dict[str, tuple[Bools, Told]]:
        """Every check that this system can be put to: which missed pieces it brings back, and how it is told."""
        missed, k, plain = trail.missed, trail.k, config.rerank is None
        found: dict[str, tuple[Bools, Told]] = {"all chunks": (~trail.inside, _always("not even all chunks together hold it"))}
        without = self.trails.left_out.ranks(config, run.judge) if (codes == CUT).any() else np.full(len(missed), NEVER)
        found["no filter"] = (without <= k), _always("no filter")
        found["no threshold"] = (trail.reranked <= k) & (trail.reranked != trail.final), _always("no threshold")
        found["larger budget"] = (trail.final <= k), _always("a larger token budget")
        found["no reranker"] = (trail.first <= k) & (not plain), _always("no reranker")
        found["near-duplicates once"] = codes == CROWDED, _always("near-duplicates counted once")
        curves = self._family(config)
        if curves is not None and plain:
            intervals = {int(p): self._alphas(curves, int(p), int(k[p])) for p in np.flatnonzero(missed)}
            able = np.array([bool(intervals.get(p)) for p in range(len(missed))])
            lead = "alpha" if config.fusion is not None else "both legs at alpha"
            found["alpha"] = able, lambda piece: f"{lead} {intervals[piece]}"
        for name, changed, told in self._other_configs(config, codes):
            complete = self.trails.arrival(changed, self.stage.ranking(changed), run.judge)[1]
            # Where both legs rank together, another analyzer is no change of the fusion alone.
            asked = (codes != OUTRANKED) | (config.mode == "bm25") | (name != "another analyzer")
            found[name] = (complete <= k) & asked, _always(told)
        found["cut elsewhere"] = (whole <= k), _always("a chunk that holds it whole")
        unread, read = np.flatnonzero(codes == TRUNCATED), np.zeros(len(missed), dtype=bool)
        if len(unread) and config.dense is not None:
            read[unread] = self.transplants.ranks(config, run.judge, unread, self.trails.tails(config.dense)) <= k[unread]
        found["read to the end"] = read, _always("the encoder reading the chunk to its end")
        return {name: (back & missed, told) for name, (back, told) in found.items()}

    def _other_configs(self, config: Config, codes: NDArray[np.int8]) -> list[tuple[str, Config, str]]:
        """(check, system, how it is told) of the re-runs that a system with these causes is worth."""
        found: list[tuple[str, Config, str]] = []
        if config.rerank is not None:
            return found  # other candidates would need pairs that no system has scored
        causes = {NAMES[code] for code in np.unique(codes) if code != HIT}
        if "both" in causes:
            found.append(
                (
                    "four times the candidates",
                    config.model_copy(update={"depth": WIDER * config.depth}),
                    f"depth {WIDER * config.depth}",
                )
            )
        if exactly(config) is not config:
            found.append(("exact search", exactly(config), "exact search"))
        if config.features.root and "outranked" in causes:
            without = config.model_copy(update={"features": FeaturesConfig()})
            found.append(("without the features", without, "no features"))
        if config.bm25 is not None and causes & {"both", "lexical_gap", *(("outranked",) if config.mode == "bm25" else ())}:
            other = self._other_analyzer(config.bm25.analyzer)
            bm25 = config.bm25.model_copy(update={"analyzer": other})
            found.append(("another analyzer", config.model_copy(update={"bm25": bm25}), f"analyzer {other}"))
        return found

    def _other_analyzer(self, name: AnalyzerName) -> AnalyzerName:
        """The one alternative that is worth an index: words for Chinese, else stems without stop words, or back to neither."""
        # What most questions are written in decides: one Chinese name makes no Chinese corpus.
        cjk = sum(bool(HAN_OR_KANA.search(query.text)) for query in self.asked.queries)
        if 2 * cjk > len(self.asked.queries) and find_spec("jieba") is not None:
            return "auto" if name == "jieba" else "jieba"
        return "english" if name in ("auto", "stop", "jieba") else "auto"

    def _miss(
        self, config: Config, run: SystemRun, trail: Trail, piece: int, cause: str, recovered: dict[str, tuple[Bools, Told]]
    ) -> Miss:
        query = self.asked.queries[self.asked.query[piece]]
        verified, remedy, by = proof(cause, {name: told(piece) for name, (back, told) in recovered.items() if back[piece]})
        cut_at, cut_text = self._cut(run.judge, piece) if trail.needed[piece] > 1 else (-1, "")
        tail = self.trails.tails(config.dense).get(piece) if config.dense else None
        curves = self._family(config)
        ranked = cause in ("outranked", "crowded", "demoted")
        return Miss(
            query_id=query.query_id,
            piece=int(self._numbers[piece]),
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
            alphas=self._alphas(curves, piece, int(trail.k[piece])) if curves else "",
            filtered=self.trails.left_out.why(piece),
        )

    def _alphas(self, curves: Family, piece: int, k: int) -> str:
        found = curves.curves[self.asked.query[piece]].within(int(self._numbers[piece]) - 1, k)
        return ", ".join(f"{low:.4g}" if low == high else f"{low:.4g}-{high:.4g}" for low, high in found)

    def _cut(self, judge: Judge, piece: int) -> tuple[int, str]:
        def compute() -> tuple[int, str]:
            for evidence in self.asked.items[piece]:
                text, start, end = place(judge.spans.corpus, evidence)
                document = judge.spans.corpus.position.get(evidence.doc_id, -1)
                held = [s for s in self._evidence(judge, piece) if judge.spans.document[s] == document]
                cut = blamed_cut([(int(judge.spans.start[s]), int(judge.spans.end[s])) for s in held], start, end)
                if cut >= 0:
                    return cut, either_side(text, cut)
            return -1, ""

        return self.trails.once((judge, "cut", piece), compute)

    def _unmatched(self, config: Config, piece: int) -> str:
        assert config.bm25 is not None  # a lexical gap has a lexical leg
        bm25, corpus = config.bm25, self.stage.chunking.corpus

        def compute() -> str:
            folded = self.trails.once("folded", lambda: "\n".join(document.text for document in corpus).lower())
            text, start, end = place(corpus, self.asked.items[piece][0])
            query, index = self.asked.queries[self.asked.query[piece]], self.stage.bm25_index(bm25).own
            asked = (query.text, *(query.variants if self.stage.variants else ()))
            terms = [term for wording in asked for term in index.terms(wording)]
            words = unmatched(terms, text[start:end], ANALYZERS[bm25.analyzer], index.vocabulary, folded)
            return ", ".join(map(str, words))

        return self.trails.once((bm25, "unmatched", piece), compute)

    def _outranked_by(self, run: SystemRun, trail: Trail, piece: int) -> str:
        """The judged things ahead within k; spans with what they are to the evidence."""
        ahead = self._ahead(run, trail, piece)[: int(trail.k[piece])]
        if not isinstance(run.judge, SpanJudge):
            return ", ".join(run.judge.spans.corpus.documents[document].doc_id for document in ahead)
        evidence, near = self._evidence(run.judge, piece), self._near(run.judge)
        return ", ".join(f"{run.judge.spans[span].chunk_id} ({near.relation(span, evidence)})" for span in ahead)

    def _ahead(self, run: SystemRun, trail: Trail, piece: int) -> list[int]:
        """What stands before the rank that completes the piece, the piece's own spans left out."""
        own, row = set(self._evidence(run.judge, piece)), run.judged.ranking.chunks[self.asked.query[piece]]
        last = len(row) if trail.final[piece] == NEVER else int(trail.final[piece]) - 1
        return [span for span in row[:last].tolist() if span >= 0 and span not in own]

    def _near(self, judge: SpanJudge) -> Neighbours:
        return self.trails.once((judge, "near"), lambda: Neighbours(judge.spans))

    def _evidence(self, judge: Judge, piece: int) -> list[int]:
        """The judged spans (or documents) that hold some of a piece."""

        def compute() -> list[int]:
            return sorted({int(span) for holder in judge.holders(piece) for spans in holder.spans for span in spans})

        return self.trails.once((judge, "evidence", piece), compute)


def foreign_misses(run: SystemRun, asked: Pieces, cutoff: Cutoff) -> tuple[Miss, ...]:
    """Missed pieces of a foreign system, of which only the hits are known: not in the corpus, split between its spans, not
    returned, ranked too low, or beyond the budget."""
    budget, final, k = cutoff.fitting(run), run.judged.complete, np.full(len(asked), cutoff.k)
    limit = k if budget is None else budget[asked.query]
    # Judged documents are ranked already, and arrive whole.
    part = run.judge.arrival(run.judged.ranking)[0] if isinstance(run.judge, SpanJudge) else final
    never = np.zeros(len(asked), dtype=bool)
    inside = np.array([any(place(run.judge.spans.corpus, item)[0] for item in items) for items in asked.items])
    needed = np.where(never, 0, 1) if not isinstance(run.judge, SpanJudge) else run.judge.pieces_needed()
    trail = Trail(
        limit, np.maximum(k, limit), inside, never, np.where(part == NEVER, 1, needed), never, None, None, final < NEVER,
        part < NEVER, final < NEVER, final, part, final, final, never,
    )  # fmt: skip
    numbers, codes = np.arange(len(asked)) - np.searchsorted(asked.query, asked.query) + 1, assign(trail)
    found = []
    for piece in np.flatnonzero(codes != HIT).tolist():
        query, cause = asked.queries[asked.query[piece]], NAMES[codes[piece]]
        recovered = {"larger budget": "a larger token budget"} if final[piece] <= trail.k[piece] else {}
        verified, remedy, by = proof(cause, recovered)
        found.append(
            Miss(
                query.query_id, int(numbers[piece]), query.kind, cause, CAUSES[cause].stage, verified, remedy, by,
                int(trail.k[piece]), _rank(needed, piece), 0, 0, _rank(final, piece), _rank(final, piece), _rank(final, piece),
                _rank(part, piece), -1, "", "", -1, -1, "", "",
            )
        )  # fmt: skip
    return tuple(found)


def _always(told: str) -> Told:
    return lambda piece: told


def _rank(ranks: Ints | None, piece: int) -> int:
    return 0 if ranks is None or ranks[piece] == NEVER else int(ranks[piece])
