"""What every run folder must have, so that one from elsewhere, or of a version between two
releases, is told before use."""

from typing import TYPE_CHECKING

from lab.config.settings import SETTINGS
from lab.runs.tables import Tables

if TYPE_CHECKING:
    import pandas as pd

# Numbers of `systems` that come of comparing.
FIGURES = (
    *("context_tokens", "p_best", "picked", "p", "least_p", "cost_rank", "hurt", "helped"),
    "georisk",
)
COLUMNS: dict[str, tuple[str, ...]] = {
    "systems": ("system", "family", "verdict", "pareto", "recommended", *FIGURES, *SETTINGS),
    "scores": ("system", "query_id", "metric", "value"),
    "phases": ("system", "phase", "query_id", "metric", "value"),
    "rankings": (
        *("system", "query_id", "doc_id", "start", "end", "shown_start", "shown_end", "rank"),
        *("evidence", "relevant", "bm25_rank", "bm25_score", "dense_rank", "dense_score"),
        *("fused_rank", "fused_score", "rerank_score"),
    ),
    "evidence": ("system", "query_id", "piece", "doc_id", "start", "end", "grade", "complete"),
    "questions": (
        *("query_id", "text", "kind", "variants", "filter", "tags", "doc_id", "evidence"),
        "unscored",
    ),
    "causes": ("system", "query_id", "piece", "kind", "cause", "stage", "verified", "remedy"),
    "curves": ("family", "query_id", "piece", "low", "high", "complete"),
    "alphas": ("family", "metric", "slice", "low", "high", "value"),
    "means": ("family", "metric", "slice", "low", "high", "value"),
    "separation": ("system", "stage", "auc"),
    "thresholds": ("system", "threshold"),
    "calls": ("system", "query_id", "call", "asked", "coverage", "added"),
    "weighing": ("family", "query_id", "at_bm25", "at_dense", "at_common", "at_oracle"),
    "weights": ("family", "rule", "folds", "picked", "weights"),
}
# The others may be empty, and then have what columns they like.
FILLED = ("systems", "scores", "questions")
MANIFEST = ("name", "measure", "unit", "causes", "best", "recommended", "conclusions", "corpus")
CONCLUSIONS = (
    *("select_by", "unit", "units", "verdicts", "tied", "cheaper", "units_needed", "runner_up"),
    *("best", "recommended", "honest", "detectable_difference", "few_questions", "sealed"),
    "not_comparable",
)


def lacking_parts(tables: Tables) -> list[str]:
    """A line for every table that lacks a column or has one of another type, for systems that have
    no scores, and for what the manifest does not say."""
    lines = _lacking_keys(tables)
    for name, columns in COLUMNS.items():
        if name not in FILLED and getattr(tables, name).empty:
            continue
        absent = [column for column in columns if column not in getattr(tables, name).columns]
        if absent:
            lines.append(f"{name}.parquet has no column {', '.join(absent)}")
    if not lines:
        lines += _systems(tables.systems, tables)
    if not lines and not set(tables.names) <= set(map(str, tables.scores["system"].unique())):
        lines.append("scores.parquet lacks systems of systems.parquet")
    return lines


def _lacking_keys(tables: Tables) -> list[str]:
    manifest = tables.manifest
    absent = [key for key in MANIFEST if key not in manifest]
    if not absent and isinstance(manifest["conclusions"], dict):
        absent = [f"conclusions.{key}" for key in CONCLUSIONS if key not in manifest["conclusions"]]
    return [f"manifest.json has no {', '.join(absent)}"] if absent else []


def _systems(systems: "pd.DataFrame", tables: Tables) -> list[str]:
    """Lines on the table of systems: its metrics' columns, types, and whether the manifest's
    systems are there."""
    metrics = [f"{metric}{end}" for metric in tables.metrics for end in ("", "_low", "_high")]
    absent = [column for column in metrics if column not in systems.columns]
    if absent:
        return [f"systems.parquet has no column {', '.join(absent)}"]
    numbers = systems[[*FIGURES, *metrics]].select_dtypes("number").columns
    wrong = [column for column in (*FIGURES, *metrics) if column not in numbers]
    texts = systems[["system", "verdict", "mode"]]
    wrong += [column for column in texts if not texts[column].map(type).eq(str).all()]
    if wrong:
        return [f"systems.parquet has values of another type in {', '.join(wrong)}"]
    named = {str(tables.manifest["best"]), str(tables.manifest["recommended"])}
    if systems["system"].duplicated().any() or not named <= set(systems["system"]):
        return ["systems.parquet names systems twice, or lacks those of manifest.json"]
    return []
