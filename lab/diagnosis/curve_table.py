"""Alpha curves read back from a run's table of steps."""

from typing import TYPE_CHECKING

import numpy as np

from lab.diagnosis.alpha import Curve, Floats, Ints
from lab.truth.judge import NEVER

if TYPE_CHECKING:
    import pandas as pd


def curves_of(steps: "pd.DataFrame") -> dict[str, Curve]:
    """Question -> the curve of its pieces, from the rows of one family of `Run.curves`."""
    found = {}
    for query_id, rows in steps.astype({"query_id": str}).groupby("query_id", sort=True):
        pieces = [(part["low"].to_numpy(), part["complete"].to_numpy()) for _, part in rows.groupby("piece", sort=True)]
        edges = np.unique(np.concatenate([low for low, _ in pieces]))
        inner = edges[(edges > 0) & (edges < 1)]
        low, high = np.concatenate(([0.0, 0.0], inner, [1.0])), np.concatenate(([0.0], inner, [1.0, 1.0]))
        ranks = np.array([_on(low, *piece) for piece in pieces], dtype=np.int64)
        found[str(query_id)] = Curve(low, high, np.where(ranks == 0, NEVER, ranks))
    return found


def _on(low: Floats, own: Floats, complete: Ints) -> Ints:
    """A piece's ranks on the finer steps of its question; its own first and last steps are the points 0 and 1."""
    place = np.searchsorted(own[1:-1], low[1:-1], side="right")
    return np.concatenate((complete[:1], complete[np.maximum(place, 1)], complete[-1:]))
