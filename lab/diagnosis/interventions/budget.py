"""A larger token budget."""

from lab.arrays import Ints
from lab.diagnosis.interventions.intervention import Case, Intervention, Recovered, all_back

TEXT = "a larger token budget"


def _rerun(case: Case, units: Ints) -> Recovered:
    within = case.ranks.final[units] <= case.ranks.k[units]
    return all_back(units[within], TEXT)


LARGER_BUDGET = Intervention(
    "larger budget",
    size=3,
    proves=("cut",),
    applies_to=lambda case: case.missed,
    rerun=_rerun,
)
