"""Every hit delivered with the chunks beside it."""

from lab.arrays import Ints
from lab.diagnosis.causes import LOST
from lab.diagnosis.interventions.intervention import (
    Case,
    Intervention,
    Recovered,
    all_back,
    no_units,
)
from lab.relevance.judge import SpanJudge

WINDOW = "window(1)"
NAME = "neighbours delivered"
TEXT = f"deliver {WINDOW}"
SIZE = 18
PROVES = ("split", "detached")


def _split_or_lost(case: Case) -> Ints:
    """Where chunks are delivered as they are, and are parts of what is judged."""
    config = case.config
    widens = config.deliver == "chunk" and config.chunk.strategy != "document"
    if not widens or not isinstance(case.run.judge, SpanJudge):
        return no_units()
    return case.of("split", *LOST)


def _rerun(case: Case, units: Ints) -> Recovered:
    replay, k = case.replay, case.ranks.k
    # Two chunks of a document may share a window, so twice as many and some more are enough to see
    # k windows.
    head = case.run.judged.ranking.first(4 * int(k.max(initial=0)))
    run = replay.judged_as(WINDOW, head)
    fitting = replay.cutoff.fitting(run)
    limit = k[units] if fitting is None else fitting[replay.pieces.query[units]]
    return all_back(units[run.judged.complete[units] <= limit], TEXT)


def _only_by_neighbours(case: Case) -> Ints:
    units = case.unproved_whole()
    return units[[case.has(NAME, unit) for unit in units.tolist()]]


NEIGHBOURS = Intervention(
    NAME,
    size=SIZE,
    proves=PROVES,
    applies_to=_split_or_lost,
    rerun=_rerun,
)
# What is known already, looked at again when every change of the blamed stage has been tried: a
# piece that neighbours alone bring back says too little by itself.
ONLY_NEIGHBOURS = Intervention(
    NAME,
    size=SIZE,
    proves=PROVES,
    claims="detached",
    applies_to=_only_by_neighbours,
    rerun=lambda case, units: all_back(units, TEXT),
)
