"""Plot of interference: a metric at every dose of every kind of distractor, for the systems of the
report."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lab.report.page.plot import COLOURS, Plot, axis, blank, plain, side_by_side

if TYPE_CHECKING:
    import pandas as pd

# File in a run folder that `lab interfere FILE --into RUN` writes: the rows of
# `Interference.table`.
NAME = "interference.csv"


def read_doses(run: Path) -> "pd.DataFrame | None":
    """What `lab interfere --into` measured for a run, None if nothing."""
    import pandas as pd

    return pd.read_csv(run / NAME) if (run / NAME).is_file() else None


def with_earlier(earlier: "pd.DataFrame | None", table: "pd.DataFrame") -> "pd.DataFrame":
    """The rows of a measurement after those that a run has of other kinds."""
    import pandas as pd

    return (
        table
        if earlier is None
        else pd.concat([earlier[~earlier["kind"].isin(table["kind"])], table], ignore_index=True)
    )


def dose_plot(
    table: "pd.DataFrame", metric: str, systems: Sequence[str], short: dict[str, str]
) -> Plot:
    """One map a kind of distractor: the metric over the dose, with the 95% interval of its change
    against dose 0."""
    rows = table[table["metric"] == metric]
    kinds = list(dict.fromkeys(rows["kind"]))
    shown = [system for system in systems if system in set(rows["system"])] or list(
        dict.fromkeys(rows["system"])
    )[: len(COLOURS)]
    figure = blank(
        margin={"l": 60, "r": 20, "t": 70, "b": 50},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.12, "x": 0},
    )
    for kind, number in zip(
        kinds, side_by_side(figure, kinds, axis("distractors a question"), axis()), strict=True
    ):
        for colour, system in zip(COLOURS, shown, strict=False):
            part = rows[(rows["kind"] == kind) & (rows["system"] == system)].sort_values("dose")
            above, below = (
                (part["high"] - part["change"]).tolist(),
                (part["change"] - part["low"]).tolist(),
            )
            name = plain(short.get(system, system))
            figure.add(
                "scatter",
                x=part["dose"].tolist(),
                y=part["mean"].tolist(),
                name=name,
                legendgroup=name,
                showlegend=number == "",
                mode="lines+markers",
                line={"color": colour},
                xaxis=f"x{number}",
                yaxis=f"y{number}",
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": above,
                    "arrayminus": below,
                    "thickness": 1,
                },
                hovertemplate="dose %{x}: %{y:.3f}<extra>" + name + "</extra>",
            )
    return Plot(
        "interference",
        "What distractors cost",
        f"{metric} when documents that look alike are added to the corpus, so many a question. "
        "Bars are the 95% interval of the "
        "change against the corpus as it is, over the same questions: a flat line resists.",
        figure,
        table.reset_index(drop=True),
    )
