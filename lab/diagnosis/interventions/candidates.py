"""More candidates, and exact search for them."""

from lab.arrays import Ints
from lab.diagnosis.causes import CANDIDATES
from lab.diagnosis.interventions.intervention import (
    Case,
    Intervention,
    Recovered,
    no_units,
    tried_in_turn,
)
from lab.diagnosis.stage_ranks import exactly

WIDER = 4


def _deeper(case: Case, units: Ints) -> Recovered:
    depth = WIDER * case.config.depth
    deeper = case.config.model_copy(update={"depth": depth})
    return tried_in_turn(case, units, [(deeper, f"depth {depth}")])


def _approximate(case: Case) -> Ints:
    """All misses of a system that searches approximately."""
    return no_units() if exactly(case.config) is case.config else case.missed


MORE_CANDIDATES = Intervention(
    "four times the candidates",
    size=8,
    proves=("lexical_gap", "semantic_gap", "both"),
    applies_to=lambda case: case.of(*CANDIDATES),
    rerun=_deeper,
)
EXACT_SEARCH = Intervention(
    "exact search",
    size=10,
    proves=("approximate",),
    applies_to=_approximate,
    rerun=lambda case, units: tried_in_turn(case, units, [(exactly(case.config), "exact search")]),
)
