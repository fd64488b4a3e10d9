"""What distractors cost: a metric at every dose of every kind of distractor."""

from pathlib import Path
from typing import TYPE_CHECKING

from lab.report.chosen import looks
from lab.report.figures.panel import Marks, Panel, legend, shortened
from lab.report.figures.plot import Plot
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

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


def doses(run: Run, table: "pd.DataFrame") -> Plot | None:
    """A panel a kind of distractor: the selecting metric over the dose, with the 95% interval of
    its change against dose 0, for the chosen systems that were measured."""
    metric, styles = run.tables.select_by, looks(run)
    rows = table[(table["metric"] == metric) & table["system"].isin(styles)]
    if rows.empty:
        return None
    kinds = list(dict.fromkeys(rows["kind"]))

    def panel(kind: str) -> Panel:
        def draw(axes: "Axes", marks: Marks) -> None:
            for system, look in styles.items():
                part = rows[(rows["kind"] == kind) & (rows["system"] == system)].sort_values("dose")
                if part.empty:
                    continue
                above, below = part["high"] - part["change"], part["change"] - part["low"]
                line, _, _ = axes.errorbar(
                    part["dose"],
                    part["mean"],
                    yerr=[below.clip(lower=0), above.clip(lower=0)],
                    elinewidth=1,
                    label=shortened(run.labels[system]),
                    **look.line,
                )
                marks.tell(line, run.labels[system], f"s={system}")
            axes.set_xlabel("distractors a question")
            axes.set_ylabel(metric)
            legend(axes)

        return Panel(str(kind), draw, 5.2, 3.4)

    return Plot(
        "interference",
        "What distractors cost",
        f"{metric} when documents that look alike are added to the corpus, so many a question. "
        "Bars are the 95% interval of the change against the corpus as it is, over the same "
        "questions: a flat line resists.",
        [panel(kind) for kind in kinds],
        table.reset_index(drop=True),
        columns=min(2, len(kinds)),
    )
