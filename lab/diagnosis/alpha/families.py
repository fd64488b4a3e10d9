"""Families: systems that differ in alpha alone, and the exact curves of their evidence over it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from lab.arrays import NONE, Ints
from lab.config.config import Config
from lab.diagnosis.alpha.curve import Curve, Lines, curve
from lab.diagnosis.cutoff import Cutoff
from lab.pipeline.stages import Stages
from lab.relevance.judge import DocumentJudge, Judge
from lab.relevance.pieces import Pieces
from lab.retrieval.config import FusionConfig, Normalization
from lab.retrieval.fusion import Boost, Candidates, contributions, fuse, ranks


@dataclass(frozen=True, eq=False)
class Family:
    """All alphas of one hybrid system before any reranker: `config` stands for it (its alpha means
    nothing), `curves` has one a scored question, exact up to rank `cap`."""

    config: Config
    cap: int
    curves: tuple[Curve, ...]

    @property
    def name(self) -> str:
        """The systems' common name, without alpha."""
        return self.config.family

    @property
    def fusion(self) -> FusionConfig:
        """How the legs are fused; its alpha means nothing."""
        assert self.config.fusion is not None  # a family is hybrid
        return self.config.fusion


def on_curves(family: Config, config: Config) -> bool:
    """Whether a system's first stage lies on the curves of the family that `family` stands for: at
    its alpha, or as a leg."""
    if config.variants or config.retriever is not None or _shared(config) != _shared(family):
        return False
    if config.fusion is not None and family.fusion is not None:
        return _plain(config, config.fusion) == _plain(family, family.fusion)
    return config.bm25 in (None, family.bm25) and config.dense in (None, family.dense)


def representatives(configs: Iterable[Config]) -> tuple[Config, ...]:
    """One hybrid config a family; where a grid has both legs of a chunking but no hybrid of them,
    they are joined with the default fusion, so that a leg's miss can be asked whether the other leg
    would have helped. Systems that fuse variants are left out: reciprocal ranks of several wordings
    are not linear in alpha, so no curve is exact for them."""
    configs = [config for config in configs if not config.variants]
    families: dict[Config, None] = {}
    for config in configs:
        if config.fusion is not None:
            families[_plain(config, config.fusion)] = None
    if not families:
        legs = [config for config in configs if config.mode == "bm25"]
        for bm25, dense in product(legs, (config for config in configs if config.mode == "dense")):
            if _shared(bm25) == _shared(dense):
                both = bm25.model_copy(update={"dense": dense.dense})
                families[_plain(both, FusionConfig())] = None
    return tuple(families)


def _shared(config: Config) -> tuple[object, ...]:
    """What systems that differ in their legs, the fusion and the reranker alone have in common."""
    several = dict.fromkeys(("bm25", "dense", "fusion", "rerank"))
    return config.model_copy(update=several), config.views


def _plain(config: Config, fusion: FusionConfig) -> Config:
    fusion = fusion.model_copy(update={"alpha": FusionConfig().alpha})
    return config.model_copy(update={"fusion": fusion, "rerank": None})


def fused_otherwise(config: Config) -> Config:
    """A hybrid under another normalisation. Affine ones reach the same orders at other alphas, so
    it is reciprocal ranks, or min-max in their place."""
    assert config.fusion is not None  # a family is hybrid
    name: Normalization = "min-max" if config.fusion.normalization == "rrf" else "rrf"
    fusion = config.fusion.model_copy(update={"normalization": name})
    return config.model_copy(update={"fusion": fusion})


