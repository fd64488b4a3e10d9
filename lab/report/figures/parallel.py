"""All settings at once: every system as a line through its settings to its score."""

from typing import TYPE_CHECKING

import numpy as np

from lab.report.figures.ink import INKS
from lab.report.figures.panel import Marks, Panel, legend
from lab.report.figures.plot import Plot
from lab.report.figures.systems import MODES
from lab.runs.labels import NOTHING
from lab.runs.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def parallel(run: Run) -> Plot | None:
    """Every system as a line through its settings to its score; where three settings or more
    vary."""
    shown = run.tables.shown.replace(NOTHING, "none")
    if shown.shape[1] < 2 or len(run.systems) < 6:
        return None
    metric, columns = run.tables.select_by, list(shown.columns)
    values = run.tables.systems[metric].to_numpy(float)
    levels = [list(dict.fromkeys(sorted(shown[name], key=_natural))) for name in columns]
    low, high = float(values.min()), float(values.max())

    def height(place: int, value: str) -> float:
        return (levels[place].index(value) + 0.5) / len(levels[place])

    def draw(axes: "Axes", marks: Marks) -> None:
        for number in np.argsort(values, kind="stable"):
            system = run.systems[number]
            row = run.tables.systems.iloc[number]
            heights = [height(i, shown.iloc[number, i]) for i in range(len(columns))]
            heights.append((values[number] - low) / (high - low) if high > low else 0.5)
            recommended = system == run.recommended
            (line,) = axes.plot(
                heights,
                color=INKS[row["mode"]],
                linewidth=3 if recommended else 0.9,
                alpha=1 if recommended else 0.45,
            )
            marks.tell(line, f"{run.labels[system]}: {metric} {values[number]:.3f}", f"s={system}")
        for place, names in enumerate(levels):
            for name in names:
                axes.text(
                    place,
                    height(place, name),
                    f" {name}",
                    fontsize=8,
                    va="center",
                    bbox={"facecolor": INKS["card"], "alpha": 0.75, "linewidth": 0, "pad": 0.8},
                )
        for share in (0, 0.5, 1):
            axes.text(len(columns) + 0.03, share, f"{low + share * (high - low):.3f}", va="center")
        axes.set_xticks(range(len(columns) + 1), [*columns, metric])
        axes.set_xlim(-0.1, len(columns) + 0.35)
        axes.set_yticks([])
        axes.spines[:].set_visible(False)
        for mode in MODES:
            if (run.tables.systems["mode"] == mode).any():
                axes.plot([], [], color=INKS[mode], label=mode)
        legend(axes)

    table = shown.assign(system=list(run.systems), **{metric: values})
    return Plot(
        "parallel",
        "All settings at once",
        "Each line is a system, from its settings to its score; the thick one is recommended. "
        "Values whose lines end high together are good whatever else is set.",
        [Panel("", draw, 8.6, 4.0)],
        table,
    )


def _natural(text: str) -> tuple[str, float, str]:
    """Sorts `fixed-200` before `fixed-1000`."""
    head = text.rstrip("0123456789.")
    tail = text[len(head) :].strip(".")
    return head, float(tail) if tail.replace(".", "", 1).isdigit() else -1.0, text
