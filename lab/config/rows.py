"""Rows: a system as its settings, in memory and in a table, and what of them two systems share."""

import json
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError

from lab.chunking.config import chunk_label
from lab.chunking.size import SizeByType
from lab.config.axis import plain
from lab.config.settings import (
    OFF,
    SETTINGS,
    Setting,
    depth_text,
    file_name,
    of_group,
    of_stage,
    text_of,
)
from lab.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]

FOREIGN: Literal["foreign"] = "foreign"


def is_absent(value: Any) -> bool:
    """Whether a setting plays no part in a system: None in memory, NaN or NA in a table."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, float) and value != value


def number_of(value: Any) -> float | None:
    """The number in a column that holds names as well, as text there; None for a name, and where
    the setting plays no part."""
    try:
        return None if is_absent(value) else float(value)
    except ValueError:
        return None


def settings_of(row: Row) -> dict[str, Any]:
    """The settings of a row of a table of systems, as `Config.settings` gives them: None where one
    plays no part. Raises ConfigError with every value that is none of its setting's."""
    values: dict[str, Any] = {}
    problems = []
    for name, setting in SETTINGS.items():
        value = row.get(name)
        if is_absent(value) or (name == "mode" and value == FOREIGN):
            values[name] = None if is_absent(value) else FOREIGN
            continue
        try:
            values[name] = _known(setting, plain(value))
        except ValidationError as fault:
            message = fault.errors()[0]["msg"].removeprefix("Value error, ")
            problems.append(f"{name} is {value!r}; {message}")
    if problems:
        raise ConfigError(problems)
    return values


def _known(setting: Setting, value: Any) -> Any:
    """The value as its setting has it. A table repeats the same few in every row."""
    if isinstance(value, str | int | float):
        return _remembered(setting, value)
    return _read(setting, value)


# 1, 1.0 and True are different values.
@lru_cache(maxsize=1024, typed=True)
def _remembered(setting: Setting, value: Any) -> Any:
    return _read(setting, value)


def _read(setting: Setting, value: Any) -> Any:
    adapter = _adapter(setting.name)
    try:
        return adapter.validate_python(tuple(value) if isinstance(value, list) else value)
    except ValidationError:
        # A column that holds numbers in some rows and lists or mappings in others is JSON.
        try:
            value = json.loads(value)
        except (TypeError, ValueError):
            pass
        else:
            return adapter.validate_python(value)
        raise


@cache
def _adapter(name: str) -> "TypeAdapter[Any]":
    return TypeAdapter(SETTINGS[name].type)


def settings_table(rows: Sequence[Row]) -> "pd.DataFrame":
    """`system` and the settings of every row as columns, as Parquet takes them: numbers, texts or
    lists; JSON where a value is a mapping, or where numbers and lists would share a column. Whole
    numbers stay whole where other systems have no such setting; pandas would make them 400.0."""
    import pandas as pd

    table = pd.DataFrame({"system": [row["system"] for row in rows]})
    for name in SETTINGS:
        values = _column([row[name] for row in rows])
        kinds = {type(value) for value in values}
        mixed = type(None) in kinds and int in kinds
        table[name] = pd.Series(values, dtype=object if mixed or list in kinds else None)
    return table


def _column(values: Sequence[Any]) -> list[Any]:
    stored = [_stored(value) for value in values]
    kinds = {type(value) for value in stored if value is not None}
    if dict in kinds or (list in kinds and len(kinds) > 1):
        return [None if value is None else json.dumps(value) for value in stored]
    if str in kinds and len(kinds) > 1:  # alpha: numbers, and rules by name
        return [
            value if value is None or isinstance(value, str) else json.dumps(value)
            for value in stored
        ]
    return stored


def _stored(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, SizeByType):
        return dict(value.pairs)
    return list(value) if isinstance(value, tuple) else value


def in_play(row: Row) -> dict[str, Any]:
    """The settings that play a part in a system; two systems differ in those that both have and
    that are not the same. What only one of them has hangs on the stage that the other lacks: a leg
    on `mode`, a strategy's own settings on it, and a system without a reranker has one of depth 0.

    A foreign system has none, for nothing is known of it.
    """
    if row["mode"] == FOREIGN:
        return {}
    values = {name: value for name, value in row.items() if not is_absent(value)}
    if "rerank_depth" not in values:
        return values | {"rerank_depth": OFF}
    # No threshold is a value of a system that has a reranker.
    return dict.fromkeys(setting.name for setting in of_stage("rerank")) | values


def change_name(name: str, a: Row, b: Row) -> str:
    """What a change of one setting is called: the setting, or the stage that one of both lacks."""
    setting = SETTINGS[name]
    whole = setting.takes_stage and (is_absent(a[name]) or is_absent(b[name]))
    return setting.stage if whole else name


def value_text(row: Row, change: str) -> str:
    """What a system has of a setting in words; of the stage `rerank` its model and depth."""
    if change != "rerank":
        return SETTINGS[change].label(row[change])
    depth = row["rerank_depth"]
    return "off" if is_absent(depth) else f"{row['rerank_model']}@{depth_text(depth)}"


def chunks_label(row: Row) -> str:
    """How a system cuts documents, like `fixed-400/50`; `-` for a foreign system, whose chunks are
    its own."""
    if row["chunk_strategy"] is None:
        return "-"
    return chunk_label(**{setting.key: row[setting.name] for setting in of_group("chunks")})


def search_label(row: Row) -> str:
    """Which legs a system has, like `hybrid 0.6`; a foreign system is known by its name."""
    if row["mode"] == FOREIGN:
        return str(row["system"])
    alpha = row["alpha"]
    return str(row["mode"]) if alpha is None else f"{row['mode']} {text_of(alpha)}"


def rerank_label(row: Row, several_models: bool) -> str:
    """The depth of a system's reranker, behind its model where a table has several; `-` without."""
    depth = row["rerank_depth"]
    if depth is None:
        return "-"
    model = f"{file_name(row['rerank_model'])}@" if several_models else ""
    return model + depth_text(depth)
