"""Every question under every system."""

from typing import TYPE_CHECKING

import numpy as np

from lab.arrays import Floats
from lab.report.figures.ink import INKS
from lab.report.figures.panel import Marks, Panel
from lab.report.figures.plot import Plot
from lab.runs.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def questions_and_systems(run: Run) -> Plot | None:
    """Every question under every system by the selecting metric: what nobody finds, and what only
    one does. None for a single system."""
    if len(run.systems) < 2:
        return None
    import pandas as pd
    from matplotlib.colors import to_rgb

    metric = run.tables.select_by
    scores: Floats = np.nan_to_num(run.tables.column(metric))
    systems = np.argsort(-scores.mean(axis=0), kind="stable")
    questions = np.argsort(-scores.mean(axis=1), kind="stable")
    finding = (scores > 0).sum(axis=1)
    only = [
        run.labels[run.systems[int(row.argmax())]] if count == 1 else None
        for row, count in zip(scores, finding, strict=True)
    ]
    image = np.zeros((len(systems), len(questions), 4))
    image[..., :3] = to_rgb(INKS["loss"])
    image[..., 3] = 1.0 - np.clip(scores[np.ix_(questions, systems)].T, 0.0, 1.0)

    def draw(axes: "Axes", marks: Marks) -> None:
        axes.imshow(image, aspect="auto", interpolation="nearest")
        axes.set_xlabel("questions, the easiest first")
        axes.set_ylabel("systems, the best first")
        axes.grid(visible=False)
        axes.set_yticks([])

    nobody = int((finding == 0).sum())
    alone = sum(name is not None for name in only)
    table = pd.DataFrame(
        {
            "query_id": run.query_ids,
            "systems_with_any": finding,
            "only": only,
            f"mean_{metric}": scores.mean(axis=1),
        }
    )
    return Plot(
        "questions",
        "Questions and systems",
        f"A column a question, a row a system; the fuller the colour, the less {metric}. "
        f"{nobody} of {len(questions)} questions get nothing from any system, {alone} from one "
        "alone.",
        [Panel("", draw, 9.0, 3.4)],
        table.iloc[questions].reset_index(drop=True),
    )
