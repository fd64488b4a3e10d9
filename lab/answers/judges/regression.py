"""Whether a changed prompt or model of a judge still judges alike: old and new scores of the same
fixed cases."""

from dataclasses import dataclass

import numpy as np

from lab.arrays import Floats

# How far the mean may move, in points of the scale.
MEAN_MOVED = 0.2
# Share of the lowest fifth before that has to be in the lowest fifth after.
LEAST_OVERLAP = 0.5
FIFTH = 0.2
# A scale of more levels is read in halves.
MOST_LEVELS = 11


@dataclass(frozen=True, slots=True)
class JudgeRegression:
    """What changed between two judgements of the same cases. `moved` is the new mean minus the old
    one; `modes_before` and `modes_after` count the peaks of both distributions; `overlap` is the
    share of the lowest fifth that stayed there; `faults` says in words what is not as before, empty
    where all is; `cases` are the ids whose score moved most, those of the faults first."""

    cases_judged: int
    moved: float
    modes_before: int
    modes_after: int
    overlap: float
    faults: tuple[str, ...]
    cases: tuple[str, ...]


def judge_regression(
    ids: list[str], before: Floats, after: Floats, shown: int = 10
) -> JudgeRegression:
    """Compare scores of the same cases, at least one, in the same order."""
    moved = float(after.mean() - before.mean())
    step = scale_step(np.concatenate([before, after]))
    peaks = modes(before, step), modes(after, step)
    low, still_low = lowest_fifth(before), lowest_fifth(after)
    overlap = float(len(low & still_low) / len(low))
    faults = []
    if abs(moved) > MEAN_MOVED + 1e-9:
        faults.append(f"the mean moved by {moved:+.2f}, more than {MEAN_MOVED}")
    if peaks[1] > peaks[0]:
        faults.append(f"the scores have {peaks[1]} peaks, before {peaks[0]}")
    if overlap < LEAST_OVERLAP:
        faults.append(f"{overlap:.0%} of the lowest fifth stayed there, less than half")
    order = np.argsort(-np.abs(after - before), kind="stable")
    cases = tuple(ids[place] for place in order[:shown].tolist() if after[place] != before[place])
    return JudgeRegression(len(ids), moved, *peaks, overlap, tuple(faults), cases)


def lowest_fifth(scores: Floats) -> set[int]:
    """Places of the lowest fifth of the cases, and of all that tie with the last of them."""
    count = max(1, round(FIFTH * len(scores)))
    limit = np.sort(scores)[count - 1]
    return set(np.flatnonzero(scores <= limit).tolist())


def scale_step(scores: Floats) -> float:
    """Distance of neighbouring scores on the judge's scale: the least that occurs, at least half a
    point where more than eleven scores occur."""
    values = np.unique(scores)
    if len(values) < 2:
        return 1.0
    least = float(np.diff(values).min())
    return max(least, 0.5) if len(values) > MOST_LEVELS else least


def modes(scores: Floats, step: float) -> int:
    """Peaks of the distribution over levels `step` apart: levels whose count is above the valleys
    on both sides by more than two standard errors, twice the root of the count."""
    places = np.round((scores - scores.min()) / step).astype(np.int64)
    counts = np.bincount(places)
    peaks, valley, top = 0, 0.0, 0.0
    rising = True
    for count in [*map(float, counts), 0.0]:
        if rising and count < top - 2 * np.sqrt(max(top, 1.0)):
            peaks, rising, valley = peaks + 1, False, count
        elif rising:
            top = max(top, count)
        elif count > valley + 2 * np.sqrt(max(count, 1.0)):
            rising, top = True, count
        else:
            valley = min(valley, count)
    return max(peaks, 1)
