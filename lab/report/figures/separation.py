"""How well the scores of each stage tell questions without an answer."""

from typing import TYPE_CHECKING

from lab.report.chosen import looks
from lab.report.figures.ink import INKS
from lab.report.figures.panel import Marks, Panel, ends, legend, shortened
from lab.report.figures.plot import Plot
from lab.report.unanswerable import separation_words
from lab.runs.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def separation(run: Run) -> Plot | None:
    """The AUC of every stage of the chosen systems with its interval; None for a run without
    unanswerable questions."""
    styles = looks(run)
    table = run.tables.separation[run.tables.separation["system"].isin(styles)]
    said = next(((name, words) for name in styles if (words := separation_words(run, name))), None)
    if said is None:
        return None
    stages = list(dict.fromkeys(table["stage"].astype(str)))
    systems = [name for name in styles if name in set(table["system"])]

    def draw(axes: "Axes", marks: Marks) -> None:
        for place, system in enumerate(systems):
            look, shift = styles[system], (place - (len(systems) - 1) / 2) * 0.7 / len(systems)
            for row in table[table["system"] == system].itertuples():
                dot, _, _ = axes.errorbar(
                    stages.index(str(row.stage)) + shift,
                    row.auc,
                    yerr=ends(row.auc, row.low, row.high),
                    fmt=look.marker,
                    color=look.colour,
                    elinewidth=1,
                )
                words = f"{run.labels[system]}, {row.stage}: AUC {row.auc:.3f}"
                marks.tell(dot, f"{words} [{row.low:.3f}, {row.high:.3f}]", f"s={system}")
            axes.plot([], [], look.marker, color=look.colour, label=shortened(run.labels[system]))
        axes.axhline(0.5, color=INKS["soft"], linestyle=":", linewidth=1)
        axes.text(len(stages) - 0.5, 0.51, "chance", ha="right", fontsize=8.5)
        axes.set_xticks(range(len(stages)), stages)
        axes.set_xlim(-0.5, len(stages) - 0.5)
        axes.set_ylim(0, 1.04)
        axes.set_ylabel("AUC")
        axes.grid(visible=False, axis="x")
        legend(axes)

    name, words = said
    return Plot(
        "unanswerable",
        "Questions without an answer",
        f"{run.labels[name]}: {' '.join(words)}",
        [Panel("", draw)],
        table.reset_index(drop=True),
    )
