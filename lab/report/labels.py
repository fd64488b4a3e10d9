"""Short labels of systems: only the settings that vary in the run, so that a table fits on a
screen."""

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

CHUNKS = ("chunk_strategy", "chunk_size", "overlap", "unit", "percentile")
SEARCH = ("mode", "alpha")
# A switch that is on, in a table of systems; off is "-".
ON = "on"
RERANKER = ("rerank_model", "rerank_depth")
# Shown by themselves, under their own name, when they vary.
SINGLE = (
    "deliver",
    "analyzer",
    "variant",
    "k1",
    "b",
    "synonyms",
    "model",
    "index",
    "pooling",
    "depth",
    "views",
    "variants",
    "filter",
    "normalization",
    "features",
    "threshold",
    "blend",
)


def shown_settings(systems: "pd.DataFrame") -> "pd.DataFrame":
    """One row a system and one text column for every group of settings that varies: `chunks`
    (`structure-400/50`), `search` (`bm25`, `dense`, `hybrid 0.6`), `rerank` (`20`, `-`) and single
    settings by their names. No column if nothing varies."""
    import pandas as pd

    columns: dict[str, list[str]] = {}
    varying = {
        column
        for column in systems.columns
        if len({None if is_absent(v) else v for v in systems[column]}) > 1
    }
    rows = systems.to_dict("records")
    if varying & set(CHUNKS):
        columns["chunks"] = [chunks_label(row) for row in rows]
    if varying & set(SEARCH):
        columns["search"] = [
            row["system"] if row["mode"] == "foreign" else search_label(row) for row in rows
        ]
    if varying & set(RERANKER):
        several = systems["rerank_model"].nunique() > 1
        columns["rerank"] = [_reranker(row, several) for row in rows]
    for setting in SINGLE:
        # A setting of a stage that some systems lack differs between "absent" and one value: the
        # stage's own column says so.
        if setting in varying and systems[setting].nunique() > 1:
            columns[setting] = [_value(row[setting]) for row in rows]
    return pd.DataFrame(columns, index=systems.index)


def labels(systems: "pd.DataFrame") -> dict[str, str]:
    """Name -> short label of every system; the name itself where labels would not tell two systems
    apart."""
    shown = shown_settings(systems)
    names = systems["system"].tolist()
    # A foreign retriever has no settings, so its name says all that is known; so it does where
    # every shown setting is off.
    short = [
        (mode != "foreign" and _words(dict(zip(shown.columns, row, strict=True)))) or name
        for name, mode, row in zip(
            names, systems["mode"], shown.itertuples(index=False), strict=True
        )
    ]
    return dict(
        zip(
            names, short if shown.shape[1] and len(set(short)) == len(names) else names, strict=True
        )
    )


def chunks_label(row: dict[str, Any]) -> str:
    """How a system cuts documents, like `fixed-400/50`; `-` for a foreign system, whose chunks are
    its own."""
    if is_absent(row["chunk_strategy"]):
        return "-"
    if is_absent(row["chunk_size"]):
        return str(row["chunk_strategy"])
    overlap = f"/{row['overlap']:g}" if not is_absent(row["overlap"]) and row["overlap"] else ""
    unit = "" if row["unit"] == "characters" else f"-{row['unit']}"
    percentile = "" if is_absent(row.get("percentile")) else f"-p{row['percentile']:g}"
    return f"{row['chunk_strategy']}-{row['chunk_size']}{overlap}{percentile}{unit}"


def search_label(row: dict[str, Any]) -> str:
    """Which legs a system has, like `hybrid 0.6`; a foreign system is known by its name."""
    if row["mode"] == "foreign":
        return str(row["system"])
    return str(row["mode"]) if is_absent(row["alpha"]) else f"{row['mode']} {row['alpha']:g}"


def _reranker(row: dict[str, Any], several: bool) -> str:
    if is_absent(row["rerank_depth"]):
        return "-"
    return (
        f"{PurePath(str(row['rerank_model'])).name}@" if several else ""
    ) + f"{row['rerank_depth']:g}"


def _words(shown: dict[str, str]) -> str:
    """`structure-400 hybrid 0.6 rerank 20`: values that name themselves stand alone, others behind
    their name."""
    own = (
        "chunks",
        "search",
        "deliver",
        "variant",
        "model",
        "normalization",
        "analyzer",
        "index",
        "synonyms",
    )
    words = [
        value if key in own else key if value == ON else f"{key} {value}"
        for key, value in shown.items()
        if value != "-"
    ]
    return " ".join(words)


def _value(value: Any) -> str:
    if is_absent(value) or value is False:
        return "-"
    if value is True:
        return ON
    return (
        f"{value:g}"
        if isinstance(value, int | float)
        else PurePath(str(value)).name.removesuffix(".txt") or "-"
    )


def is_absent(value: Any) -> bool:
    """Whether a setting plays no part in a system (None in memory, NaN in a table)."""
    return value is None or value != value
