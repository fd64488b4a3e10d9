"""The question without its filter."""

from lab.arrays import Ints
from lab.diagnosis.interventions.intervention import Case, Intervention, Recovered, all_back


def _rerun(case: Case, units: Ints) -> Recovered:
    ranks = case.seen.unfiltered(case.config, case.run.judge)
    return all_back(units[ranks[units] <= case.ranks.k[units]], "no filter")


NO_FILTER = Intervention(
    "no filter",
    size=1,
    proves=("cut",),
    applies_to=lambda case: case.of("cut"),
    rerun=_rerun,
)
