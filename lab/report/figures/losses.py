"""Plots of where recall is lost: the waterfall, and the distance from the nearest cut."""

from typing import TYPE_CHECKING, Any

from lab.diagnosis.causes import CAUSES
from lab.diagnosis.waterfall import NO_PLACE
from lab.errors import counted
from lab.report.chosen import chosen_systems
from lab.report.figures.ink import INKS
from lab.report.figures.panel import Marks, Panel
from lab.report.figures.plot import Plot
from lab.report.figures.slices import by_slice
from lab.runs.losses import ALL
from lab.runs.run import Run
from lab.runs.slices import DISTANCE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def waterfall(run: Run, system: str) -> Plot | None:
    """From 100% down to the recall of one system."""
    table, k = run.waterfall(system), run.tables.k
    steps: list[Any] = list(table[table["kind"] == ALL].itertuples())
    if not steps:
        return None

    def draw(axes: "Axes", marks: Marks) -> None:
        axes.bar(0, 1.0, color=INKS["shade-4"])
        above = 1.0
        for place, step in enumerate(steps, start=1):
            (bar,) = axes.bar(
                place, step.lost, bottom=step.left, color=INKS["loss"], hatch="//", linewidth=0
            )
            bar.set_edgecolor(INKS["card"])
            meaning = "" if step.cause == NO_PLACE else f" ({CAUSES[step.cause].meaning})"
            words = f"{step.cause}{meaning}: {step.lost:.1%}, {counted(step.pieces, 'piece')}"
            marks.tell(bar, words, "" if step.cause == NO_PLACE else f"cause={step.cause}")
            axes.plot([place - 1.4, place + 0.4], [above, above], color=INKS["soft"], linewidth=0.8)
            axes.text(place, above + 0.02, f"−{step.lost:.1%}", ha="center", fontsize=8.5)
            above = step.left
        last = len(steps) + 1
        axes.bar(last, above, color=INKS["shade-4"])
        axes.text(last, above + 0.02, f"{above:.1%}", ha="center", fontsize=8.5)
        names = ["all evidence", *(step.cause for step in steps), f"recall within {k}"]
        axes.set_xticks(range(last + 1), names, rotation=25, ha="right", rotation_mode="anchor")
        axes.set_ylim(0, 1.12)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
        axes.grid(visible=False, axis="x")

    return Plot(
        "waterfall",
        "Where recall is lost",
        f"Each step is the share of the evidence that {run.labels[system]} loses at it; what no "
        "ranking of so few hits has room for comes first. The table has every kind of question, "
        "how much is verified, and the ceiling that mending a step would give.",
        [Panel("", draw, max(5.0, 2.4 + 0.8 * len(steps)), 3.8)],
        table,
    )


def distance(run: Run) -> Plot | None:
    """The selecting metric by the distance of the evidence from the nearest cut."""
    if run.manifest["unit"] != "evidence":
        return None
    metric = run.tables.select_by
    rows = run.slices(DISTANCE, chosen_systems(run))
    table = rows.assign(label=rows["system"].map(run.labels)).rename(
        columns={f"{metric}_low": "low", f"{metric}_high": "high"}
    )[["distance", "system", "label", "questions", metric, "low", "high"]]
    table = table.sort_values("distance", key=lambda names: names.map(_nearness), kind="stable")
    table = table.reset_index(drop=True)
    return Plot(
        "distance",
        "Near a cut or mid-chunk",
        f"{metric} by how many characters of its chunk lie between a question's evidence and the "
        "nearest cut, with 95% intervals; `cut` is evidence that a cut parts. What rises to the "
        "right is the boundary gap. In brackets the questions, the most of any system.",
        [Panel("", lambda axes, marks: by_slice(run, axes, marks, table, "distance"), 7.2, 3.6)],
        table,
    )


def _nearness(name: str) -> int:
    """Evidence that is cut first, then by the distance that a slice begins with."""
    digits = name.split("-")[0].rstrip("+")
    return int(digits) if digits.isdigit() else -1


def biggest_loss(run: Run, system: str) -> str | None:
    """The cause that costs a system most, in a sentence, and what no ranking has room for; None if
    no stage lost anything."""
    table, k = run.waterfall(system), run.tables.k
    every = table[table["kind"] == ALL]
    blamed: list[Any] = list(every[every["cause"] != NO_PLACE].itertuples())
    if not blamed:
        return None
    worst = max(blamed, key=lambda step: step.lost)
    places = every[every["cause"] == NO_PLACE]
    room = 1.0 if places.empty else float(places["left"].iloc[0])
    return (
        f"{worst.lost:.1%} of recall within {k} is lost to {worst.cause} "
        f"({CAUSES[worst.cause].meaning}), {counted(worst.pieces, 'piece')}; with all of it back "
        f"it would be {worst.ceiling:.3f}"
        + (f"; no ranking of {k} hits could reach more than {room:.3f}." if room < 1 else ".")
    )
