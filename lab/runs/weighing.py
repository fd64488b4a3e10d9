"""Alpha by question in a finished run: what each rule is worth, and what predictors foretell."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import kendalltau

from lab.arrays import Floats
from lab.evaluation.clusters import Clusters
from lab.evaluation.intervals import mean_intervals
from lab.evaluation.paired import compare
from lab.runs.tables import Tables

if TYPE_CHECKING:
    import pandas as pd

COMMON, ORACLE = "common", "oracle"
# What each predictor is held against: the selecting metric of the question at these.
AGAINST = ("bm25", "dense", COMMON)


def weighing_table(tables: Tables) -> "pd.DataFrame":
    """A row a hybrid family and rule, before any reranker: `common`, one alpha for all, then every
    rule and the `oracle`, each question's own best alpha.

    `value` is the mean of the selecting metric with its 95% interval, where every question has the
    alpha that was chosen and trained on other documents; `difference` that minus `common`, with
    its interval, p and verdict as planned pairs (Holm over the rules of a family; none for the
    oracle, which cannot lose); `share` the difference as a share of the oracle's.
    """
    import pandas as pd

    columns = ["family", "rule", "value", "low", "high", "difference", "difference_low"]
    columns += ["difference_high", "p", "verdict", "share"]
    rows = [row for family in _families(tables) for row in _rules(tables, *family)]
    return pd.DataFrame(rows, columns=columns)


def predictor_table(tables: Tables) -> "pd.DataFrame":
    """Kendall's tau-b of every predictor with the selecting metric of the questions, at BM25 alone,
    dense alone and the common alpha; a row a hybrid family and predictor."""
    import pandas as pd

    rows = []
    for family, questions in _families(tables):
        names = list(questions.columns)
        for name in names[names.index("query_id") + 1 : names.index("at_bm25")]:
            taus = {f"tau_{of}": _tau(questions[name], questions[f"at_{of}"]) for of in AGAINST}
            rows.append({"family": family, "predictor": name, **taus})
    return pd.DataFrame(rows, columns=["family", "predictor", *(f"tau_{of}" for of in AGAINST)])


def _tau(predictor: "pd.Series", scores: "pd.Series") -> float:
    """NaN where all questions have one value."""
    return float(kendalltau(predictor, scores).statistic)


def _families(tables: Tables) -> "Iterator[tuple[str, pd.DataFrame]]":
    """Every family with its questions, without columns that it does not have."""
    for family, questions in tables.weighing.groupby("family", sort=False):
        yield str(family), questions.dropna(axis=1, how="all")


def _rules(tables: Tables, family: str, questions: "pd.DataFrame") -> "list[dict[str, object]]":
    tried = [name.removeprefix("alpha_") for name in questions if name.startswith("alpha_")]
    rules = [*(name for name in tried if name != COMMON), ORACLE]
    values = questions[[f"at_{name}" for name in (COMMON, *rules)]].to_numpy(np.float64)
    low, high = mean_intervals(values, tables.clusters, tables.seed)
    gaps = values[:, 1:] - values[:, [0]]
    tested = compare(gaps[:, :-1], tables.clusters, tables.seed)
    ends = _ends(gaps, tables.clusters, tables.seed)
    most = float(gaps[:, -1].mean())
    rows: list[dict[str, object]] = []
    for place, name in enumerate((COMMON, *rules)):
        row: dict[str, object] = {"family": family, "rule": name}
        row["value"] = float(values[:, place].mean())
        row |= {"low": float(low[place]), "high": float(high[place])}
        if place:
            gap = float(gaps[:, place - 1].mean())
            row |= {"difference": gap, "share": gap / most if most > 0 else None}
            row |= {"difference_low": ends[0][place - 1], "difference_high": ends[1][place - 1]}
        if 0 < place < len(rules):
            row |= {"p": float(tested.p_holm[place - 1]), "verdict": tested.verdicts[place - 1]}
        rows.append(row)
    return rows


def _ends(gaps: Floats, clusters: Clusters, seed: int) -> tuple[list[float], list[float]]:
    low, high = mean_intervals(gaps, clusters, seed, bounds=None)
    return low.tolist(), high.tolist()
