"""Scores of the chosen systems by slices of the questions."""

from typing import TYPE_CHECKING, Any

from lab.errors import counted
from lab.report.chosen import chosen_systems, looks
from lab.report.figures.panel import Marks, Panel, ends, legend, shortened
from lab.report.figures.plot import Plot
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def kinds(run: Run) -> Plot | None:
    """The selecting metric by kind of question for the chosen systems, with intervals."""
    if not run.several_kinds:
        return None
    metric, systems = run.tables.select_by, chosen_systems(run)
    table = run.slices("kind", systems).rename(
        columns={f"{metric}_low": "low", f"{metric}_high": "high"}
    )[["system", "kind", "questions", metric, "low", "high"]]
    table.insert(1, "label", table["system"].map(run.labels))
    return Plot(
        "kinds",
        "By kind of question",
        f"Mean {metric} of {counted(len(systems), 'system')} with 95% intervals; the number of "
        "questions in brackets.",
        [Panel("", lambda axes, marks: by_slice(run, axes, marks, table, "kind"), 7.2, 3.6)],
        table,
    )


def by_slice(run: Run, axes: "Axes", marks: Marks, table: "pd.DataFrame", by: str) -> None:
    """Dots with intervals, side by side for every slice, a look a system; `table` has the columns
    system, questions, the selecting metric, low and high."""
    metric, styles = run.tables.select_by, looks(run)
    slices = list(dict.fromkeys(table[by].astype(str)))
    systems = [name for name in styles if name in set(table["system"])]
    counts = table.groupby(table[by].astype(str))["questions"].max()
    for place, system in enumerate(systems):
        shift = (place - (len(systems) - 1) / 2) * 0.72 / max(len(systems), 1)
        for row in table[table["system"] == system].itertuples():
            name, value = str(getattr(row, by)), run_value(row, table, metric)
            dot, _, _ = axes.errorbar(
                slices.index(name) + shift,
                value,
                yerr=ends(value, row.low, row.high),
                fmt=styles[system].marker,
                color=styles[system].colour,
                elinewidth=1,
            )
            words = f"{run.labels[system]}, {name}: {metric} {value:.3f}"
            words += f" [{row.low:.3f}, {row.high:.3f}]"
            marks.tell(dot, words, f"kind={name}&s={system}" if by == "kind" else f"s={system}")
        look = styles[system]
        axes.plot([], [], look.marker, color=look.colour, label=shortened(run.labels[system]))
    names = [f"{shortened(name)} ({counts[name]})" for name in slices]
    axes.set_xticks(range(len(slices)), names, rotation=20 if len(slices) > 4 else 0)
    axes.set_xlim(-0.5, len(slices) - 0.5)
    axes.set_ylim(0, 1.04)
    axes.grid(visible=False, axis="x")
    axes.set_ylabel(metric)
    legend(axes)


def run_value(row: Any, table: "pd.DataFrame", metric: str) -> float:
    """A metric of a row whose name is no Python name."""
    return float(table.at[row.Index, metric])
