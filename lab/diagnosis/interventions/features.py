"""The first stage without the documents' features."""

from lab.arrays import Ints
from lab.diagnosis.interventions.intervention import (
    Case,
    Intervention,
    Recovered,
    no_units,
    tried_in_turn,
)
from lab.retrieval.config import FeaturesConfig


def _rerun(case: Case, units: Ints) -> Recovered:
    plain = case.config.model_copy(update={"features": FeaturesConfig()})
    return tried_in_turn(case, units, [(plain, "no features")])


WITHOUT_FEATURES = Intervention(
    "without the features",
    size=6,
    proves=("outranked",),
    applies_to=lambda case: case.of("outranked") if case.config.features.root else no_units(),
    rerun=_rerun,
)
