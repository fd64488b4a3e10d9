"""Alpha as a plot: every metric as an exact step curve, by kind of question, with the best alphas
of each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.diagnosis.alpha.summary import NEAR_BEST
from lab.report.page.diagnosis_plots import EVERY_KIND
from lab.report.page.plot import COLOURS, GREY, Plot, axis, blank, numbers, plain
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd

# Height of a panel in pixels.
PANEL = 230
SHADE = "rgba(0,114,178,0.11)"


def family_of(run: Run, system: str) -> str | None:
    """The family of a system, those that differ in alpha alone; the first of the run for a system
    without one, None without any."""
    families = [str(name) for name in run.tables.alphas["family"].unique()]
    own = run.tables.systems["family"].iloc[run.tables.place(system)]
    return own if own in families else next(iter(families), None)


def alpha_plot(run: Run, family: str) -> Plot:
    """Every metric over ranks for the systems that differ in alpha alone: a panel a metric, the
    selecting one first, a line a kind of question; over all questions the best alphas are shaded,
    lighter what does about as well, and dots are at the oracle's height."""
    table, means = (
        rows[rows["family"] == family].drop(columns="family")
        for rows in (run.tables.alphas, run.tables.means)
    )
    metrics = sorted(
        table["metric"].unique(), key=lambda name: name != run.manifest["conclusions"]["select_by"]
    )
    kinds = table["slice"].unique().tolist()
    figure, shapes = (
        blank(height=90 + PANEL * len(metrics), **_axes(metrics)),
        list[dict[str, Any]](),
    )
    for metric, panel in zip(metrics, numbers(len(metrics)), strict=True):
        for colour, kind in zip(
            [GREY, *COLOURS], kinds if len(kinds) > 2 else kinds[:1], strict=False
        ):
            steps = means[(means["metric"] == metric) & (means["slice"] == kind)]
            figure.add(
                "scatter",
                x=steps[["low", "high"]].to_numpy().reshape(-1).tolist(),
                y=np.repeat(steps["value"].to_numpy(), 2).tolist(),
                mode="lines",
                name=EVERY_KIND if kind == kinds[0] else plain(kind),
                legendgroup=kind,
                showlegend=panel == "",
                line={"color": colour, "width": 3 if kind == kinds[0] else 1.5},
                hovertemplate="alpha %{x:.4f}: %{y:.3f}",
                xaxis=f"x{panel}",
                yaxis=f"y{panel}",
            )
        every = _of(table, metric)
        place = {
            "xref": f"x{panel}",
            "yref": f"y{panel} domain",
            "line": {"width": 0},
            "layer": "below",
        }
        for low, high in ((every.near_low, every.near_high), (every.low, every.high)):
            shapes.append(
                {
                    "type": "rect",
                    "x0": low,
                    "x1": high,
                    "y0": 0,
                    "y1": 1,
                    "fillcolor": SHADE,
                    **place,
                }
            )
        dots = {"color": GREY, "dash": "dot", "width": 1.5}
        shapes.append(
            {"type": "line", "x0": 0, "x1": 1, "y0": every.oracle, "y1": every.oracle, "line": dots}
        )
        shapes[-1] |= {"xref": f"x{panel}", "yref": f"y{panel}"}
    figure.layout["shapes"] = shapes
    return Plot("alpha", "Alpha, exactly", _says(table, metrics, family), figure, table)


def _axes(metrics: Sequence[str]) -> dict[str, Any]:
    """The axes of panels one below another; alpha is named beneath the last."""
    axes, room = dict[str, Any](), 1 / len(metrics)
    for place, (metric, panel) in enumerate(zip(metrics, numbers(len(metrics)), strict=True)):
        top, last = 1 - place * room, place == len(metrics) - 1
        name = "alpha, the weight of the dense leg" if last else ""
        axes[f"xaxis{panel}"] = axis(name, anchor=f"y{panel}", range=[-0.01, 1.01])
        axes[f"yaxis{panel}"] = axis(
            metric, anchor=f"x{panel}", domain=[top - room * (1 if last else 0.88), top]
        )
    return axes


def _of(table: "pd.DataFrame", metric: str) -> Any:
    """The row of all questions."""
    return next(table[table["metric"] == metric].itertuples())


def _says(table: "pd.DataFrame", metrics: Sequence[str], family: str) -> str:
    every = _of(table, metrics[0])
    others = table[(table["metric"] == metrics[0]) & (table["slice"] != every.slice)]
    worst = None if len(others) < 2 else others.loc[others["regret"].idxmax()]
    regret = (
        f" One alpha for all costs {worst['slice']} most: {worst['regret']:.3f} less than at its "
        "own best, "
        f"{worst['low']:.3f} to {worst['high']:.3f}."
        if worst is not None and worst["regret"] > 0
        else ""
    )
    return (
        f"Before any reranker, for {family}: the steps are where two chunks change places, none is "
        f"sampled. {metrics[0]} is best "
        f"from {every.low:.3f} to {every.high:.3f} (shaded), {every.value:.3f}, and at most "
        f"{NEAR_BEST} lower from "
        f"{every.near_low:.3f} to {every.near_high:.3f}; with the best alpha of every question it "
        f"would be {every.oracle:.3f} "
        f"(dots).{regret} By recall {every.robust} questions are robust, {every.fragile} fragile, "
        f"{every.hopeless} hopeless at any alpha."
    )
