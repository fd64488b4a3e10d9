"""Families: systems that differ in alpha alone, and the exact curves of their evidence over it."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lab.diagnosis.alpha import Curve, Lines, curve
from lab.experiment.config import Config
from lab.experiment.stages import Stages
from lab.retrieval.config import FusionConfig
from lab.retrieval.fusion import contributions, fuse, ranks
from lab.retrieval.ranking import NONE
from lab.truth.judge import DocumentJudge, Judge
from lab.truth.pieces import Pieces


@dataclass(frozen=True, eq=False)
class Family:
    """All alphas of one hybrid system before any reranker: `config` stands for it (its alpha means nothing), `curves` has one
    a scored question, exact up to rank `cap`."""

    config: Config
    cap: int
    curves: tuple[Curve, ...]

    @property
    def name(self) -> str:
        """The systems' common name, without alpha."""
        assert self.config.fusion is not None  # a family is hybrid
        return self.config.name.replace(f" alpha={self.config.fusion.alpha:g}", "", 1)


def on_curves(own: Config, config: Config) -> bool:
    """Whether a system's first stage lies on the curves of the family that `own` stands for: at its alpha, or as a leg."""
    if config.variants or config.retriever is not None or _shared(config) != _shared(own):
        return False
    if config.fusion is not None and own.fusion is not None:
        return (config.bm25, config.dense, config.fusion.normalization) == (own.bm25, own.dense, own.fusion.normalization)
    return config.bm25 in (None, own.bm25) and config.dense in (None, own.dense)


def representatives(configs: Iterable[Config]) -> tuple[Config, ...]:
    """One hybrid config a family; where a grid has both legs of a chunking but no hybrid of them, they are joined with the
    default fusion, so that a leg's miss can be asked whether the other leg would have helped. Systems that fuse variants are
    left out: reciprocal ranks of several wordings are not linear in alpha, so no curve is exact for them."""
    configs = [config for config in configs if not config.variants]
    found: dict[Config, None] = {}
    for config in configs:
        if config.fusion is not None:
            found[_plain(config, config.fusion)] = None
    if not found:
        for one in configs:
            for other in configs:
                if _shared(one) == _shared(other) and (one.mode, other.mode) == ("bm25", "dense"):
                    found[_plain(one.model_copy(update={"dense": other.dense}), FusionConfig())] = None
    return tuple(found)


def _shared(config: Config) -> tuple[object, ...]:
    return config.depth, config.deliver, config.chunk, config.views, config.features


def _plain(config: Config, fusion: FusionConfig) -> Config:
    fusion = fusion.model_copy(update={"alpha": FusionConfig().alpha})
    return config.model_copy(update={"fusion": fusion, "rerank": None})


def family(stage: Stages, config: Config, judge: Judge, asked: Pieces, cap: int) -> Family:
    """The exact curves of every question's pieces (see `lab.diagnosis.alpha`)."""
    assert config.bm25 is not None  # a family is hybrid
    assert config.dense is not None
    assert config.fusion is not None
    found = stage.candidates(config.bm25, config.dense, config.depth)
    boost = stage.boost(config.features)
    bm25, dense = contributions(found, config.fusion.normalization, boost)
    bm25_rank, dense_rank = found.bm25_rank, found.dense_rank
    if boost is not None:
        # The lists at both ends are no longer the legs' own.
        ends = (config.fusion.model_copy(update={"alpha": alpha}) for alpha in (0.0, 1.0))
        bm25_rank, dense_rank = (ranks(fuse(found, end, config.depth, boost), found.chunks) for end in ends)
    judged = stage.delivery(config.deliver).span_of
    if isinstance(judge, DocumentJudge):
        judged = judge.spans.document[judged]
    holders = [judge.holders(piece) for piece in range(len(asked))]
    borders = np.searchsorted(asked.query, np.arange(len(asked.queries) + 1))
    curves = []
    for query in range(len(asked.queries)):
        real = found.chunks[query] != NONE
        chunks = found.chunks[query, real]
        lines = Lines(
            chunks,
            judged[chunks],
            bm25[query, real],
            dense[query, real],
            bm25_rank[query, real],
            dense_rank[query, real],
        )
        curves.append(curve(lines, holders[int(borders[query]) : int(borders[query + 1])], config.depth, cap))
    return Family(config, cap, tuple(curves))