class Families:
    """Built once per chunking and asked for every system that shares it: the curves of a family are
    drawn at its first use."""

    def __init__(
        self, stage: Stages, asked: Pieces, cutoff: Cutoff, configs: Iterable[Config]
    ) -> None:
        self.stage, self.asked, self.cap, self.precise = stage, asked, cutoff.cap, cutoff.precise
        self._known: dict[Config, Family | None] = dict.fromkeys(representatives(configs))
        self._other: dict[tuple[Config, Judge, int], Curve] = {}

    @property
    def known(self) -> tuple[Family, ...]:
        """The families of the systems asked so far."""
        return tuple(family for family in self._known.values() if family is not None)

    def of(self, config: Config, judge: Judge) -> Family | None:
        """The family on whose curves a system's first stage lies."""
        representative = self.representative(config)
        if representative is None:
            return None
        family = self._known[representative]
        if family is None:
            every = range(len(self.asked.queries))
            curves = tuple(self._curves(representative, judge, every, self.precise))
            family = self._known[representative] = Family(representative, self.cap, curves)
        return family

    def representative(self, config: Config) -> Config | None:
        """The system that stands for that family; None where no curve is drawn."""
        return next((other for other in self._known if on_curves(other, config)), None)

    def otherwise(
        self, config: Config, judge: Judge, questions: Ints
    ) -> tuple[Config, dict[int, Curve]]:
        """A family's curves for some questions under another normalisation."""
        other = fused_otherwise(config)
        new = [
            int(question)
            for question in np.unique(questions)
            if (other, judge, int(question)) not in self._other
        ]
        for question, curve_ in zip(new, self._curves(other, judge, new), strict=True):
            self._other[other, judge, question] = curve_
        return other, {
            question: self._other[other, judge, question] for question in questions.tolist()
        }

    def _curves(
        self, config: Config, judge: Judge, questions: Iterable[int], relevant_too: bool = False
    ) -> Iterator[Curve]:
        """The exact curves of some questions' pieces, and of what is relevant by itself."""
        assert config.bm25 is not None  # a family is hybrid
        assert config.dense is not None
        assert config.fusion is not None
        pool = self.stage.candidates(config.bm25, config.dense, config.depth)
        judged = self.stage.delivery(config.deliver).span_of
        drawer = Drawer(self.asked, judge, judged, self.cap, relevant_too)
        boost = self.stage.indexes.boost(config.features)
        return drawer.curves(pool, config.fusion, config.depth, questions, boost)


@dataclass(frozen=True, eq=False)
class Drawer:
    """Draws the curves of what is `asked`: `judged` is the delivered span of every chunk, `cap` the
    rank up to which a curve is exact; `relevant_too` are those of what is relevant by itself."""

    asked: Pieces
    judge: Judge
    judged: Ints
    cap: int
    relevant_too: bool = False

    def curves(
        self,
        pool: Candidates,
        fusion: FusionConfig,
        depth: int,
        questions: Iterable[int],
        boost: Boost | None = None,
    ) -> Iterator[Curve]:
        """The exact curves of some questions' pieces (see `lab.diagnosis.alpha.curve`), of which
        fusion keeps `depth` hits."""
        bm25, dense = contributions(pool, fusion.normalization, boost)
        bm25_rank, dense_rank = pool.bm25_rank, pool.dense_rank
        if boost is not None:
            # The lists at both ends are no longer the legs' own.
            ends = (fusion.model_copy(update={"alpha": alpha}) for alpha in (0.0, 1.0))
            bm25_rank, dense_rank = (
                ranks(fuse(pool, end, depth, boost), pool.chunks) for end in ends
            )
        judge, judged = self.judge, self.judged
        if isinstance(judge, DocumentJudge):
            judged = judge.spans.document[judged]
        borders = np.searchsorted(self.asked.query, np.arange(len(self.asked.queries) + 1))
        for query in questions:
            real = pool.chunks[query] != NONE
            chunks = pool.chunks[query, real]
            lines = Lines(
                chunks,
                judged[chunks],
                bm25[query, real],
                dense[query, real],
                bm25_rank[query, real],
                dense_rank[query, real],
            )
            holders = [
                judge.covering_spans(piece)
                for piece in range(int(borders[query]), int(borders[query + 1]))
            ]
            relevant = judge.relevant_to(query) if self.relevant_too else []
            yield curve(lines, [*holders, *relevant], depth, self.cap).parted(len(holders))
