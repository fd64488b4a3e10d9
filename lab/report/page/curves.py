"""Exact alpha curves for the page's slider: the rank of every piece at any alpha."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.config.rows import number_of
from lab.report.page.packed import packed
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd

# Steps that the page carries at most, about 18 bytes each; the recommended system's come first.
STEPS = 120_000


def alphas_of(run: Run) -> list[Any]:
    """A system's alpha, None for one leg; where it goes by question, that of every scored one."""
    of_rule, alphas = run.tables.weighing, list[Any]()
    for row in run.tables.systems.to_dict("records"):
        alpha = number_of(row["alpha"])
        name = f"alpha_{row['alpha']}"
        if alpha is None and name in of_rule:
            alpha = of_rule.loc[of_rule["family"] == row["family"], name].tolist()
        alphas.append(alpha)
    return alphas


def curves_of(
    run: Run, chosen: Sequence[str], place: Mapping[tuple[str, int], int]
) -> dict[str, dict[str, str]]:
    """The curves of the chosen hybrid systems, by the system's place in the run; `place` numbers
    the pieces (question, piece). Piece p has the steps from `first[p]` to `first[p + 1]`: from
    `low` to `high` it is complete at rank `complete`, 0 beyond the cap."""
    rows = run.tables.systems.set_index("system")
    families: dict[str, dict[str, str]] = {}
    found, left = {}, STEPS
    for system in chosen:
        family = str(rows.at[system, "family"])
        if rows.at[system, "mode"] != "hybrid":
            continue
        if family not in families:
            steps = run.tables.curves[run.tables.curves["family"] == family]
            if steps.empty or len(steps) > left:
                continue
            left -= len(steps)
            families[family] = _columns(steps, place)
        found[str(run.systems.index(system))] = families[family]
    return found


def _columns(steps: "pd.DataFrame", place: Mapping[tuple[str, int], int]) -> dict[str, str]:
    keys = zip(steps["query_id"].astype(str), steps["piece"], strict=True)
    piece = np.array([place[key] for key in keys])
    order = np.lexsort((steps["high"], steps["low"], piece))
    complete = steps["complete"].to_numpy(dtype=np.int64, na_value=0)
    return {
        "first": packed(np.searchsorted(piece[order], np.arange(len(place) + 1))),
        "low": packed(steps["low"].to_numpy()[order], "d"),
        "high": packed(steps["high"].to_numpy()[order], "d"),
        "complete": packed(complete[order]),
    }
