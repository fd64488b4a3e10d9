"""Recall as a function of alpha, exactly: the step curves of all pieces, added up."""

from typing import TYPE_CHECKING

import numpy as np

from lab.diagnosis.waterfall import weights

if TYPE_CHECKING:
    import pandas as pd

EVERY_KIND = "all questions"


def recall_curve(curves: "pd.DataFrame", k: int, kinds: "pd.Series") -> "pd.DataFrame":
    """Rows `kind, low, high, recall` of one family: mean recall at k between two alphas, for all questions and by kind.

    `curves` are the steps of its pieces (`Run.curves`), `kinds` the kind of every question by id. Between neighbouring steps
    of a kind recall differs; the points 0 and 1 are steps of no width, for there a leg brings no candidates.
    """
    import pandas as pd

    plain = curves.astype({"query_id": str})
    of = plain["query_id"].map(kinds)
    tables = [_steps(plain, k, EVERY_KIND)]
    tables += [_steps(plain[of == kind], k, kind) for kind in sorted(of.unique())] if of.nunique() > 1 else []
    return pd.concat(tables, ignore_index=True)


def _steps(curves: "pd.DataFrame", k: int, kind: str) -> "pd.DataFrame":
    """The steps of one group of pieces: every piece within k adds its share of the mean where its step lies."""
    import pandas as pd

    pieces = curves.groupby(["query_id", "piece"], sort=True).ngroup().to_numpy()
    first = np.unique(pieces, return_index=True)[1]
    share = weights(np.unique(curves["query_id"].to_numpy(dtype=str)[first], return_inverse=True)[1])[pieces]
    within = curves["complete"].between(1, k).to_numpy()
    low, high, share = curves["low"].to_numpy()[within], curves["high"].to_numpy()[within], share[within]
    points = low == high
    borders = np.unique(np.concatenate(([0.0, 1.0], low[~points], high[~points])))
    # Open steps between borders: a piece's step adds its share from its lower border on and takes it away at its upper one.
    added = np.bincount(np.searchsorted(borders, low[~points]), share[~points], len(borders))
    taken = np.bincount(np.searchsorted(borders, high[~points]), share[~points], len(borders))
    recall = np.cumsum(added - taken)[:-1]
    changed = np.concatenate(([True], np.abs(np.diff(recall)) > 1e-12))
    starts = np.flatnonzero(changed)
    ends = np.append(borders[starts[1:]], 1.0)
    at = [float(share[points & (low == alpha)].sum()) for alpha in (0.0, 1.0)]
    return pd.DataFrame({
        "kind": kind,
        "low": [0.0, *borders[starts], 1.0],
        "high": [0.0, *ends, 1.0],
        "recall": [at[0], *recall[starts], at[1]],
    })  # fmt: skip
