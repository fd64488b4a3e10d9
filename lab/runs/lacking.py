"""Columns that every run folder must have, so that one from elsewhere is told before use."""

from lab.runs.tables import Tables

# Of `systems` what does not hang on the experiment: metrics and settings are columns beside these.
COLUMNS: dict[str, tuple[str, ...]] = {
    "systems": ("system", "chunk_strategy", "mode", "context_tokens"),
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
}
# The others may be empty, and then have what columns they like.
FILLED = ("systems", "scores", "questions")


def lacking_columns(tables: Tables) -> list[str]:
    """A line for every table that lacks a column, and for systems that have no scores."""
    found = []
    for name, columns in COLUMNS.items():
        if name not in FILLED and getattr(tables, name).empty:
            continue
        absent = [column for column in columns if column not in getattr(tables, name).columns]
        if absent:
            found.append(f"{name}.parquet has no column {', '.join(absent)}")
    if not found and not set(tables.names) <= set(map(str, tables.scores["system"].unique())):
        found.append("scores.parquet lacks systems of systems.parquet")
    return found
