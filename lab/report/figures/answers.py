"""What answers lose to retrieval and to generation, with intervals."""

from typing import TYPE_CHECKING

from lab.report.figures.ink import INKS
from lab.report.figures.panel import Marks, Panel, ends, legend
from lab.report.figures.plot import Plot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

PARTS = (("retrieval", "loss", "o", -0.14), ("generation", "dense", "s", 0.14))


def answer_losses(table: "pd.DataFrame") -> Plot | None:
    """A panel a system: both losses of every slice of the questions; None without answers under the
    gold context. `table` are the losses that `lab answers --into` keeps."""
    if table.empty:
        return None

    def panel(system: str) -> Panel:
        rows = table[table["system"] == system].to_dict("records")

        def draw(axes: "Axes", marks: Marks) -> None:
            for place, row in enumerate(rows):
                for part, ink, marker, shift in PARTS:
                    value, low, high = row[part], row[f"{part}_low"], row[f"{part}_high"]
                    dot, _, _ = axes.errorbar(
                        value,
                        place + shift,
                        xerr=ends(value, low, high),
                        fmt=marker,
                        color=INKS[ink],
                        elinewidth=1.2,
                        label=part if place == 0 else None,
                    )
                    words = f"{row['slice']}: {value:+.3f} lost to {part} [{low:+.3f}, {high:+.3f}]"
                    marks.tell(dot, words)
            names = [f"{row['slice']} ({row['questions']}): {row['verdict']}" for row in rows]
            axes.axvline(0, color=INKS["soft"], linewidth=1)
            axes.set_yticks(range(len(rows)), names)
            axes.set_ylim(len(rows) - 0.4, -0.6)
            axes.set_xlabel("share of the score that is lost")
            legend(axes)

        return Panel(system, draw, 7.2, 1.3 + 0.36 * len(rows))

    return Plot(
        "answer-losses",
        "Lost to retrieval, lost to generation",
        "Retrieval: the score with the gold evidence minus the score with what the system "
        "delivered; generation: one minus the score with the gold evidence. 95% intervals over the "
        "same questions; the word says which loss is shown to be the larger.",
        [panel(str(system)) for system in dict.fromkeys(table["system"])],
        table.reset_index(drop=True),
    )
