"""Tables of an experiment that may be repeated, each with a name of its own: `[[retriever]]`,
`[[encoder]]`, `[[reranker]]`."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from lab.config.config import problem
from lab.errors import nearest

T = TypeVar("T", bound=BaseModel)


def named_tables(
    plain: Any, key: str, kind: type[T], path: Path, problems: list[str]
) -> dict[str, T]:
    """The tables `[[key]]` of the experiment at `path` by their field `name`; what is wrong with
    one becomes lines of `problems`."""
    if not isinstance(plain, list) or not all(isinstance(table, dict) for table in plain):
        problems.append(
            f"{path}: '{key}' is {plain!r}; expected tables [[{key}]], with double brackets"
        )
        return {}
    configs: dict[str, T] = {}
    for number, table in enumerate(plain, start=1):
        place = f"{key} {number}"
        try:
            config = kind.model_validate(table)
        except ValidationError as fault:
            problems.extend(f"{path}: {line}" for line in _lines(fault, place, kind))
            continue
        name = str(getattr(config, "name"))  # noqa: B009 - every such table has one
        if name in configs:
            problems.append(
                f"{path}: {place} is the second of the name '{name}'; names must be unique"
            )
            continue
        configs[name] = config
    return configs


def _lines(fault: ValidationError, place: str, kind: type[BaseModel]) -> list[str]:
    lines = []
    for error in fault.errors():
        key = str(error["loc"][0]) if error["loc"] else ""
        if error["type"] == "extra_forbidden":
            lines.append(f"unknown key '{key}' in {place}{nearest(key, kind.model_fields)}")
        else:
            where = ".".join(map(str, (place, *error["loc"])))
            # An address may hold a secret, and is not repeated.
            value = "..." if key == "url" else error.get("input")
            lines.append(problem(where, error["msg"], value))
    return lines
