"""The growth table of results.json as a log-log plot: a line of slope 1 is linear growth."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt

# Below this the clock measures the calls, not the work.
SHORTEST = 0.01


def growth_plot(rows: list[dict[str, Any]], place: Path) -> None:
    """Processor seconds per stage, and the peak memory of the process, over the number of
    chunks."""
    mpl.rcParams["svg.hashsalt"] = "growth"  # equal figures are equal bytes
    exact = sorted((row for row in rows if row["index"] == "exact"), key=lambda row: row["chunks"])
    sizes = [row["chunks"] for row in exact]
    figure, (seconds, memory) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    for stage in exact[-1]["stages"]:
        points = [
            (row["chunks"], row["stages"][stage]["cpu"])
            for row in exact
            if row["stages"][stage]["cpu"] >= SHORTEST
        ]
        if len(points) > 1:
            seconds.loglog(*zip(*points, strict=True), marker="o", label=stage)
    seconds.loglog(sizes, [sizes[-1] ** -1 * size * 10 for size in sizes], "k:", label="linear")
    seconds.set(title="time", xlabel="chunks", ylabel="processor seconds")
    seconds.legend(fontsize=8)
    memory.loglog(
        sizes,
        [max(s["peak_mb"] for s in row["stages"].values()) for row in exact],
        marker="o",
        label="peak",
    )
    memory.loglog(sizes, [6000 * size / sizes[-1] for size in sizes], "k:", label="linear")
    memory.set(title="peak memory", xlabel="chunks", ylabel="MB")
    memory.legend(fontsize=8)
    for axes in (seconds, memory):
        axes.grid(alpha=0.3)
    figure.savefig(place, metadata={"Date": None})
