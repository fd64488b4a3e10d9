"""Plots of one change at a time: what every value of a setting is worth, and what a change rescues
and breaks."""

from typing import TYPE_CHECKING

from lab.report.figures.ink import INKS
from lab.report.figures.panel import Marks, Panel, ends, legend, shortened
from lab.report.figures.plot import Plot
from lab.runs.ablate import ablate
from lab.runs.losses import changes_of
from lab.runs.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Changes in the plot; the table has all.
SHOWN = 16


def effects(run: Run) -> Plot | None:
    """The main effect of every value of every setting that varies, with its interval."""
    found = ablate(run, run.recommended)
    table = found.effects
    if table.empty:
        return None
    shown = table.head(SHOWN)

    def draw(axes: "Axes", marks: Marks) -> None:
        for place, row in enumerate(shown.to_dict("records")):
            effect, low, high = row[found.metric], row["low"], row["high"]
            sure = row["verdict"] in ("better", "worse")
            colour = INKS["soft"] if not sure else INKS["gain" if effect > 0 else "loss"]
            dot, _, _ = axes.errorbar(
                effect,
                place,
                xerr=ends(effect, low, high),
                fmt="D" if sure else "o",
                color=colour,
                elinewidth=1.2,
            )
            words = f"{row['setting']}: {row['before']} to {row['after']} {effect:+.3f}"
            marks.tell(
                dot,
                f"{words} [{low:+.3f}, {high:+.3f}] over {row['pairs']} pairs, {row['verdict']}",
            )
        names = [
            shortened(f"{row.setting}: {row.before} → {row.after}") for row in shown.itertuples()
        ]
        axes.axvline(0, color=INKS["soft"], linewidth=1)
        axes.set_yticks(range(len(shown)), names)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_xlabel(f"change in {found.metric}")

    return Plot(
        "effects",
        "What each setting is worth",
        f"The mean change in {found.metric} from the recommended value to another, over all pairs "
        "of systems that differ in nothing else, with 95% intervals; diamonds differ beyond "
        "chance.",
        [Panel("", draw, 7.6, 0.9 + 0.27 * len(shown))],
        table.reset_index(drop=True),
    )


def rescue(run: Run, system: str) -> Plot | None:
    """Questions that changing one setting of a system rescues and breaks, the largest net first."""
    table = changes_of(run.rescues(), system)
    if table.empty:
        return None
    shown = table.head(SHOWN)
    names = [shortened(f"{row.setting}: {row.before} → {row.after}") for row in shown.itertuples()]

    def draw(axes: "Axes", marks: Marks) -> None:
        for place, row in enumerate(shown.itertuples()):
            words = f"{names[place]}: rescues {row.rescued}, breaks {row.broken}, p {row.p:.3f}"
            link = f"s={system}&vs={row.system}"
            for value, colour, hatch, name in (
                (row.rescued, INKS["gain"], "", "rescued"),
                (-row.broken, INKS["loss"], "////", "broken"),
            ):
                (bar,) = axes.barh(
                    place,
                    value,
                    color=colour,
                    hatch=hatch,
                    edgecolor=INKS["card"],
                    linewidth=0,
                    label=name if place == 0 else None,
                )
                marks.tell(bar, words, f"{link}&outcome={'lost' if value > 0 else 'won'}")
                if value:
                    side = "left" if value > 0 else "right"
                    shift = 3 if value > 0 else -3
                    axes.annotate(
                        str(abs(value)),
                        (value, place),
                        xytext=(shift, 0),
                        textcoords="offset points",
                        ha=side,
                        va="center",
                        fontsize=8.5,
                    )
        axes.axvline(0, color=INKS["soft"], linewidth=1)
        axes.set_yticks(range(len(shown)), names)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.margins(x=0.12)
        axes.set_xlabel(f"questions, of {len(run.query_ids)}")
        legend(axes)

    return Plot(
        "rescue",
        "What one change rescues and breaks",
        f"Each bar changes one setting of {run.labels[system]}: questions that fail with it and "
        "not after the change (rescued), and the reverse (broken); the largest net first. A "
        f"question fails when a piece of its evidence is missed within {run.tables.k}.",
        [Panel("", draw, 7.6, 1.1 + 0.29 * len(shown))],
        table,
    )
