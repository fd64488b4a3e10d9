"""Dose-response of interference as tables for the terminal."""

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from lab.evaluation.verdict import MARKS
from lab.report.screens.fitted import Column, FittedTable
from lab.sweeping.interfere import Interference, resistance

if TYPE_CHECKING:
    import pandas as pd

ROWS = 20


def interference_screen(found: Interference, metric: str) -> RenderableType:
    """One table a kind of distractor: the metric at every dose, and the change at the largest with
    its interval."""
    table = found.table()
    ranked, parts = resistance(table, metric), list[RenderableType]()
    for kind in dict.fromkeys(ranked["kind"]):
        parts += [
            _dose_response(
                table[(table["kind"] == kind) & (table["metric"] == metric)],
                ranked[ranked["kind"] == kind],
            )
        ]
    shown = set(ranked["verdict"])
    foot = (
        "most resistant first; change at the largest dose, 95% interval over the same questions, "
        + ", ".join(f"{MARKS[verdict]} {verdict}" for verdict in MARKS if verdict in shown)
    )
    return Group(*parts, Text(f"{metric}; {foot}", "dim"))


def _dose_response(rows: "pd.DataFrame", ranked: "pd.DataFrame") -> RenderableType:
    doses = sorted(set(rows["dose"]))
    injected = rows.groupby("dose")["injected"].first()
    values = rows.set_index(["system", "dose"])["mean"]
    figures = (*map(str, doses), "change")
    table = FittedTable([Column("system at dose", "name"), *map(Column, figures)])
    for row in ranked.head(ROWS).itertuples():
        means = [f"{values[row.system, dose]:.3f}" for dose in doses]
        change = f"{MARKS[row.verdict]} {row.change:+.3f} [{row.low:+.3f}, {row.high:+.3f}]"
        table.add(str(row.system), *means, change)
    told = f"({injected.max()} injected documents at the largest dose)"
    head = Text(f"\n{ranked['kind'].iloc[0]} ", "bold").append(told, "not bold")
    return Group(head, table)
