"""Visible: the stages of a foreign system that can be seen, as rankings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lab.arrays import NONE, Bools, Floats, Ints
from lab.pipeline.foreign.hits import Hit
from lab.pipeline.foreign.reply import LEGS, Call, StageHits
from lab.retrieval.config import FusionConfig
from lab.retrieval.fusion import Candidates, candidates, contributions, union, weigh
from lab.retrieval.ranking import DECIMALS, Ranking, ranks_of

# What anchored rows of hits are called by: the name and kind of a stage. A leg's rows are there
# twice, as it returned them and as it scored them.
Key = tuple[str, str]
Rows = list[dict[Any, float]]
SCORED = "scored"
UPTO = "\0up to call"
# Scores that differ by no more than order's last decimal may stand in either order.
TIED = 1.5 * 10.0**-DECIMALS


@dataclass(frozen=True, slots=True, eq=False)
class SeenStage:
    """A stage behind the legs, over all questions."""

    name: str
    kind: str
    ranking: Ranking


@dataclass(frozen=True, eq=False)
class Visible:
    """`legs` are the rankings that the legs returned, by kind; `scores` all that they scored, NaN
    where a hit has no score; `chain` what follows them, but for the final ranking, in its order.
    `normalization` and `alpha` are how legs are fused, None where nobody says so, or not alike for
    all questions. `calls` counts the searches of every question, 0 where no stage is shown, and
    `upto` has for each number of them what these had returned together; none where every question
    was searched for once."""

    legs: Mapping[str, Ranking]
    scores: Mapping[str, Ranking]
    chain: tuple[SeenStage, ...]
    normalization: str | None
    alpha: float | None
    calls: Ints
    upto: tuple[Ranking, ...]

    @staticmethod
    def of(rankings: Mapping[Key, Ranking], calls: Sequence[Sequence[Call]]) -> "Visible":
        """From the anchored rows of `stage_hits`."""
        fused = [stage for stage in _stages(calls) if stage.kind == "fused"]
        return Visible(
            legs={kind: rankings[kind, kind] for kind in LEGS if (kind, kind) in rankings},
            scores={kind: rankings[SCORED, kind] for kind in LEGS if (kind, kind) in rankings},
            chain=tuple(
                SeenStage(name, kind, ranking)
                for (name, kind), ranking in rankings.items()
                if kind not in LEGS and name != UPTO
            ),
            normalization=_alike([stage.normalization for stage in fused]),
            alpha=_alike([stage.alpha for stage in fused]),
            calls=np.array([len(of_question) for of_question in calls], dtype=np.int64),
            upto=tuple(ranking for (name, _), ranking in rankings.items() if name == UPTO),
        )

    @property
    def reranker(self) -> int | None:
        """Place of the last reranker in the chain; None where none is seen."""
        places = [place for place, stage in enumerate(self.chain) if stage.kind == "rerank"]
        return places[-1] if places else None

    def growing(self, kind: str) -> Ints:
        """Questions in which a leg's scores grow with the rank: then lower is better with it."""
        scores = np.where(np.isfinite(self.scores[kind].scores), self.scores[kind].scores, np.nan)
        steps = np.diff(np.round(scores, DECIMALS), axis=1)
        return np.flatnonzero((np.nan_to_num(steps) > 0).any(axis=1))

    def has_scores(self, kind: str) -> bool:
        """Whether every hit of a leg has a score, and a higher one is better."""
        ranking = self.scores[kind]
        known = not np.isnan(ranking.scores[ranking.chunks != NONE]).any()
        return known and not len(self.growing(kind))

    @cached_property
    def fusion(self) -> FusionConfig | None:
        """How curves over alpha fuse the legs: as the system says it does, else by the default.
        None where they cannot be drawn: without both legs or their scores (ranks are enough for
        `rrf`), or where a question was searched for several times."""
        if len(self.legs) < len(LEGS) or (self.calls > 1).any():
            return None
        fusion = FusionConfig() if self.normalization is None else _fusion(self.normalization)
        scored = fusion.normalization == "rrf" or all(map(self.has_scores, LEGS))
        return fusion if scored else None

    @property
    def stated(self) -> bool:
        """Whether the system says how it joins the legs."""
        return self.normalization is not None

    @cached_property
    def candidates(self) -> Candidates:
        """Both legs' hits with both legs' scores, NaN where a leg has not scored one."""
        lexical, dense = (self.legs[kind] for kind in LEGS)
        return candidates(
            lexical,
            dense,
            lambda chunks: _looked_up(self.scores["lexical"], chunks),
            lambda chunks: _looked_up(self.scores["dense"], chunks),
        )

    @property
    def fused(self) -> SeenStage | None:
        """The stage that joins the legs."""
        return next((stage for stage in self.chain if stage.kind == "fused"), None)

    @property
    def depth(self) -> int:
        """How many hits fusion keeps at most, as far as it can be seen."""
        if self.fused is None:
            return int(self.candidates.chunks.shape[1])
        return int(self.fused.ranking.lengths.max(initial=0))

    def reach(self, final: Ranking) -> Ranking:
        """Everything that the first stages had, in no order."""
        behind = self.chain[0].ranking if self.chain else final
        chunks = union(*self.legs.values(), behind)
        return Ranking(chunks, np.zeros(chunks.shape))

    def searched_unseen(self, final: Ranking) -> Bools:
        """Per question whether something searched that cannot be seen: no leg is shown, or what
        follows them has hits that none of them returned."""
        behind = self.chain[0].ranking if self.chain else final
        query, place = np.nonzero(behind.chunks != NONE)
        known = np.zeros(len(query), dtype=bool)
        for leg in self.legs.values():
            known |= ranks_of(leg, query, behind.chunks[query, place]) > 0
        unseen = np.zeros(len(behind), dtype=bool)
        unseen[query[~known]] = True
        return np.asarray(unseen | (self.calls == 0) | (not self.legs))

    def fused_otherwise(self) -> Ints:
        """Questions whose fused order is not what the stated normalisation and alpha give, however
        equal scores are ordered."""
        if self.fused is None or self.fusion is None or not self.stated or self.alpha is None:
            return np.zeros(0, dtype=np.int64)
        shown = self.fused.ranking.chunks
        parts = contributions(self.candidates, self.fusion.normalization, None)
        fused = Ranking(self.candidates.chunks, weigh(*parts, self.alpha))
        steps = np.diff(np.round(_looked_up(fused, shown), DECIMALS), axis=1)
        return np.flatnonzero((np.nan_to_num(steps) > TIED).any(axis=1))


