"""`lab metrics` on the terminal and as a record: which metrics say the same, and risk."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.evaluation.redundancy import SAME
from lab.evaluation.risk import ALPHA, HURT
from lab.report.screens.fitted import Column, FittedTable
from lab.runs.metrics import MetricStudy

ROWS = 24


def metrics_screen(found: MetricStudy, short: Mapping[str, str]) -> RenderableType:
    """Every metric with what it tells apart and which other says the same; then the systems with
    the questions that they hurt."""
    same = found.same
    power = FittedTable(
        (
            Column("metric", "name"),
            Column("tells apart"),
            Column("says the same as", "word"),
            Column("tau"),
        )
    )
    for place, metric in enumerate(same.metrics):
        other = same.same_as[place]
        tau = same.tau[place][same.metrics.index(other)]
        kept = other == metric
        power.add(
            metric,
            f"{same.power[place]:.1%}",
            "" if kept else other,
            "" if kept or tau is None else f"{tau:.3f}",
        )
    figures = (found.select_by, "hurt", "helped", "GeoRisk")
    risks = FittedTable([Column("system", "name"), *map(Column, figures)])
    for risk in found.risks[:ROWS]:
        mark = " (baseline)" if risk.system == found.baseline else ""
        risks.add(
            short[risk.system] + mark,
            f"{risk.mean:.3f}",
            str(risk.hurt),
            str(risk.helped),
            f"{risk.georisk:.3f}",
        )
    more = len(found.risks) - ROWS
    return Group(
        Text("\nmetrics, and the share of all pairs of systems that each tells apart", "bold"),
        power,
        Text(
            f"the same: the order of systems agrees by Kendall's tau of {SAME} or more with a "
            "metric that tells more apart",
            style="dim",
        ),
        Text(
            f"\n{found.select_by} over {found.questions} questions, and what its mean hides", "bold"
        ),
        risks,
        Text(
            f"hurt, helped: questions that lose or win {HURT} or more against the baseline; "
            f"GeoRisk counts a loss {1 + ALPHA:g} times"
            + (f"; {more} more systems with --json" if more > 0 else ""),
            style="dim",
        ),
    )


def metrics_record(found: MetricStudy) -> dict[str, Any]:
    """The same for machines, with tau and the shares of pairs for every two metrics."""
    same = found.same
    return {
        "select_by": found.select_by,
        "baseline": found.baseline,
        "questions": found.questions,
        "metrics": [
            {"metric": metric, "power": float(same.power[place]), "same_as": same.same_as[place]}
            for place, metric in enumerate(same.metrics)
        ],
        "pairs": [
            {
                "a": a,
                "b": b,
                "tau": same.tau[first][second],
                "both": float(same.both[first, second]),
                "contrary": float(same.contrary[first, second]),
            }
            for first, a in enumerate(same.metrics)
            for second, b in enumerate(same.metrics)
            if first < second
        ],
        "systems": [asdict(risk) for risk in found.risks],
    }
