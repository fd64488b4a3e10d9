"""Checks: every miss of a system is asked again with one thing changed; which changes bring it
back."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from lab.arrays import Bools, Ints
from lab.config.config import Config
from lab.diagnosis.alpha.curve import Curve
from lab.diagnosis.alpha.families import Families
from lab.diagnosis.causes import GAPS, HIT, NAMES, Codes
from lab.diagnosis.chunk_edits import Graft, Transplants
from lab.diagnosis.cutoff import Cutoff
from lab.diagnosis.misses import CHECKS
from lab.diagnosis.ranks import Trail
from lab.diagnosis.reruns import Reruns
from lab.diagnosis.stage_ranks import Trails, exactly
from lab.diagnosis.vocabulary import HAN_OR_KANA
from lab.evaluation.scores import SystemRun
from lab.pipeline.stages import Stages
from lab.relevance.judge import SpanJudge
from lab.relevance.pieces import Pieces
from lab.retrieval.analyzer import AnalyzerName
from lab.retrieval.config import FeaturesConfig
from lab.retrieval.ranking import Ranking

# A ranking of chunks as what is delivered for them (the setting's value) is judged.
JudgedAs = Callable[[str, Ranking], SystemRun]

WIDER = 4
# Lengths of the chunk that is cut closer around a piece, as shares of the old one's.
CLOSER = (1.0, 0.5)
LONGER = 2.0
NEIGHBOURS = "window(1)"
# BM25 at the ends of what can be set: words count once or again and again, long chunks are as good
# as short ones or not.
FORMULAS: tuple[dict[str, float | str], ...] = (
    {"k1": 0.0},
    {"k1": 3.0},
    {"b": 0.0},
    {"b": 1.0},
    {"variant": "l"},
)
SPLIT, TRUNCATED, DILUTED, DETACHED = (
    NAMES.index(name) for name in ("split", "truncated", "diluted", "detached")
)
OUTRANKED, CROWDED, CUT = (NAMES.index(name) for name in ("outranked", "crowded", "cut"))
CANDIDATES = [NAMES.index(gap) for gap in GAPS.values()]


@dataclass(frozen=True, eq=False)
class Case:
    """One system's misses: how far every piece came, and the code of its cause (HIT where it is not
    missed)."""

    config: Config
    run: SystemRun
    trail: Trail
    codes: Codes

    def of(self, *codes: int) -> Ints:
        """The pieces with one of these causes."""
        return np.flatnonzero(np.isin(self.codes, codes))


class Recovered:
    """Check -> the pieces that it brings back, and how each is told."""

    def __init__(self) -> None:
        self.told: dict[str, dict[int, str]] = {}

    def add(self, check: str, pieces: Ints, told: str) -> None:
        """What brought a piece back first is what is told of a check."""
        of_check = self.told.setdefault(check, {})
        for piece in pieces.tolist():
            of_check.setdefault(piece, told)

    def has(self, check: str, piece: int) -> bool:
        return piece in self.told.get(check, {})

    def of(self, piece: int) -> dict[str, str]:
        """Check -> how it is told, of all that bring a piece back."""
        return {check: told[piece] for check, told in self.told.items() if piece in told}

    def proves(self, piece: int, code: int) -> bool:
        """Whether some change of the blamed stage brought the piece back."""
        return any(NAMES[code] in CHECKS[check] for check in self.of(piece))


class Checks:
    """Built once per chunking and asked for every system that shares it."""

    def __init__(
        self,
        stage: Stages,
        asked: Pieces,
        cutoff: Cutoff,
        judged_as: JudgedAs,
        trails: Trails,
        families: Families,
    ) -> None:
        self.stage, self.asked, self.cutoff, self.judged_as = stage, asked, cutoff, judged_as
        self.trails, self.families = trails, families
        self.transplants, self.reruns = Transplants(stage, asked), Reruns(stage, asked)

    def neighbours(self, case: Case, found: Recovered) -> None:
        """Pieces within k once every hit is delivered with the chunks beside it."""
        config, pieces = case.config, case.of(SPLIT, OUTRANKED, *CANDIDATES)
        if (
            config.deliver != "chunk"
            or config.chunk.strategy == "document"
            or not isinstance(case.run.judge, SpanJudge)
        ):
            return
        # Two chunks of a document may share a window, so twice as many and some more are enough to
        # see k windows.
        run = self.judged_as(
            NEIGHBOURS, case.run.judged.ranking.first(4 * int(case.trail.k.max(initial=0)))
        )
        fitting, complete = self.cutoff.fitting(run), run.judged.complete[pieces]
        limit = case.trail.k[pieces] if fitting is None else fitting[self.asked.query[pieces]]
        found.add("neighbours delivered", pieces[complete <= limit], f"deliver {NEIGHBOURS}")

    def whole(self, case: Case, found: Recovered) -> Ints:
        """Cut pieces that a chunk which holds them whole brings back: one around them in place of
        their parts, else, where it may decide, the cut moved behind or before them."""
        able = case.of(SPLIT, OUTRANKED, *CANDIDATES)
        able = able[(case.trail.needed[able] > 1) & case.trail.inside[able]]
        around = self._grafted(
            case, able, [self.transplants.around(piece) for piece in able.tolist()]
        )
        found.add("cut elsewhere", around, "a chunk that holds it whole")
        able = np.setdiff1d(able, around)
        able = able[
            [
                case.codes[p] != SPLIT or not found.has("neighbours delivered", p)
                for p in able.tolist()
            ]
        ]
        moved = [
            self.transplants.moved(piece, behind)
            for behind in (True, False)
            for piece in able.tolist()
        ]
        back = self._brought_back(case, np.tile(able, 2), moved).reshape(2, -1)
        found.add("cut elsewhere", able[back[0]], "the cut moved behind it")
        found.add("cut elsewhere", able[back[1]], "the cut moved before it")
        return np.concatenate((around, able[back.any(axis=0)]))

    def recover(self, case: Case, found: Recovered) -> None:
        """Every check that this system can be put to, but for other cuts."""
        trail, k = case.trail, case.trail.k
        missed = case.codes != HIT

        def told(check: str, back: Bools, words: str) -> None:
            found.add(check, np.flatnonzero(back & missed), words)

        told("all chunks", ~trail.inside, "not even all chunks together hold it")
        cut = case.of(CUT)
        if len(cut):
            told(
                "no filter",
                self.trails.left_out.ranks(case.config, case.run.judge) <= k,
                "no filter",
            )
        told(
            "no threshold", (trail.reranked <= k) & (trail.reranked != trail.final), "no threshold"
        )
        told("larger budget", trail.final <= k, "a larger token budget")
        told("no reranker", (trail.first <= k) & (case.config.rerank is not None), "no reranker")
        told("near-duplicates once", case.codes == CROWDED, "near-duplicates counted once")
        self._fusions(case, found)
        for check, changed, words, pieces in self._other_configs(case):
            left = np.array(
                [piece for piece in pieces.tolist() if not found.has(check, piece)], dtype=np.int64
            )
            if len(left):
                found.add(check, left[self._within(case, changed, left)], words)
        unread = case.of(TRUNCATED)
        if len(unread) and case.config.dense is not None:
            tails = self.trails.tails(case.config.dense)
            grafts = [self.transplants.read(tails[piece]) for piece in unread.tolist()]
            found.add(
                "read to the end",
                self._grafted(case, unread, grafts),
                "the encoder reading the chunk to its end",
            )

    def closer(self, case: Case, found: Recovered) -> Ints:
        """Whole pieces that no change of the blamed stage brings back, but a chunk cut closer
        around them does."""
        pieces = self._unproved(case, found)
        grafts = [
            self.transplants.around(piece, share) for share in CLOSER for piece in pieces.tolist()
        ]
        back = self._brought_back(case, np.tile(pieces, len(CLOSER)), grafts).reshape(
            len(CLOSER), -1
        )
        for share, own in zip(CLOSER, back, strict=True):
            words = (
                "a chunk of the same length with it in the middle"
                if share == 1
                else f"a chunk {share:g} times as long"
            )
            found.add("cut around it", pieces[own], words)
        return np.asarray(pieces[back.any(axis=0)])

    def detached(self, case: Case, found: Recovered) -> Ints:
        """Whole pieces that no change of the blamed stage brings back, but the text beside them
        does: delivered with what is found, else read with them."""
        pieces = self._unproved(case, found)
        beside = np.array(
            [found.has("neighbours delivered", piece) for piece in pieces.tolist()], dtype=bool
        )
        alone = pieces[~beside]
        longer = self._grafted(
            case, alone, [self.transplants.around(piece, LONGER) for piece in alone.tolist()]
        )
        found.add("cut longer", longer, "a chunk twice as long")
        return np.concatenate((pieces[beside], longer))

    def _unproved(self, case: Case, found: Recovered) -> Ints:
        """Whole pieces lost among the candidates or in their ranking, that no change of the blamed
        stage brings back."""
        if not isinstance(case.run.judge, SpanJudge):
            return np.zeros(0, dtype=np.int64)
        pieces = case.of(OUTRANKED, *CANDIDATES)
        return pieces[
            [
                case.trail.needed[p] == 1 and not found.proves(p, int(case.codes[p]))
                for p in pieces.tolist()
            ]
        ]

    def _grafted(self, case: Case, pieces: Ints, grafts: Sequence[Graft]) -> Ints:
        """Those pieces that their grafts bring back."""
        return pieces[self._brought_back(case, pieces, grafts)]

    def _brought_back(self, case: Case, pieces: Ints, grafts: Sequence[Graft]) -> Bools:
        if not len(pieces):
            return np.zeros(0, dtype=bool)
        return (
            self.transplants.ranks(case.config, case.run.judge, pieces, grafts)
            <= case.trail.k[pieces]
        )

    def _fusions(self, case: Case, found: Recovered) -> None:
        """Every alpha of the system's own normalisation, by the exact curves; then every alpha of
        another one, where a piece is still to be proved."""
        family = self.families.of(case.config, case.run.judge)
        if family is None:
            return
        missed, lost = case.of(*range(len(NAMES))), case.of(OUTRANKED, *CANDIDATES)
        lead = "alpha" if case.config.fusion is not None else "both legs at alpha"
        # With a reranker every alpha costs pairs: only where it may decide.
        asked = missed if case.config.rerank is None else lost
        self._alphas(
            case,
            found,
            "alpha",
            Weighing(family.config, dict(enumerate(family.curves)), asked, lead),
        )
        open_ = np.array(
            [piece for piece in lost.tolist() if not found.proves(piece, int(case.codes[piece]))],
            dtype=np.int64,
        )
        if len(open_):
            other, curves = self.families.otherwise(
                family.config, case.run.judge, self.asked.query[open_]
            )
            assert other.fusion is not None  # a family is hybrid
            self._alphas(
                case,
                found,
                "other fusion",
                Weighing(other, curves, open_, f"{other.fusion.normalization} at alpha"),
            )

    def _alphas(self, case: Case, found: Recovered, check: str, asked: "Weighing") -> None:
        """Without a reranker all alphas are known; with one, that at which a piece comes nearest, 0
        and 1 are tried."""
        k, numbers = case.trail.k, self.families.numbers
        of = [
            (piece, asked.curves[int(self.asked.query[piece])], int(numbers[piece]))
            for piece in asked.pieces.tolist()
        ]
        if case.config.rerank is None:
            for piece, curve, number in of:
                if alphas := curve.told(number, int(k[piece])):
                    found.add(check, np.array([piece]), f"{asked.lead} {alphas}")
            return
        nearest = {piece: curve.nearest(number) for piece, curve, number in of}
        for alphas_of in (nearest, dict.fromkeys(nearest, 0.0), dict.fromkeys(nearest, 1.0)):
            left = {
                piece: alpha
                for piece, alpha in alphas_of.items()
                if alpha is not None and not found.has(check, piece)
            }
            if left:
                pieces = np.array(list(left), dtype=np.int64)
                first = self._fused(asked.config, self.asked.query[pieces], list(left.values()))
                back = self.reruns.within(case.config, case.run.judge, pieces, first, k[pieces])
                for piece in pieces[back].tolist():
                    found.add(check, np.array([piece]), f"{asked.lead} {left[piece]:.15g}")

    def _fused(self, config: Config, query: Ints, alphas: Sequence[float]) -> Ranking:
        """The first stage of some questions, each at an alpha of its own."""
        assert config.fusion is not None  # legs are fused
        each = np.array(alphas)
        inner = np.flatnonzero((each > 0) & (each < 1))
        rows, found = [inner], [self.stage.first_stage_at(config, query[inner], each[inner])]
        for end in (0.0, 1.0):
            if (each == end).any():
                own = config.model_copy(
                    update={"fusion": config.fusion.model_copy(update={"alpha": end})}
                )
                rows.append(np.flatnonzero(each == end))
                found.append(self.stage.first_stage_of(own, query[rows[-1]]))
        back = np.argsort(np.concatenate(rows))
        return Ranking(
            np.concatenate([row.chunks for row in found])[back],
            np.concatenate([row.scores for row in found])[back],
        )

    def _within(self, case: Case, changed: Config, pieces: Ints) -> Bools:
        """Which pieces a changed system has."""
        first = self._first(changed, self.asked.query[pieces])
        return self.reruns.within(changed, case.run.judge, pieces, first, case.trail.k[pieces])

    def _first(self, changed: Config, query: Ints) -> Ranking:
        """A changed system's first stage of some questions, one row each. Only these are asked;
        what differs in alpha alone often asks the same ones."""
        each, row = np.unique(query, return_inverse=True)
        questions = [self.stage.queries[question] for question in each.tolist()]
        asking = self.trails.once(
            ("asking", each.tobytes()),
            lambda: self.stage.asking(
                questions, filtered=changed.filter, variants=changed.variants
            ),
        )
        first = asking.first_stage(changed)
        return Ranking(first.chunks[row], first.scores[row])

    def _other_configs(self, case: Case) -> Iterator[tuple[str, Config, str, Ints]]:
        """(check, system, how it is told, the pieces that it is worth for)."""
        config, lexical, gaps = case.config, case.config.bm25, case.of(*CANDIDATES)
        # Where both legs rank together, another BM25 is no change of the fusion alone.
        alone = case.of(OUTRANKED) if config.mode == "bm25" else np.zeros(0, dtype=np.int64)
        if len(gaps):
            depth = WIDER * config.depth
            yield (
                "four times the candidates",
                config.model_copy(update={"depth": depth}),
                f"depth {depth}",
                gaps,
            )
        if config.features.root and len(case.of(OUTRANKED)):
            plain = config.model_copy(update={"features": FeaturesConfig()})
            yield "without the features", plain, "no features", case.of(OUTRANKED)
        if exactly(config) is not config and case.codes.max(initial=HIT) > HIT:
            yield "exact search", exactly(config), "exact search", case.of(*range(len(NAMES)))
        if lexical is None:
            return
        lost = np.union1d(gaps, alone)
        if len(lost):
            for name in self._other_analyzers(lexical.analyzer):
                other = lexical.model_copy(update={"analyzer": name})
                yield (
                    "another analyzer",
                    config.model_copy(update={"bm25": other}),
                    f"analyzer {name}",
                    lost,
                )
        if len(alone):
            for change in FORMULAS:
                other = lexical.model_copy(update=change)
                if other != lexical:
                    told = " ".join(f"{key} {value}" for key, value in change.items())
                    yield "other BM25", config.model_copy(update={"bm25": other}), told, alone

    def _other_analyzers(self, name: AnalyzerName) -> list[AnalyzerName]:
        """What is worth an index: words for Chinese, else stems without stop words; back to the
        default from either."""
        # What most questions are written in decides: one Chinese name makes no Chinese corpus.
        cjk = sum(bool(HAN_OR_KANA.search(query.text)) for query in self.asked.queries)
        if 2 * cjk > len(self.asked.queries) and find_spec("jieba") is not None:
            return ["auto" if name == "jieba" else "jieba"]
        return ["english" if name in ("auto", "stop", "jieba") else "auto"]


@dataclass(frozen=True, eq=False)
class Weighing:
    """The legs weighed otherwise: how, the curves of questions over alpha, the pieces to look up,
    the words before alphas."""

    config: Config
    curves: Mapping[int, Curve]
    pieces: Ints
    lead: str
