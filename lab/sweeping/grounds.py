"""The grounds of a choice in plain values: what may be said of every system against the best, why
the recommended one was taken, and what it would take to know more."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, get_args

from lab.evaluation.power import FEWEST_UNITS, planned, typical_standard_error, units_needed
from lab.evaluation.selection import Selection
from lab.evaluation.verdict import NOT_COMPARABLE, Verdict

# A difference that most would call worth having.
TENTH = 0.1


def grounds(chosen: Selection, systems: Sequence[str]) -> dict[str, Any]:
    """`verdicts` counts what may be said of the other systems that are compared; `tied` names those
    with the mean of the best; `cheaper` gives each cost in which the recommended one lies below the
    best, its own and the best's; `units_needed` how many units it takes at least, and for a planned
    difference of 0.1."""
    counts = Counter(
        verdict for place, verdict in enumerate(chosen.verdicts) if place != chosen.best
    )
    units = len(chosen.clusters)
    cuts = None if chosen.phases is None else chosen.phases.gap_errors(chosen.best)
    error = typical_standard_error(chosen.scores, chosen.best, chosen.clusters, cuts)
    return {
        "verdicts": {
            verdict: counts[verdict] for verdict in get_args(Verdict) if verdict != NOT_COMPARABLE
        },
        "tied": [systems[place] for place in chosen.tied],
        "cheaper": {cost: list(values) for cost, values in chosen.cheaper.items()},
        "units_needed": {
            "least": FEWEST_UNITS,
            "tenth": units_needed(TENTH, error, units, planned(units)),
        },
        "runner_up": _runner_up(chosen, systems),
    }


def _runner_up(chosen: Selection, systems: Sequence[str]) -> dict[str, Any] | None:
    second = chosen.runner_up
    if second is None:
        return None
    means, needed = chosen.scores.mean(axis=0), chosen.units_needed(second)
    return {
        "system": systems[second],
        "gap": means[chosen.best] - means[second],
        "p": chosen.p[second],
        "least_p": chosen.against.tested.least[second],
        "verdict": chosen.verdicts[second],
        "units_needed": needed,
        "questions_needed": None if needed is None else chosen.questions(needed),
    }
