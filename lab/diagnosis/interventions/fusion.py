"""The legs weighed otherwise: every alpha of a system's normalisation, then those of another."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lab.arrays import Ints
from lab.config.config import Config
from lab.diagnosis.alpha.curve import Curve
from lab.diagnosis.causes import LOST
from lab.diagnosis.interventions.intervention import Case, Intervention, Recovered, no_units


@dataclass(frozen=True, eq=False)
class Weighing:
    """A hybrid system whose alpha means nothing, the curves of questions over its alpha, and the
    words before alphas."""

    config: Config
    curves: Mapping[int, Curve]
    lead: str


def _on_a_curve(case: Case) -> Ints:
    if case.family is None:
        return no_units()
    # With a reranker every alpha costs pairs: only where it may decide.
    return case.missed if case.config.rerank is None else case.of(*LOST)


def _alphas(case: Case, units: Ints) -> Recovered:
    family = case.family
    assert family is not None  # only systems on curves are asked
    lead = "alpha" if case.config.fusion is not None else "both legs at alpha"
    return _weighed(case, units, Weighing(family.config, dict(enumerate(family.curves)), lead))


def _to_be_proved(case: Case) -> Ints:
    return no_units() if case.family is None else case.unproved(case.of(*LOST))


def _other_fusions(case: Case, units: Ints) -> Recovered:
    assert case.family is not None  # only systems on curves are asked
    query = case.seen.pieces.query[units]
    other, curves = case.seen.otherwise(case.family.config, case.run.judge, query)
    assert other.fusion is not None  # a family is hybrid
    return _weighed(case, units, Weighing(other, curves, f"{other.fusion.normalization} at alpha"))


def _weighed(case: Case, units: Ints, weighing: Weighing) -> Recovered:
    """Without a reranker all alphas are known; with one, that at which a piece comes nearest, 0 and
    1 are tried."""
    pieces = case.seen.pieces
    row = {unit: int(pieces.number[unit]) - 1 for unit in units.tolist()}
    curve = {unit: weighing.curves[int(pieces.query[unit])] for unit in row}
    if case.config.rerank is None:
        texts = {unit: curve[unit].alphas(row[unit], int(case.ranks.k[unit])) for unit in row}
        return {unit: f"{weighing.lead} {text}" for unit, text in texts.items() if text}
    nearest = {unit: curve[unit].nearest(row[unit]) for unit in row}
    back: dict[int, str] = {}
    for alphas in (nearest, dict.fromkeys(row, 0.0), dict.fromkeys(row, 1.0)):
        left = {
            unit: alpha for unit, alpha in alphas.items() if alpha is not None and unit not in back
        }
        for unit in _within(case, weighing.config, left):
            back[unit] = f"{weighing.lead} {left[unit]:.15g}"
    return back


def _within(case: Case, config: Config, alphas: Mapping[int, float]) -> list[int]:
    """The pieces that come back, each at its alpha."""
    if not alphas:
        return []
    units, replay = np.array(list(alphas), dtype=np.int64), case.replay
    query, k = replay.pieces.query[units], case.ranks.k[units]
    first = replay.stages.first_stage_at(config, query, np.array(list(alphas.values())))
    back = replay.reruns.within(case.config, case.run.judge, units, first, k)
    return [int(unit) for unit in units[back]]


ALPHA = Intervention(
    "alpha",
    size=5,
    proves=("outranked", "lexical_gap", "semantic_gap"),
    applies_to=_on_a_curve,
    rerun=_alphas,
)
OTHER_FUSION = Intervention(
    "other fusion",
    size=7,
    proves=("outranked", "lexical_gap", "semantic_gap"),
    applies_to=_to_be_proved,
    rerun=_other_fusions,
)
