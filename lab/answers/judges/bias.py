"""What else than quality moves a judge: the length of an answer, and its own family."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.arrays import Bools, Floats

Strings = NDArray[np.str_]
PERMUTATIONS = 9_999
# Random numbers drawn at a time: 80 MB.
NUMBERS_AT_ONCE = 10_000_000


@dataclass(frozen=True, slots=True)
class LengthSlope:
    """Points that a judge adds for every hundred words at equal scores of people, least squares of
    score on words, people's score and the question; 95% interval with errors that are robust to
    unequal spread (HC2, MacKinnon and White 1985). To level it, take the slope off every hundred
    words."""

    answers: int
    slope: float
    low: float
    high: float


def length_slope(
    score: Floats, people: Floats, words: Floats, query: Strings
) -> LengthSlope | None:
    """One entry an answer. None where length does not vary beside people's scores and questions."""
    columns = np.column_stack([words / 100, people])
    effect = _least_squares(score, columns, query)
    if effect is None:
        return None
    slope, half = effect
    return LengthSlope(len(score), slope, slope - half, slope + half)


def _least_squares(score: Floats, columns: Floats, query: Strings) -> tuple[float, float] | None:
    """Coefficient of the first column and half its 95% interval, questions taken out by their means
    (Frisch-Waugh-Lovell); the last column is dropped where it says nothing more."""
    from scipy.stats import t

    names, group = np.unique(query, return_inverse=True)
    y, x = _within(score[:, None], group)[:, 0], _within(columns, group)
    if np.linalg.matrix_rank(x) < x.shape[1]:
        x = x[:, :1]
    freedom = len(y) - len(names) - x.shape[1]
    if freedom <= 0 or not np.any(np.abs(x[:, 0]) > 1e-12):
        return None
    inverse = np.linalg.inv(x.T @ x)
    coefficients = inverse @ x.T @ y
    leverage = 1 / np.bincount(group)[group] + np.einsum("ij,jk,ik->i", x, inverse, x)
    rest = (y - x @ coefficients) / np.sqrt(np.maximum(1 - leverage, 1e-9))
    covariance = inverse @ ((x * rest[:, None] ** 2).T @ x) @ inverse
    half = float(t.ppf(0.975, freedom)) * float(np.sqrt(covariance[0, 0]))
    return float(coefficients[0]), half


def _within(values: Floats, group: NDArray[np.int64]) -> Floats:
    """Values less the mean of their question."""
    counts = np.bincount(group)
    means = np.column_stack([np.bincount(group, weights=c) / counts for c in values.T])
    return np.asarray(values - means[group])


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """Points that a judge gives answers of its own family beyond what people's scores, other
    judges of the same answers and its own severity explain; `p` by permuting, within each question
    and judge, which answers are its family's."""

    scores: int
    questions: int
    bonus: float
    p: float


def self_preference(
    score: Floats, people: Floats | None, query: Strings, judge: Strings, own: Bools, seed: int
) -> SelfPreference | None:
    """One entry a score; `own` says that judge and generator are of one family; `people` is what
    people gave the same answer, else the mean of judges of other families should be passed in its
    place. None where no question has both own and others' answers under one judge."""
    rest = score - (people if people is not None else 0.0)
    _, group = np.unique(np.char.add(np.char.add(query, "\0"), judge), return_inverse=True)
    counts = np.bincount(group)
    owned = np.bincount(group, weights=own)
    useful = (owned > 0) & (owned < counts)
    kept = useful[group]
    if not kept.any():
        return None
    rest, own, group = rest[kept], own[kept], np.unique(group[kept], return_inverse=True)[1]
    centred = _within(rest[:, None], group)[:, 0]
    bonus = _own_effect(centred, own.astype(np.float64)[None], group)[0]
    rng = np.random.default_rng(seed)
    slab = max(1, NUMBERS_AT_ONCE // len(own))
    extreme = 0
    for first in range(0, PERMUTATIONS, slab):
        draws = min(slab, PERMUTATIONS - first)
        permuted = _permuted_within(own.astype(np.float64), group, rng.random((draws, len(own))))
        effects = _own_effect(centred, permuted, group)
        extreme += int((np.abs(effects) >= abs(bonus) - 1e-12).sum())
    return SelfPreference(
        scores=len(rest),
        questions=len(set(query[kept].tolist())),
        bonus=float(bonus),
        p=(extreme + 1) / (PERMUTATIONS + 1),
    )


def _permuted_within(own: Floats, group: NDArray[np.int64], keys: Floats) -> Floats:
    """`own` shuffled within each group, a row for each row of random `keys` in [0, 1)."""
    order = np.argsort(group, kind="stable")
    shuffled = np.argsort(group + keys, axis=1)
    permuted = np.empty_like(keys)
    np.put_along_axis(permuted, np.broadcast_to(order, keys.shape), own[shuffled], axis=1)
    return permuted


def _own_effect(centred: Floats, own: Floats, group: NDArray[np.int64]) -> Floats:
    """Least squares of centred scores on being one's own, both within their group; a row of `own`
    for each effect."""
    counts = np.bincount(group)
    totals = np.zeros((len(own), len(counts)))
    np.add.at(totals.T, group, own.T)
    x = own - (totals / counts)[:, group]
    return np.asarray((x @ centred) / np.einsum("ij,ij->i", x, x))
