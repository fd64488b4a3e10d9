"""Near-duplicates ahead of the evidence counted once."""

import numpy as np

from lab.arrays import NEVER, Ints
from lab.diagnosis.interventions.intervention import (
    Case,
    Intervention,
    Recovered,
    all_back,
    no_units,
)
from lab.relevance.judge import SpanJudge


def _whole_and_ranked(case: Case) -> Ints:
    """Outranked pieces that lie whole in a span somewhere in the ranking."""
    if not isinstance(case.run.judge, SpanJudge):
        return no_units()
    outranked = case.of("outranked")
    ranks = case.ranks
    ranked = (ranks.needed[outranked] == 1) & (ranks.final[outranked] < NEVER)
    return np.asarray(outranked[ranked])


def _rerun(case: Case, units: Ints) -> Recovered:
    competitors = case.seen.competitors
    distinct = [competitors.distinct_rank(case.run, case.ranks, unit) for unit in units.tolist()]
    back = units[np.array(distinct) <= case.ranks.k[units]]
    return all_back(back, "near-duplicates counted once")


DUPLICATES_ONCE = Intervention(
    "near-duplicates once",
    size=9,
    proves=("crowded",),
    claims="crowded",
    applies_to=_whole_and_ranked,
    rerun=_rerun,
)
