"""The table of systems on the page: settings, scores, and how far each lies behind the best."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lab.report.chosen import chosen_systems
from lab.report.figures.plot import Plot
from lab.runs.run import Run

# Difference -> its place on the axis of the table, from 0 to 1.
EDGE = 0.02


@dataclass(frozen=True, slots=True)
class Behind:
    """The difference of a system to the best with its 95% interval, and all three as places on the
    axis of the table, in percent; `zero` is where no difference is."""

    difference: float
    low: float
    high: float
    at: float
    from_: float
    to: float
    zero: float


@dataclass(frozen=True, eq=False)
class SystemRow:
    """One line: the settings that vary, the row of the run's table, and the difference to the best
    (None for the best itself, and where one system is all there is)."""

    settings: Sequence[str]
    system: dict[str, Any]
    behind: Behind | None


def system_rows(run: Run, forest: Plot | None) -> list[SystemRow]:
    """All systems, the best by the selecting metric first; `forest` is the plot whose table has the
    differences."""
    shown = run.tables.shown
    behind: dict[str, Behind] = {}
    if forest is not None:
        table = forest.table
        low, high = min(0.0, float(table["low"].min())), max(0.0, float(table["high"].max()))
        width = (high - low) or 1.0

        def place(value: float) -> float:
            return 100 * (EDGE + (1 - 2 * EDGE) * (value - low) / width)

        behind = {
            row.system: Behind(
                row.difference,
                row.low,
                row.high,
                at=place(row.difference),
                from_=place(row.low),
                to=place(row.high),
                zero=place(0.0),
            )
            for row in table.itertuples()
        }
    return [
        SystemRow(
            list(shown.loc[row["place"]]),
            row,
            behind.get(row["system"]),
        )
        for row in run.tables.ranked.assign(place=run.tables.ranked.index).to_dict("records")
    ]


def facets(run: Run) -> list[tuple[str, list[str]]]:
    """The settings by which the table is narrowed down, each with its values in their order."""
    shown = run.tables.shown
    return [(name, list(dict.fromkeys(shown[name]))) for name in shown.columns]


def pairs(run: Run) -> dict[str, list[list[float]]]:
    """Of every two chosen systems that can be compared, for every metric: mean difference (first
    minus second), the ends of its interval, and p as a planned pair; by the places of both in the
    run."""
    chosen = [name for name in chosen_systems(run) if name not in run.tables.not_comparable]
    by_places = {}
    for number, first in enumerate(chosen):
        for second in chosen[number + 1 :]:
            paired = run.paired(first, second)
            key = f"{run.systems.index(first)},{run.systems.index(second)}"
            columns = (paired.difference, paired.low, paired.high, paired.p_holm)
            by_places[key] = [list(map(float, row)) for row in zip(*columns, strict=True)]
    return by_places
