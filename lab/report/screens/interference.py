"""Dose-response of interference as tables for the terminal."""

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lab.evaluation.verdict import MARKS
from lab.sweeping.interfere import Interference, resistance

if TYPE_CHECKING:
    import pandas as pd

ROWS = 20
SYSTEM_WIDTH = 16


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
    foot = (
        "most resistant first; change at the largest dose, 95% interval over the same questions, "
        + ", ".join(f"{arrow} {verdict}" for verdict, arrow in MARKS.items())
    )
    return Group(*parts, Text(f"{metric}; {foot}", "dim"))


def _dose_response(rows: "pd.DataFrame", ranked: "pd.DataFrame") -> RenderableType:
    doses = sorted(set(rows["dose"]))
    injected = rows.groupby("dose")["injected"].first()
    values = rows.set_index(["system", "dose"])["mean"]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("system at dose", overflow="fold", min_width=SYSTEM_WIDTH)
    for dose in doses:
        table.add_column(str(dose), justify="right", no_wrap=True)
    table.add_column("change", justify="right", no_wrap=True)
    for row in ranked.head(ROWS).itertuples():
        means = [f"{values[row.system, dose]:.3f}" for dose in doses]
        change = f"{MARKS[row.verdict]} {row.change:+.3f} [{row.low:+.3f}, {row.high:+.3f}]"
        table.add_row(Text(str(row.system)), *means, change)
    told = f"({injected.max()} injected documents at the largest dose)"
    head = Text(f"\n{ranked['kind'].iloc[0]} ", "bold").append(told, "not bold")
    return Group(head, table)
