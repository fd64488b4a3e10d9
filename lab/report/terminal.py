"""The first screen of a run in the terminal: what is best, how sure, and the table of all systems."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import pandas as pd

    from lab.experiment.result import Result

ROWS = 24


def first_screen(result: "Result") -> RenderableType:
    """The verdict, the table of systems by the selecting metric, and the table by kind for the best one and the baselines."""
    table = result.table()
    chosen = result.measure.select_by
    ranked = table.sort_values(chosen, ascending=False, kind="stable")
    parts: list[RenderableType] = [_verdict(result, ranked), systems_table(ranked, result.metrics, chosen)]
    slices = result.slices("kind")
    if slices["kind"].nunique() > 1:
        parts.append(kinds_table(slices, _representatives(ranked), result.metrics))
    return Group(*parts, Text(_footer(result)))


def _verdict(result: "Result", ranked: "pd.DataFrame") -> Text:
    chosen, best, tied = result.measure.select_by, ranked.iloc[0], int(ranked["as good as best"].sum()) - 1
    unit = "pieces of evidence" if result.pieces.unit == "evidence" else "documents"
    text = Text()
    text.append(f"\n{result.name}: {len(ranked)} systems, {len(result.pieces.queries)} questions, judged by {unit}\n", "bold")
    text.append(
        f"Highest {chosen}: {best['system']}  {best[chosen]:.3f} [{best[f'{chosen} low']:.3f}, {best[f'{chosen} high']:.3f}]\n"
    )
    if tied:
        text.append(f"{tied} other system(s) cannot be told from it with these questions (paired permutation, Holm, 5%).\n")
    elif len(ranked) > 1:
        text.append("Every other system is worse beyond chance (paired permutation, Holm, 5%).\n")
    if len(ranked) > 1:
        text.append(
            "Chosen on the questions it is scored on, so its score is flattered; test it on fresh questions before quoting it.\n"
        )
    return text


def systems_table(ranked: "pd.DataFrame", metrics: Sequence[str], chosen: str) -> Table:
    """One row a system, best first; `=` marks those that cannot be told from the best."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("system", overflow="fold")
    for metric in metrics:
        table.add_column(metric, justify="right", no_wrap=True)
    table.add_column("95% interval", justify="right", no_wrap=True)
    table.add_column("=best", no_wrap=True)
    for _, row in ranked.head(ROWS).iterrows():
        interval = f"{row[f'{chosen} low']:.3f}-{row[f'{chosen} high']:.3f}"
        values = [_number(row[metric]) for metric in metrics]
        table.add_row(Text(str(row["system"])), *values, interval, "=" if row["as good as best"] else "")
    if len(ranked) > ROWS:
        table.caption = f"{len(ranked) - ROWS} more systems in systems.parquet"
    return table


def kinds_table(slices: "pd.DataFrame", systems: Sequence[str], metrics: Sequence[str]) -> Table:
    """For every kind of question the given systems beside each other."""
    table = Table(box=None, pad_edge=False, header_style="bold", title="by kind of question", title_justify="left")
    table.add_column("kind")
    table.add_column("n", justify="right")
    table.add_column("system", overflow="fold")
    for metric in metrics:
        table.add_column(metric, justify="right", no_wrap=True)
    for kind, rows in slices.groupby("kind", sort=True):
        for system in systems:
            row = rows[rows["system"] == system].iloc[0]
            first = system == systems[0]
            values = [_number(row[metric]) for metric in metrics]
            table.add_row(Text(str(kind)) if first else "", str(row["questions"]) if first else "", Text(system), *values)
    return table


def _representatives(ranked: "pd.DataFrame") -> list[str]:
    """The best system, then the best of each mode that is not it."""
    return [str(rows.iloc[0]["system"]) for _, rows in ranked.groupby("mode", sort=False)]


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"


def _footer(result: "Result") -> str:
    counts = result.counts
    lines = [
        f"{what}: {counts.get(f'{what} computed', 0)} computed, {counts.get(f'{what} cached', 0)} from the cache"
        for what in ("texts", "pairs")
        if counts.get(f"{what} computed", 0) + counts.get(f"{what} cached", 0)
    ]
    gains = "linear gain" if any(m.startswith("ndcg@") for m in result.metrics) else "gain 2^grade - 1"
    if any(m.startswith("ndcg") for m in result.metrics):
        lines.append(f"ndcg: {gains}")
    return "\n" + "; ".join(lines)
