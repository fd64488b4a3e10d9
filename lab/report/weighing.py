"""Alpha by question: what each rule is worth, in words for every surface."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd

# Predictors that are named, those that foretell most.
SHOWN = 5


@dataclass(frozen=True, slots=True)
class WeighingStory:
    """`title` says what is told; of each hybrid family `rows` are (alpha, mean, interval, against
    one alpha for all, that as a share of what the oracle gains); `foretold` has (predictor, tau at
    BM25, dense and the common alpha) of those that foretell most; `stated` says how it was made."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    predictor_head: tuple[str, ...]
    foretold: tuple[tuple[str, ...], ...]
    stated: str


def weighing_stories(run: Run) -> tuple[WeighingStory, ...]:
    """One a hybrid family of which a system has its alpha by question."""
    table, predictors, metric = run.weighing(), run.predictors(), run.tables.select_by
    return tuple(
        WeighingStory(
            title=f"alpha by question: {metric} of {family}, before any reranker",
            head=("alpha", "mean", "95% interval", "against common", "of oracle's"),
            rows=tuple(_row(row) for row in rows.to_dict("records")),
            predictor_head=("predictor", "bm25", "dense", "hybrid"),
            foretold=_foretold(predictors[predictors["family"] == family]),
            stated="common: one alpha for all; oracle: each question's own best, which nobody "
            "knows beforehand. All others were chosen and trained on other documents than those "
            f"they are judged on. Of what is known before fusion, this foretells {metric} best "
            "(Kendall's tau)",
        )
        for family, rows in table.groupby("family", sort=False)
    )


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    name = str(row["rule"])
    gap = share = ""
    if name != "common":
        gap = f"{row['difference']:+.3f} [{row['difference_low']:+.3f}, "
        gap += f"{row['difference_high']:+.3f}]"
        share = f"{row['share']:.0%}"
    if isinstance(row["verdict"], str):
        gap += f" {row['verdict']}"
    return (name, f"{row['value']:.3f}", f"{row['low']:.3f}-{row['high']:.3f}", gap, share)


def _foretold(predictors: "pd.DataFrame") -> tuple[tuple[str, ...], ...]:
    taus = predictors.set_index("predictor").filter(like="tau_")
    order = taus.abs().max(axis=1).sort_values(ascending=False, kind="stable").index[:SHOWN]
    rows = taus.loc[order].fillna(0.0)
    return tuple((str(name), *(f"{tau:+.2f}" for tau in row)) for name, *row in rows.itertuples())
