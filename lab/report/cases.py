"""The cases of a small set on the terminal: what stands in for averages that would settle
nothing."""

import numpy as np
from rich.text import Text

from lab.evaluation.cases import cases
from lab.report.cube import Cube

SHOWN = 12


def cases_screen(
    cube: Cube, metric: str, recommended: str, baseline: str, short: dict[str, str]
) -> Text:
    """Questions that every system, no system and only some systems find, and what the recommended
    one wins and loses."""
    scores = np.nan_to_num(cube.values[:, :, cube.metrics.index(metric)].T)
    found = cases(
        scores, cube.query_ids, cube.systems.index(recommended), cube.systems.index(baseline)
    )
    text = Text(f"case by case, by {metric}\n", "bold")
    rows: list[tuple[str, list[str]]] = [
        ("found by every system", list(found.by_all)),
        ("found by none", list(found.by_none)),
        (
            "found by some",
            [
                f"{query_id} ({systems} of {len(cube.systems)})"
                for query_id, systems in found.by_some
            ],
        ),
    ]
    if recommended != baseline:
        rows += [
            (f"{short[recommended]} above {short[baseline]}", list(found.won)),
            ("and below it", list(found.lost)),
        ]
    for label, ids in rows:
        shown = ", ".join(ids[:SHOWN]) + (", ..." if len(ids) > SHOWN else "")
        text.append(f"  {label}: {len(ids)}" + (f": {shown}" if ids else "") + "\n", "not bold")
    text.append(
        "  `lab explain RUN QUESTION` tells what became of one; the averages below are no ground "
        "for a choice\n",
        "not bold",
    )
    return text
