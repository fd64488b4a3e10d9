"""The encoder reading chunks to their end."""

from lab.arrays import Ints
from lab.diagnosis.interventions.intervention import (
    Case,
    Intervention,
    Recovered,
    all_back,
    no_units,
)


def _rerun(case: Case, units: Ints) -> Recovered:
    dense, replay = case.config.dense, case.replay
    assert dense is not None  # only systems with an encoder are asked
    tails = replay.ranker.tails(dense)
    edits = [replay.edits.read_to_end(tails[unit]) for unit in units.tolist()]
    return all_back(
        units[case.edited_within(units, edits)], "the encoder reading the chunk to its end"
    )


READ_TO_END = Intervention(
    "read to the end",
    size=14,
    proves=("truncated",),
    applies_to=lambda case: no_units() if case.config.dense is None else case.of("truncated"),
    rerun=_rerun,
)
