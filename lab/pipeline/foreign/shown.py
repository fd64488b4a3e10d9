"""Showing: the lab's own stages as a foreign retriever shows its own."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lab.arrays import NONE, Floats, Ints
from lab.config.config import Config
from lab.errors import ConfigError
from lab.pipeline.foreign.hits import Hit
from lab.pipeline.foreign.reply import Call, Reply, StageHits
from lab.pipeline.stages import Stages
from lab.retrieval.ranking import Ranking, ranks_of
from lab.retrieval.rerank import rerank


@dataclass(frozen=True, eq=False)
class _Shown:
    """A stage of all questions; `returned` says how many of the hits a leg returned."""

    kind: str
    ranking: Ranking
    returned: Ints | None = None

    @property
    def name(self) -> str:
        return "bm25" if self.kind == "lexical" else self.kind


def replies(stages: Stages, config: Config) -> dict[str, Reply]:
    """Per question the hits of every stage of a system, with all that its curves are drawn from.

    Raises ConfigError where hits of stages do not say all: for features, whose weights join the
    legs' scores; for variants, whose rankings are fused; for filters, since what they leave out is
    in no stage; and where something else than the chunk is delivered.
    """
    hidden = {
        "features": bool(config.features.root),
        "variants": config.variants,
        "filters": config.filter,
        f"deliver '{config.deliver}'": config.deliver != "chunk",
    }
    if any(hidden.values()):
        names = ", ".join(name for name, there in hidden.items() if there)
        raise ConfigError(f"'{config.name}' has {names}: hits of its stages do not say all of it")
    shown = [*_legs(stages, config), *_behind(stages, config)]
    alphas = stages.alphas(config) if config.fusion else np.zeros(len(stages.questions))
    return {
        query.query_id: _reply(stages, config, shown, at, float(alpha))
        for (at, query), alpha in zip(enumerate(stages.questions.queries), alphas, strict=True)
    }


def _reply(stages: Stages, config: Config, shown: list[_Shown], query: int, alpha: float) -> Reply:
    fusion = config.fusion
    of_question = tuple(
        StageHits(
            stage.name,
            stage.kind,
            tuple(_hits(stages, stage.ranking, query)),
            returned=None if stage.returned is None else int(stage.returned[query]),
            normalization=fusion.normalization if fusion and stage.kind == "fused" else None,
            alpha=alpha if fusion and stage.kind == "fused" else None,
        )
        for stage in shown
    )
    return Reply(of_question[-1].hits, (Call(of_question),))


def _legs(stages: Stages, config: Config) -> Iterator[_Shown]:
    """Of two legs the scores of all candidates, as fusion reads them; of one its hits."""
    bm25, dense, depth = config.bm25, config.dense, config.depth
    if bm25 is not None and dense is not None:
        both = stages.candidates(bm25, dense, depth)
        yield _scored("lexical", stages.bm25_leg(bm25, depth), both.chunks, both.bm25)
        yield _scored("dense", stages.dense_leg(dense, depth), both.chunks, both.dense)
    elif bm25 is not None:
        yield _Shown("lexical", stages.bm25_leg(bm25, depth))
    elif dense is not None:
        yield _Shown("dense", stages.dense_leg(dense, depth))


def _scored(kind: str, leg: Ranking, chunks: Ints, scores: Floats) -> _Shown:
    """A leg's hits in its order, then what it has only scored, the best first."""
    query, place = np.nonzero(chunks != NONE)
    ranks = np.zeros(chunks.shape, dtype=np.int64)
    ranks[query, place] = ranks_of(leg, query, chunks[query, place])
    known = (chunks != NONE) & ((ranks > 0) | ~np.isnan(scores))
    # Ranks stand first, ascending; behind them scores, descending.
    behind = np.where(ranks > 0, -np.inf, -np.nan_to_num(scores))
    order = np.lexsort((behind, np.where(ranks > 0, ranks, chunks.shape[1] + 1), ~known), axis=1)
    kept = np.where(known, chunks, NONE)
    ordered = Ranking(
        np.take_along_axis(kept, order, axis=1),
        np.take_along_axis(np.where(known, scores, -np.inf), order, axis=1),
    )
    return _Shown(kind, ordered, leg.lengths)


def _behind(stages: Stages, config: Config) -> Iterator[_Shown]:
    first = stages.first_stage(config)
    if config.fusion is not None:
        yield _Shown("fused", first)
    if config.rerank is not None:
        free = config.rerank.model_copy(update={"threshold": None})
        scores = stages.pairs.of_head(free, first)
        uncut = rerank(first, scores, free, stages.questions.texts)
        yield _Shown("rerank", _with_scores(uncut, first, scores))
    yield _Shown("final", stages.ranking(config))


def _with_scores(ranking: Ranking, first: Ranking, scores: Floats) -> Ranking:
    """A ranking with the reranker's own scores, NaN for what it was not asked."""
    query, place = np.nonzero(ranking.chunks != NONE)
    asked = ranks_of(first.first(scores.shape[1]), query, ranking.chunks[query, place])
    own = np.full(ranking.chunks.shape, np.nan)
    held = asked > 0
    own[query[held], place[held]] = scores[query[held], asked[held] - 1]
    return Ranking(ranking.chunks, own)


def _hits(stages: Stages, ranking: Ranking, query: int) -> Iterator[Hit]:
    chunking = stages.chunking
    for chunk, score in zip(ranking.chunks[query], ranking.scores[query], strict=True):
        if chunk == NONE:
            continue
        held = chunking[int(chunk)]
        known = float(score) if np.isfinite(score) else None
        yield Hit(held.doc_id, held.start, held.end, score=known)
