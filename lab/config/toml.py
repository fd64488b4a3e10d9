"""TOML files: experiments and rules, read by one reader; and values as they stand in them."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from lab.config.axis import plain
from lab.corpus.lines import read_text
from lab.errors import ConfigError

# Bytes of a file that people write by hand.
LARGEST = 4_000_000
# Tables in tables, and parts of a dotted key; and what no key without quotes has in it.
DEEPEST = 50
BETWEEN = re.compile(r"[^\w.\"' \t-]+")


def read_toml(path: Path) -> dict[str, Any]:
    """The file's tables; a byte order mark is no part of them. Raises ConfigError when it cannot be
    read."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise ConfigError(f"{path}: cannot be read ({reason})") from None
    if size > LARGEST:
        raise ConfigError(
            f"{path}: {size:,} bytes; expected a file of settings, at most {LARGEST:,} bytes"
        )
    text = read_text(path, ConfigError).replace("\r\n", "\n")
    # tomllib takes time by the square of a dotted key's length.
    if any(part.count(".") > DEEPEST for part in BETWEEN.split(text)):
        raise ConfigError(f"{path}: a key has more than {DEEPEST} dots")
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise ConfigError(f"{path}: not TOML ({fault})") from None
    except (ValueError, RecursionError) as fault:
        # A number of thousands of digits, or brackets nested a thousand deep.
        raise ConfigError(f"{path}: not TOML that can be read ({fault})") from None
    if _deeper(tables, DEEPEST):
        raise ConfigError(f"{path}: tables lie more than {DEEPEST} deep in each other")
    return tables


def _deeper(value: Any, depth: int) -> bool:
    """Whether tables and lists are nested more than `depth` deep; level by level, for no recursion
    goes as deep as a dotted key."""
    level = [value]
    for _ in range(depth):
        parts = (entry.values() if isinstance(entry, dict) else entry for entry in level)
        level = [inner for part in parts for inner in part if isinstance(inner, dict | list)]
        if not level:
            return False
    return True


def toml_axis(value: Any) -> str:
    """One value of a setting; several sizes or views together are a list in the list."""
    value = plain(value)
    return toml_value([list(value)] if isinstance(value, list | tuple) else value)


def toml_value(value: Any) -> str:
    """A value as TOML, tables inline."""
    if isinstance(value, dict):
        inside = ", ".join(f"{toml_value(key)} = {toml_value(each)}" for key, each in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if hasattr(value, "model_dump"):
        return toml_value(value.model_dump(mode="json"))
    # JSON's strings, numbers, booleans and lists are TOML's, but that TOML wants DEL escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
