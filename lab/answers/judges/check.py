"""Whether a judge can be trusted: every check that a file of judgements allows, with and without
people's labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.answers.judges.bias import LengthSlope, SelfPreference, length_slope, self_preference
from lab.answers.judges.calibration import Calibration, calibration
from lab.answers.judges.correction import Corrected, prediction_powered, rogan_gladen
from lab.answers.judges.judgement import VERSION, Preference, Score
from lab.answers.judges.orders import BothOrders, both_orders
from lab.answers.judges.queue import Queued, review_queue
from lab.answers.judges.regression import JudgeRegression, judge_regression
from lab.errors import AnswersError
from lab.sets.agreement import Agreement, agreement

Item = tuple[str, str, str]
# A confident judge is right where it is within half a point of people.
CLOSE = 0.5


@dataclass(frozen=True, slots=True)
class JudgeCheck:
    """One judge by one criterion. What needs people's scores of the same answers, lengths,
    confidences or generators is None where these are missing. `own_answers` counts scores of
    answers that the judge itself wrote: it must not."""

    judge: str
    criterion: str
    scores: int
    mean: float
    shared_with_people: int
    kappa: Agreement | None
    corrected: Corrected | None
    length: LengthSlope | None
    calibration: Calibration | None
    family: SelfPreference | None
    own_answers: int


@dataclass(frozen=True, slots=True)
class Checked:
    """All judges of a file, their pairs in both orders, and what a person should look at."""

    judges: tuple[JudgeCheck, ...]
    orders: tuple[BothOrders, ...]
    queue: tuple[Queued, ...]


def check_judges(
    scores: Sequence[Score],
    preferences: Sequence[Preference],
    people: Sequence[Score] = (),
    seed: int = 0,
) -> Checked:
    """Check every judge by every criterion; `people` are scores of some of the same answers."""
    labels = {(score.query_id, score.system, score.criterion): score.score for score in people}
    groups: dict[tuple[str, str], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.judge, score.criterion), []).append(score)
    orders = both_orders(preferences)
    judges = [
        _check(judge, criterion, group, labels, seed)
        for (judge, criterion), group in sorted(groups.items())
    ]
    return Checked(tuple(judges), orders, tuple(review_queue(scores, orders)))


def _check(
    judge: str, criterion: str, scores: Sequence[Score], labels: Mapping[Item, float], seed: int
) -> JudgeCheck:
    known = [s for s in scores if (s.query_id, s.system, s.criterion) in labels]
    people = np.array([labels[s.query_id, s.system, s.criterion] for s in known], dtype=np.float64)
    judged = np.array([score.score for score in known], dtype=np.float64)
    return JudgeCheck(
        judge=judge,
        criterion=criterion,
        scores=len(scores),
        mean=float(np.mean([score.score for score in scores])),
        shared_with_people=len(known),
        kappa=_kappa(known, judged, people, seed),
        corrected=_corrected(scores, known, judged, people),
        length=_length(known, judged, people),
        calibration=_calibration(known, judged, people),
        family=_family(scores, known, judged, people, seed),
        own_answers=sum(score.generator == judge.split(VERSION)[0] for score in scores),
    )


def _kappa(
    known: Sequence[Score], judged: np.ndarray, people: np.ndarray, seed: int
) -> Agreement | None:
    """Weighted by distance, where all scores are whole."""
    if not known or np.any(judged % 1) or np.any(people % 1):
        return None
    items = [(score.query_id, score.system) for score in known]
    by_judge = dict(zip(items, map(int, judged), strict=True))
    by_people = dict(zip(items, map(int, people), strict=True))
    return agreement(by_judge, by_people, seed)


def _corrected(
    scores: Sequence[Score], known: Sequence[Score], judged: np.ndarray, people: np.ndarray
) -> Corrected | None:
    """By sensitivity and specificity where all scores are 0 or 1 and that can be done, else by the
    mean difference to people."""
    members = set(known)
    rest = np.array([score.score for score in scores if score not in members], dtype=np.float64)
    if np.isin(np.concatenate([rest, judged, people]), (0.0, 1.0)).all():
        rated = rogan_gladen(rest == 1, judged == 1, people == 1)
        if rated is not None:
            return rated
    return prediction_powered(rest, judged, people)


def _length(known: Sequence[Score], judged: np.ndarray, people: np.ndarray) -> LengthSlope | None:
    words = np.array([score.words for score in known], dtype=np.float64)
    if not len(words) or np.any(words < 0):
        return None
    return length_slope(judged, people, words, np.array([score.query_id for score in known]))


def _calibration(
    known: Sequence[Score], judged: np.ndarray, people: np.ndarray
) -> Calibration | None:
    sure = np.array([score.confidence for score in known], dtype=np.float64)
    given = ~np.isnan(sure)
    if not given.any():
        return None
    return calibration(sure[given], (np.abs(judged - people) <= CLOSE)[given])


def _family(
    scores: Sequence[Score],
    known: Sequence[Score],
    judged: np.ndarray,
    people: np.ndarray,
    seed: int,
) -> SelfPreference | None:
    """A judge's own answers are those of its family, the first word of both names."""
    if not known or not any(score.generator for score in scores):
        return None
    family = _family_of(known[0].judge)
    own = np.array([_family_of(score.generator) == family for score in known], dtype=bool)
    query = np.array([score.query_id for score in known])
    return self_preference(judged, people, query, np.full(len(known), family), own, seed)


def _family_of(name: str) -> str:
    """`gpt-4o` and `GPT-4` are of the family `gpt`."""
    word = name.split("/")[-1].lower()
    return word.split("-")[0].split(" ")[0].rstrip("0123456789.")


def regressions(before: Sequence[Score], after: Sequence[Score]) -> dict[str, JudgeRegression]:
    """For every criterion the new judgements of the cases that both files hold, against the old
    ones. Raises AnswersError where they share none."""
    old = {(score.query_id, score.system, score.criterion): score.score for score in before}
    new = {(score.query_id, score.system, score.criterion): score.score for score in after}
    shared = sorted(old.keys() & new.keys())
    if not shared:
        raise AnswersError("the two files judge no answer in common; expected the same cases")
    by_criterion = {}
    for criterion in sorted({criterion for *_, criterion in shared}):
        items = [item for item in shared if item[2] == criterion]
        ids = [f"{query_id} ({system})" for query_id, system, _ in items]
        was = np.array([old[item] for item in items], dtype=np.float64)
        now = np.array([new[item] for item in items], dtype=np.float64)
        by_criterion[criterion] = judge_regression(ids, was, now)
    return by_criterion
