"""Short labels of systems: only the settings that vary in the run, so that a table fits on a
screen."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lab.config.rows import (
    FOREIGN,
    Row,
    chunks_label,
    in_play,
    rerank_label,
    search_label,
    settings_of,
)
from lab.config.settings import SETTINGS, Setting, of_group, text_of

if TYPE_CHECKING:
    import pandas as pd

# A switch that is on, in a table of systems; off is "-".
ON, NOTHING = "on", "-"


def shown_settings(systems: "pd.DataFrame") -> "pd.DataFrame":
    """One row a system and one text column for every group of settings that varies: `chunks`
    (`structure-400/50`), `search` (`bm25`, `dense`, `hybrid 0.6`), `rerank` (`20`, `-`) and single
    settings by their names. No column if nothing varies; systems that differ are shown apart."""
    import pandas as pd

    rows = [settings_of(row) | {"system": row["system"]} for row in systems.to_dict("records")]
    in_plays = [in_play(row) for row in rows]
    columns: dict[str, list[str]] = {}
    for group, label in GROUPS.items():
        names = [setting.name for setting in of_group(group)]
        values = [tuple(row[name] for name in names) for row in rows]
        if group == "search":  # foreign systems are known by their names
            names.append("system")
            values = [
                (*value, row["system"] if row["mode"] == FOREIGN else None)
                for value, row in zip(values, rows, strict=True)
            ]
        if len(set(values)) > 1:
            several = len({row["rerank_model"] for row in rows} - {None}) > 1
            texts = [label(row, several) for row in rows]
            columns[group] = _apart(texts, [_in_full(names, value) for value in values])
    for name, setting in SETTINGS.items():
        if setting.group:
            continue
        # A setting of a stage that some systems lack differs between "absent" and one value: the
        # stage's own column says so.
        played = [values[name] for values in in_plays if name in values]
        if len(set(played)) > 1:
            texts = [_text(setting, row[name]) for row in rows]
            columns[name] = _apart(texts, [_full_text(row[name]) for row in rows])
    return pd.DataFrame(columns, index=systems.index)


def _apart(texts: list[str], full: list[str]) -> list[str]:
    """The short texts, or the full ones where the short would not tell two values apart."""
    return texts if len(set(texts)) == len(set(full)) else full


def _in_full(names: Sequence[str], values: Sequence[Any]) -> str:
    return " ".join(
        f"{name}={_full_text(value)}"
        for name, value in zip(names, values, strict=True)
        if value is not None
    )


def _full_text(value: Any) -> str:
    return NOTHING if value is None or value is False or value == "" else text_of(value)


def labels(systems: "pd.DataFrame", shown: "pd.DataFrame | None" = None) -> dict[str, str]:
    """Name -> short label of every system; the name itself where labels would not tell two systems
    apart. `shown` are its `shown_settings`, where these are known already."""
    shown = shown_settings(systems) if shown is None else shown
    names = systems["system"].tolist()
    # A foreign retriever has no settings, so its name says all that is known; so it does where
    # every shown setting is off.
    short = [
        (mode != FOREIGN and _words(dict(zip(shown.columns, row, strict=True)))) or name
        for name, mode, row in zip(
            names, systems["mode"], shown.itertuples(index=False), strict=True
        )
    ]
    return dict(
        zip(
            names, short if shown.shape[1] and len(set(short)) == len(names) else names, strict=True
        )
    )


def _words(shown: dict[str, str]) -> str:
    """`structure-400 hybrid 0.6 rerank 20`: values that name themselves stand alone, others behind
    their name."""
    words = []
    for column, value in shown.items():
        if value == NOTHING:
            continue
        if column in ("chunks", "search") or (column in SETTINGS and SETTINGS[column].speaks):
            words.append(value)
        else:
            words.append(column if value == ON else f"{column} {value}")
    return " ".join(words)


def _text(setting: Setting, value: Any) -> str:
    return NOTHING if value is None or value is False or value == "" else setting.label(value)


# Column -> what it says of a system, given whether the table has several rerankers.
GROUPS: dict[str, Callable[[Row, bool], str]] = {
    "chunks": lambda row, several: chunks_label(row),
    "search": lambda row, several: search_label(row),
    "rerank": rerank_label,
}
