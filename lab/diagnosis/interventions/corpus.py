"""Every chunk at once: what even they do not hold is not in the corpus."""

from lab.arrays import Ints
from lab.diagnosis.interventions.intervention import Case, Intervention, Recovered, all_back


def _rerun(case: Case, units: Ints) -> Recovered:
    return all_back(units[~case.ranks.inside[units]], "not even all chunks together hold it")


ALL_CHUNKS = Intervention(
    "all chunks",
    size=19,
    proves=("not_in_corpus",),
    applies_to=lambda case: case.missed,
    rerun=_rerun,
)
