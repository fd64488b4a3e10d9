"""What a sweep concludes, in plain values: the part of the manifest that answers "which one, and
how sure"."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.evaluation.clusters import main_documents
from lab.evaluation.intervals import RESAMPLES, mean_intervals
from lab.evaluation.power import (
    FEW_QUESTIONS,
    Look,
    detectable_difference,
    planned,
    typical_standard_error,
)
from lab.evaluation.significance import FLIPS

if TYPE_CHECKING:
    from lab.sweeping.result import Result

# Significant digits of figures in the manifest: float noise of sums and BLAS must not change its
# bytes.
DIGITS = 9


def conclusions(result: "Result") -> dict[str, Any]:
    """Choice, honest estimate, power and what they rest on."""
    chosen, systems = result.selection, result.systems
    account = chosen.nested
    means = chosen.scores.mean(axis=0)
    runner_up = _runner_up(result)
    found = {
        "select_by": result.measure.select_by,
        "unit": result.clusters.unit,
        "units": len(result.clusters),
        "documents": len(set(main_documents(result.pieces).tolist())),
        "resamples": RESAMPLES,
        "flips": FLIPS,
        "best": {
            "system": result.best,
            "mean": means[chosen.best],
            "probability": chosen.probability_best[chosen.best],
        },
        "recommended": {"system": result.recommended, "mean": means[chosen.recommended]},
        "within_one_standard_error": [systems[number] for number in chosen.within_one_error],
        "honest": {
            "apparent": account.apparent,
            "estimate": account.honest,
            "interval": honest_interval(result),
            "optimism": account.optimism,
            "folds": account.folds,
            "grouped_by": account.grouped_by,
            "picked": {
                systems[number]: account.picked[number] for number in np.flatnonzero(account.picked)
            },
        },
        "runner_up": None
        if runner_up is None
        else {
            "system": systems[runner_up],
            "gap": means[chosen.best] - means[runner_up],
            "p": chosen.p[runner_up],
            "least_p": chosen.against.tested.least[runner_up],
            "questions_needed": chosen.questions_needed(runner_up),
        },
        "detectable_difference": detectable(result),
        "few_questions": len(result.pieces.queries) < FEW_QUESTIONS,
        "sealed": None if result.sealed is None else asdict(result.sealed),
    }
    return {key: _rounded(value) for key, value in found.items()}


def honest_interval(result: "Result") -> list[float]:
    """95% interval of the cross-validated score: of the questions, not of the choice itself."""
    held_out = result.selection.nested.held_out[:, None]
    if np.isnan(held_out).all():
        return [float("nan"), float("nan")]
    low, high = mean_intervals(held_out, result.clusters, result.measure.seed)
    return [float(low[0]), float(high[0])]


def detectable(result: "Result") -> dict[str, dict[str, float]]:
    """Metric -> the true difference to the best system that is found with probability 0.8, by one
    planned comparison (`planned`) and when the best of the whole grid is looked for (`in_grid`),
    which is never the smaller."""
    against, units = result.selection.against, len(result.clusters)
    best_of_all = Look(against.critical, against.loss, len(result.systems) - 1)
    found = {}
    for metric in result.metrics:
        scores = result.column(metric)
        known = np.nan_to_num(scores)
        error = typical_standard_error(known, int(np.argmax(known.mean(axis=0))), result.clusters)
        one = detectable_difference(error, units, planned(units))
        found[metric] = {
            "planned": one,
            "in_grid": max(one, detectable_difference(error, units, best_of_all)),
        }
    return found


def _runner_up(result: "Result") -> int | None:
    """The system with the second highest mean of the selecting metric."""
    means = np.round(result.selection.scores.mean(axis=0), DIGITS)
    means[result.selection.best] = -np.inf
    return int(np.argmax(means)) if len(means) > 1 else None


def _rounded(plain: Any) -> Any:
    if isinstance(plain, dict):
        return {key: _rounded(value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [_rounded(value) for value in plain]
    if isinstance(plain, float | np.floating):
        # JSON has no NaN: what cannot be said is null.
        return float(f"{plain:.{DIGITS}g}") if np.isfinite(plain) else None
    return plain