def stage_hits(
    rankings: Sequence[Sequence[Hit]], calls: Sequence[Sequence[Call]]
) -> dict[Key, list[list[Hit]]]:
    """The hits of every stage of all questions: of a leg as `(kind, kind)` what it returned and as
    `(SCORED, kind)` what it scored, then of the stages behind them in the order in which questions
    pass them. Several calls of a question, and several legs of a kind, stand one after the other. A
    stage that a call does not pass leaves its hits as they were."""
    kinds = [kind for kind in LEGS if any(stage.kind == kind for stage in _stages(calls))]
    behind = dict.fromkeys(
        (stage.name, stage.kind) for stage in _stages(calls) if stage.kind not in (*LEGS, "final")
    )
    shown: dict[Key, list[list[Hit]]] = {}
    for kind in kinds:
        of_kind = [[s for s in _stages([of_question]) if s.kind == kind] for of_question in calls]
        shown[kind, kind] = [[h for s in of for h in s.hits[: s.returned]] for of in of_kind]
        shown[SCORED, kind] = [[h for s in of for h in s.hits] for of in of_kind]
    chain = list(behind)
    for place, key in enumerate(chain):
        shown[key] = [
            [hit for call in of_question for hit in _at(call, chain[: place + 1])]
            or list(() if of_question else final)
            for final, of_question in zip(rankings, calls, strict=True)
        ]
    most = max(map(len, calls), default=0)
    for number in range(1, most + 1) if most > 1 else ():
        shown[UPTO, str(number)] = [
            [hit for call in of_question[:number] for hit in call.final] for of_question in calls
        ]
    return shown


def _at(call: Call, passed: Sequence[Key]) -> tuple[Hit, ...]:
    """A call's hits behind the last of these stages that it passes; its final ones where it passes
    none."""
    own = {(stage.name, stage.kind): stage.hits for stage in call.stages}
    return next((own[key] for key in reversed(passed) if key in own), call.final)


def _stages(calls: Sequence[Sequence[Call]]) -> Iterator[StageHits]:
    return (stage for of_question in calls for call in of_question for stage in call.stages)


def _looked_up(ranking: Ranking, chunks: Ints) -> Floats:
    """A ranking's scores of given chunks (questions x any), NaN where it does not hold one."""
    query, place = np.nonzero(chunks != NONE)
    ranks = ranks_of(ranking, query, chunks[query, place])
    scores = np.full(chunks.shape, np.nan)
    held = ranks > 0
    scores[query[held], place[held]] = ranking.scores[query[held], ranks[held] - 1]
    return scores


def _fusion(normalization: str) -> FusionConfig:
    return FusionConfig.model_validate({"normalization": normalization})


def _alike(values: Sequence[Any]) -> Any:
    """What all of them are; None where they differ."""
    return values[0] if values and len(set(values)) == 1 else None
