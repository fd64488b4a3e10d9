"""Exact alpha curves for the page's slider: the rank of every piece at any alpha."""

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd

# Steps that the page carries at most, about 18 bytes each; the recommended system's come first.
STEPS = 120_000


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
            families[family] = _packed(steps, place)
        found[str(run.systems.index(system))] = families[family]
    return found


def _packed(steps: "pd.DataFrame", place: Mapping[tuple[str, int], int]) -> dict[str, str]:
    keys = zip(steps["query_id"].astype(str), steps["piece"], strict=True)
    piece = np.array([place[key] for key in keys])
    order = np.lexsort((steps["high"], steps["low"], piece))
    complete = steps["complete"].to_numpy(dtype=np.int64, na_value=0)
    first = np.searchsorted(piece[order], np.arange(len(place) + 1))
    columns: dict[str, tuple[Any, str]] = {
        "first": (first, "<u4"),
        "low": (steps["low"].to_numpy()[order], "<f8"),
        "high": (steps["high"].to_numpy()[order], "<f8"),
        "complete": (complete[order], "<u2"),
    }
    return {
        name: base64.b64encode(np.asarray(values).astype(kind).tobytes()).decode()
        for name, (values, kind) in columns.items()
    }
