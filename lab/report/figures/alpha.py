"""Alpha: every metric as an exact step curve, by kind of question, with the best alphas of each and
the systems that were measured."""

from typing import TYPE_CHECKING, Any

import numpy as np

from lab.config.rows import number_of
from lab.diagnosis.alpha.summary import NEAR_BEST
from lab.report.figures.ink import INKS, looks_of_kinds
from lab.report.figures.panel import Marks, Panel, ends, legend, shortened
from lab.report.figures.plot import Plot
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

EVERY_KIND = "all questions"
SHADE = 0.16


def family_of(run: Run, system: str) -> str | None:
    """The family of a system, those that differ in alpha alone; the first of the run for a system
    without one, None without any."""
    families = [str(name) for name in run.tables.alphas["family"].unique()]
    family = run.tables.systems["family"].iloc[run.tables.place(system)]
    return family if family in families else next(iter(families), None)


def alpha(run: Run, system: str) -> Plot | None:
    """Every metric over ranks for the systems that differ from one in alpha alone: a panel a
    metric, the selecting one first. None for a run without a hybrid system."""
    family = family_of(run, system)
    if family is None:
        return None
    table, means = (
        rows[rows["family"] == family].drop(columns="family")
        for rows in (run.tables.alphas, run.tables.means)
    )
    metrics = sorted(table["metric"].unique(), key=lambda name: name != run.tables.select_by)
    return Plot(
        "alpha",
        "Alpha, exactly",
        _says(table, metrics, family),
        [_panel(run, family, metric, table, means) for metric in metrics],
        means.reset_index(drop=True),
        columns=min(2, len(metrics)),
    )


def _panel(
    run: Run, family: str, metric: str, table: "pd.DataFrame", means: "pd.DataFrame"
) -> Panel:
    slices = table["slice"].unique().tolist()
    every = _of(table, metric)
    styles = looks_of_kinds(slices[1:])
    shown = slices if len(slices) > 2 else slices[:1]

    def draw(axes: "Axes", marks: Marks) -> None:
        for low, high in ((every.near_low, every.near_high), (every.low, every.high)):
            axes.axvspan(low, high, color=INKS["shade-4"], alpha=SHADE, linewidth=0)
        axes.axhline(every.oracle, color=INKS["soft"], linestyle=":", linewidth=1)
        for kind in shown:
            steps = means[(means["metric"] == metric) & (means["slice"] == kind)]
            whole = kind == slices[0]
            (line,) = axes.plot(
                steps[["low", "high"]].to_numpy().reshape(-1),
                np.repeat(steps["value"].to_numpy(), 2),
                color=INKS["ink"] if whole else styles[kind].colour,
                linestyle="-" if whole else styles[kind].dash,
                linewidth=2.4 if whole else 1.3,
                label=EVERY_KIND if whole else shortened(kind),
            )
            marks.tell(line, EVERY_KIND if whole else str(kind), "" if whole else f"kind={kind}")
        for row in _measured(run, family, metric):
            dot, _, _ = axes.errorbar(
                row["alpha"],
                row["mean"],
                yerr=ends(row["mean"], row["low"], row["high"]),
                fmt="o",
                color=INKS["hybrid"],
                elinewidth=1,
            )
            words = f"{run.labels[row['system']]}: {row['mean']:.3f}"
            marks.tell(dot, f"{words} [{row['low']:.3f}, {row['high']:.3f}]", f"s={row['system']}")
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel("alpha, the weight of the dense leg")
        axes.set_ylabel(metric)
        legend(axes)

    return Panel(metric, draw, 6.0, 3.6)


def _measured(run: Run, family: str, metric: str) -> list[dict[str, Any]]:
    """The systems of the family as they were measured, without a reranker and with the interval of
    their means."""
    systems = run.tables.systems
    if f"{metric}_low" not in systems:
        return []
    rows = systems[
        (systems["family"] == family)
        & systems["rerank_depth"].isna()
        & systems["alpha"].map(number_of).notna()
        & systems[f"{metric}_low"].notna()
    ]
    return [
        {
            "system": str(row["system"]),
            "alpha": float(row["alpha"]),
            "mean": float(row[metric]),
            "low": float(row[f"{metric}_low"]),
            "high": float(row[f"{metric}_high"]),
        }
        for row in rows.to_dict("records")
    ]


def _of(table: "pd.DataFrame", metric: str) -> Any:
    """The row of all questions."""
    return next(table[table["metric"] == metric].itertuples())


def _says(table: "pd.DataFrame", metrics: list[str], family: str) -> str:
    every = _of(table, metrics[0])
    others = table[(table["metric"] == metrics[0]) & (table["slice"] != every.slice)]
    worst = None if len(others) < 2 else others.loc[others["regret"].idxmax()]
    regret = (
        f" One alpha for all costs {worst['slice']} most: {worst['regret']:.3f} less than at its "
        f"own best, {worst['low']:.3f} to {worst['high']:.3f}."
        if worst is not None and worst["regret"] > 0
        else ""
    )
    return (
        f"Before any reranker, for {family}: the steps are where two chunks change places, none is "
        f"sampled; dots are the systems of the grid with 95% intervals. {metrics[0]} is best from "
        f"{every.low:.3f} to {every.high:.3f} (shaded), {every.value:.3f}, and at most {NEAR_BEST} "
        f"lower from {every.near_low:.3f} to {every.near_high:.3f}; with the best alpha of every "
        f"question it would be {every.oracle:.3f} (dotted line).{regret} By recall {every.robust} "
        f"questions are robust, {every.fragile} fragile, {every.hopeless} hopeless at any alpha."
    )
