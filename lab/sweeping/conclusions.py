"""What a sweep concludes, in plain values: the part of the manifest that answers "which one, and
how sure"."""

from dataclasses import asdict
from typing import Any

import numpy as np

from lab.evaluation.clusters import main_documents
from lab.evaluation.intervals import RESAMPLES
from lab.evaluation.phases import intervals_over_phases
from lab.evaluation.power import (
    FEW_QUESTIONS,
    Look,
    detectable_difference,
    planned,
    typical_standard_error,
)
from lab.evaluation.significance import FLIPS
from lab.sweeping.grounds import grounds
from lab.sweeping.measured import Measured

# Significant digits of figures in the manifest: float noise of sums and BLAS must not change its
# bytes.
DIGITS = 9


def conclusions(measured: Measured) -> dict[str, Any]:
    """Choice, honest estimate, power and what they rest on."""
    chosen, systems = measured.selection, measured.contenders
    account = chosen.nested
    means = chosen.scores.mean(axis=0)
    answers = {
        "select_by": measured.plan.measure.select_by,
        "unit": measured.clusters.unit,
        "units": len(measured.clusters),
        "documents": len(set(main_documents(measured.plan.pieces).tolist())),
        "resamples": RESAMPLES,
        "flips": FLIPS,
        "best": {
            "system": systems[chosen.best],
            "mean": means[chosen.best],
            "probability": chosen.probability_best[chosen.best],
        },
        "recommended": {"system": systems[chosen.recommended], "mean": means[chosen.recommended]},
        "within_one_standard_error": [systems[number] for number in chosen.within_one_error],
        "honest": {
            "apparent": account.apparent,
            "estimate": account.honest,
            "interval": honest_interval(measured),
            "optimism": account.optimism,
            "folds": account.folds,
            "grouped_by": account.grouped_by,
            "picked": {
                systems[number]: account.picked[number] for number in np.flatnonzero(account.picked)
            },
        },
        **grounds(chosen, systems),
        "detectable_difference": detectable(measured),
        "not_comparable": {
            system: reason
            for system, reason in zip(measured.systems, measured.incomparable, strict=True)
            if reason is not None
        },
        "few_questions": len(measured.plan.pieces.queries) < FEW_QUESTIONS,
        "sealed": None if measured.sealed is None else asdict(measured.sealed),
    }
    return {key: _rounded(value) for key, value in answers.items()}


def honest_interval(measured: Measured) -> list[float]:
    """95% interval of the cross-validated score: of the questions and of the best
    system's cuts, not of the choice itself."""
    held_out = measured.selection.nested.held_out[:, None]
    if np.isnan(held_out).all():
        return [float("nan"), float("nan")]
    phases = measured.phases(measured.plan.measure.select_by)
    means = None if phases is None else phases.means[:, [measured.selection.best]]
    low, high = intervals_over_phases(
        held_out, measured.clusters, measured.plan.measure.seed, means
    )
    return [float(low[0]), float(high[0])]


def detectable(measured: Measured) -> dict[str, dict[str, float]]:
    """Metric -> the true difference to the best system that is found with probability 0.8, by one
    planned comparison (`planned`) and when the best of the whole grid is looked for (`in_grid`),
    which is never the smaller."""
    against, units = measured.selection.against, len(measured.clusters)
    best_of_all = Look(against.critical, against.loss, len(measured.contenders) - 1)
    differences = {}
    for metric in measured.metrics:
        scores = measured.compared_column(metric)
        known = np.nan_to_num(scores)
        best, phases = int(np.argmax(known.mean(axis=0))), measured.phases(metric)
        cuts = None if phases is None else phases.gap_errors(best)
        error = typical_standard_error(known, best, measured.clusters, cuts)
        in_one_look = detectable_difference(error, units, planned(units))
        differences[metric] = {
            "planned": in_one_look,
            "in_grid": max(in_one_look, detectable_difference(error, units, best_of_all)),
        }
    return differences


def _rounded(plain: Any) -> Any:
    if isinstance(plain, dict):
        return {key: _rounded(value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [_rounded(value) for value in plain]
    if isinstance(plain, float | np.floating):
        # JSON has no NaN: what cannot be said is null.
        return float(f"{plain:.{DIGITS}g}") if np.isfinite(plain) else None
    return plain
