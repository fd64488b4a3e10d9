"""A chunk cut elsewhere: around a piece that was parted, or closer or longer around a whole one."""

import numpy as np

from lab.arrays import Ints
from lab.diagnosis.causes import LOST
from lab.diagnosis.interventions import delivery
from lab.diagnosis.interventions.intervention import Case, Intervention, Recovered, all_back

# Lengths of the chunk that is cut closer around a piece, as shares of the old one's.
CLOSER = {
    1.0: "a chunk of the same length with it in the middle",
    0.5: "a chunk 0.5 times as long",
}
LONGER = 2.0


def _parted(case: Case) -> Ints:
    units = case.of("split", *LOST)
    return units[(case.ranks.needed[units] > 1) & case.ranks.inside[units]]


def _cut_elsewhere(case: Case, units: Ints) -> Recovered:
    """One chunk around the piece in place of its parts; else, where it may decide, the cut moved
    behind or before it."""
    edits = case.replay.edits
    whole = case.edited_within(units, [edits.around(unit) for unit in units.tolist()])
    back = dict(all_back(units[whole], "a chunk that holds it whole"))
    left = np.array(
        [
            unit
            for unit in units[~whole].tolist()
            if case.cause(unit) != "split" or not case.has(delivery.NAME, unit)
        ],
        dtype=np.int64,
    )
    moved = [edits.moved(unit, behind) for behind in (True, False) for unit in left.tolist()]
    behind, before = case.edited_within(np.tile(left, 2), moved).reshape(2, -1)
    back |= all_back(left[before], "the cut moved before it")
    back |= all_back(left[behind], "the cut moved behind it")
    return back


def _cut_closer(case: Case, units: Ints) -> Recovered:
    edits = case.replay.edits
    closer = [edits.around(unit, share) for share in CLOSER for unit in units.tolist()]
    within = case.edited_within(np.tile(units, len(CLOSER)), closer).reshape(len(CLOSER), -1)
    back: dict[int, str] = {}
    for text, of_share in zip(CLOSER.values(), within, strict=True):
        back = {**all_back(units[of_share], text), **back}
    return back


def _cut_longer(case: Case, units: Ints) -> Recovered:
    longer = [case.replay.edits.around(unit, LONGER) for unit in units.tolist()]
    return all_back(units[case.edited_within(units, longer)], "a chunk twice as long")


CUT_ELSEWHERE = Intervention(
    "cut elsewhere",
    size=15,
    proves=("split",),
    claims="split",
    applies_to=_parted,
    rerun=_cut_elsewhere,
)
CUT_AROUND = Intervention(
    "cut around it",
    size=16,
    proves=("diluted",),
    claims="diluted",
    applies_to=Case.unproved_whole,
    rerun=_cut_closer,
)
CUT_LONGER = Intervention(
    "cut longer",
    size=17,
    proves=("detached",),
    claims="detached",
    applies_to=Case.unproved_whole,
    rerun=_cut_longer,
)
