"""Vectors searched whole: all dimensions, in float32."""

from typing import Any

from lab.arrays import Ints
from lab.diagnosis.causes import LOST
from lab.diagnosis.interventions.intervention import (
    Case,
    Intervention,
    Recovered,
    no_units,
    tried_in_turn,
)
from lab.retrieval.stored import FLOAT32


def _lost_by_coarse_vectors(case: Case) -> Ints:
    """What is lost among the candidates or in their ranking of a system whose vectors are not
    whole."""
    dense = case.config.dense
    if dense is None or dense.stores_whole:
        return no_units()
    return case.of(*LOST)


def _whole(case: Case, units: Ints) -> Recovered:
    """More bits of each number first, then more numbers, then both."""
    dense = case.config.dense
    assert dense is not None  # only systems with vectors are asked
    changes: dict[str, dict[str, Any]] = {
        "vectors in float32": {"storage": FLOAT32},
        "vectors of all dimensions": {"dims": 0},
        "vectors of all dimensions in float32": {"storage": FLOAT32, "dims": 0},
    }
    changed = {text: dense.model_copy(update=change) for text, change in changes.items()}
    systems = [
        (case.config.model_copy(update={"dense": other}), text)
        for text, other in changed.items()
        if other != dense
    ]
    return tried_in_turn(case, units, systems)


WHOLE_VECTORS = Intervention(
    "whole vectors",
    size=11,
    proves=("quantised",),
    claims="quantised",
    applies_to=_lost_by_coarse_vectors,
    rerun=_whole,
)
