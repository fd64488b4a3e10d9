"""Maps of cells: scores over two settings, and what lost the evidence of every kind."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lab.diagnosis.causes import CAUSES
from lab.evaluation.metrics import is_cost
from lab.evaluation.verdict import chosen_among, legend, mark
from lab.report.figures.cells import Cells, map_cells
from lab.report.figures.ink import SHADES, on_shade
from lab.report.figures.panel import Marks, Panel, shortened
from lab.report.figures.plot import Plot
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.patches import Rectangle

# Standard errors behind the best at which a cell becomes one shade lighter.
ERRORS = (0.5, 1.0, 2.0, 3.0)


def heatmap(run: Run) -> Plot | None:
    """One map a metric through the best system: the darker, the fewer standard errors behind the
    metric's best."""
    import pandas as pd

    cells = map_cells(run)
    if cells is None:
        return None
    panels, tables = [], []
    for metric in run.metrics:
        verdicts = run.verdicts(metric)
        behind = _errors_behind(run, metric)
        values = run.tables.systems.set_index("system")[metric]
        table = pd.DataFrame(
            {
                "metric": metric,
                "system": cells.names,
                cells.axes[0] or "row": cells.rows,
                cells.axes[1]: cells.columns,
                "value": [float(values[name]) for name in cells.names],
                "standard_errors_behind": [behind[name] for name in cells.names],
                "against_best": [verdicts[name] for name in cells.names],
            }
        )
        tables.append(table)
        panels.append(_score_panel(run, metric, cells, table))
    held = f", with {cells.held} held" if cells.held else ""
    return Plot(
        "heatmap",
        " and ".join(filter(None, [cells.axes[1], cells.axes[0]])).capitalize(),
        f"Means of each metric{held}. The darker a cell, the nearer to the metric's best system: "
        f"by less than {ERRORS[0]:g}, {ERRORS[1]:g}, {ERRORS[2]:g}, {ERRORS[3]:g} standard errors "
        f"of the difference, or more. Cells with a mark are not told from it, "
        f"{chosen_among(len(run.compared))}: {legend(run.tables.systems['verdict'])}.",
        panels,
        pd.concat(tables, ignore_index=True),
        columns=min(3, len(panels)),
    )


def _errors_behind(run: Run, metric: str) -> dict[str, float]:
    """By how many standard errors of the paired difference every system lies behind the metric's
    best; questions about one document count as one unit."""
    scores = np.nan_to_num(run.tables.column(metric))
    sign = -1.0 if is_cost(metric) else 1.0
    differences = sign * (scores[:, [run.tables.place(run.best_by(metric))]] - scores)
    means = differences.mean(axis=0)
    clusters = run.tables.clusters
    residuals = clusters.sums(differences) - clusters.sizes[:, None] * means
    units = len(residuals)
    if units < 2:
        return dict.fromkeys(run.systems, 0.0)
    errors = np.sqrt((residuals**2).sum(axis=0) * units / (units - 1)) / len(scores)
    behind = np.divide(means, errors, out=np.where(means > 0, np.inf, 0.0), where=errors > 0)
    return dict(zip(run.systems, map(float, np.maximum(behind, 0.0)), strict=True))


def _score_panel(run: Run, metric: str, cells: Cells, table: "pd.DataFrame") -> Panel:
    def draw(axes: "Axes", marks: Marks) -> None:
        for row in table.itertuples():
            name, value = row.system, row.value
            step = 4 - int(np.searchsorted(ERRORS, row.standard_errors_behind, side="right"))
            figure = f"{value:.3f}".removeprefix("0") if abs(value) < 10 else f"{value:.0f}"
            place = cells.column_order.index(row[4]), cells.row_order.index(row[3])
            cell = _cell(axes, place, step, f"{figure}{mark(row.against_best)}")
            words = f"{run.labels[name]}: {metric} {value:.3f}, {row.against_best}"
            marks.tell(cell, words, f"s={name}")
        _named_axes(axes, cells.column_order, cells.row_order)

    width = 1.6 + 0.52 * len(cells.column_order)
    return Panel(metric, draw, max(width, 3.2), 1.0 + 0.36 * len(cells.row_order))


def _cell(axes: "Axes", place: tuple[int, int], step: int, text: str) -> "Rectangle":
    """One cell of a map with its text."""
    from matplotlib.patches import Rectangle

    x, y = place
    cell = Rectangle((x - 0.47, y - 0.46), 0.94, 0.92, facecolor=SHADES[step], linewidth=0)
    axes.add_patch(cell)
    axes.text(x, y, text, ha="center", va="center", color=on_shade(step), fontsize=8.5)
    return cell


def _named_axes(axes: "Axes", columns: Sequence[str], rows: Sequence[str]) -> None:
    axes.set_xlim(-0.55, len(columns) - 0.45)
    axes.set_ylim(len(rows) - 0.45, -0.55)
    axes.set_xticks(
        range(len(columns)),
        [*map(shortened, columns)],
        rotation=45,
        ha="right",
        rotation_mode="anchor",
    )
    axes.set_yticks(range(len(rows)), [*map(shortened, rows)])
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


def kinds_and_causes(run: Run, system: str) -> Plot | None:
    """What loses the evidence of every kind of question under one system: pieces by cause."""
    missed = run.tables.rows("causes", system)
    if missed.empty:
        return None
    counted = (
        missed.astype({"kind": str, "cause": str})
        .groupby(["kind", "cause"], sort=True)
        .agg(pieces=("piece", "size"), verified=("verified", "sum"))
        .reset_index()
    )
    causes = [cause for cause in CAUSES if cause in set(counted["cause"])]
    kinds = sorted(set(counted["kind"]))
    most = int(counted["pieces"].max())

    def draw(axes: "Axes", marks: Marks) -> None:
        for row in counted.itertuples():
            step = min(4, int(4 * np.sqrt(row.pieces / most)))
            place = causes.index(row.cause), kinds.index(row.kind)
            cell = _cell(axes, place, step, str(row.pieces))
            why = f"{row.pieces} lost by {row.cause} ({CAUSES[row.cause].meaning})"
            words = f"{row.kind}: {why}, {row.verified} verified"
            marks.tell(cell, words, f"kind={row.kind}&cause={row.cause}")
        _named_axes(axes, causes, kinds)

    return Plot(
        "kinds-causes",
        "What loses which kind",
        f"Pieces of evidence that {run.labels[system]} misses within {run.tables.k}, by kind of "
        "question (rows) and what lost them (columns).",
        [Panel("", draw, max(2.4 + 0.7 * len(causes), 4.0), 1.2 + 0.36 * len(kinds))],
        counted,
    )
