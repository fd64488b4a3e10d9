"""The reranker without its threshold, and no reranker at all: both rankings are there already."""

from lab.arrays import Ints
from lab.diagnosis.interventions.intervention import (
    Case,
    Intervention,
    Recovered,
    all_back,
    no_units,
)


def _without_threshold(case: Case, units: Ints) -> Recovered:
    reranked = case.ranks.reranked[units]
    back = (reranked <= case.ranks.k[units]) & (reranked != case.ranks.final[units])
    return all_back(units[back], "no threshold")


def _without_reranker(case: Case, units: Ints) -> Recovered:
    return all_back(units[case.ranks.first[units] <= case.ranks.k[units]], "no reranker")


NO_THRESHOLD = Intervention(
    "no threshold",
    size=2,
    proves=("cut",),
    applies_to=lambda case: case.missed,
    rerun=_without_threshold,
)
NO_RERANKER = Intervention(
    "no reranker",
    size=4,
    proves=("demoted",),
    applies_to=lambda case: no_units() if case.config.rerank is None else case.missed,
    rerun=_without_reranker,
)
