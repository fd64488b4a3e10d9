"""Experiment: one TOML file, read and checked as a whole."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from lab.errors import ConfigError, nearest
from lab.evaluation.metrics import parse_metric
from lab.experiment.config import problem
from lab.experiment.grid import TABLES, Grid


class Measure(BaseModel):
    """What is measured: metrics by name, the one that chooses, the judged unit, and how much of a piece must be held."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    metrics: tuple[str, ...] = ("recall@5", "precision@3", "ndcg@10")
    select_by: str = "ndcg@10"
    unit: Literal["auto", "evidence", "document"] = "auto"
    hold: Annotated[float, Field(gt=0, le=1)] = 0.9
    seed: int = 0

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(parse_metric(metric).label for metric in metrics))

    @field_validator("select_by")
    @classmethod
    def _quality(cls, metric: str) -> str:
        if parse_metric(metric).is_cost:
            raise ValueError("expected a quality metric, not a cost")
        return parse_metric(metric).label


class Experiment(BaseModel):
    """One experiment file, read and checked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    corpus: Path
    diagnostic_sets: tuple[Path, ...]
    grid: Grid
    measure: Measure


TOP_KEYS = ("name", "corpus", "diagnostic_sets", "measure", *TABLES)


def read_experiment(path: str | Path) -> Experiment:
    """Read a TOML experiment. Paths in it are taken from the working directory, else from the file's folder.

    Raises ConfigError with every unknown key, bad value and missing path.
    """
    path = Path(path)
    try:
        plain = tomllib.loads(path.read_text("utf-8"))
    except OSError as fault:
        raise ConfigError(f"{path}: cannot be read ({fault.strerror})") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise ConfigError(f"{path}: not TOML ({fault})") from None
    problems = [f"{path}: unknown key '{key}'{nearest(key, TOP_KEYS)}" for key in plain if key not in TOP_KEYS]
    values, measure = _grid_values(plain, path, problems), plain.get("measure", {})
    corpus, sets = _paths(plain, path, problems)
    parts: dict[str, Any] = {}
    for key, build in (("grid", lambda: Grid(**values)), ("measure", lambda: _measure(measure))):
        try:
            parts[key] = build()
        except ConfigError as fault:
            problems.extend(f"{path}: {problem}" for problem in fault.problems)
    if "grid" in parts:
        try:
            parts["grid"].systems()
        except ConfigError as fault:
            problems.extend(f"{path}: {problem}" for problem in fault.problems)
    if problems:
        raise ConfigError(problems)
    name = str(plain.get("name", path.stem))
    return Experiment(name=name, corpus=corpus, diagnostic_sets=sets, **parts)


def _grid_values(plain: Mapping[str, Any], path: Path, problems: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for table, keys in TABLES.items():
        content = plain.get(table, {})
        if not isinstance(content, dict):
            problems.append(f"{path}: '{table}' is {content!r}; expected a table [{table}]")
            continue
        for key, value in content.items():
            if key in keys:
                values[keys[key]] = value
            else:
                problems.append(f"{path}: unknown key '{table}.{key}'{nearest(key, keys)}")
    return values


def _measure(plain: Any) -> Measure:
    try:
        return Measure.model_validate(plain)
    except ValidationError as fault:
        raise ConfigError(
            f"unknown key 'measure.{error['loc'][0]}'{nearest(str(error['loc'][0]), Measure.model_fields)}"
            if error["type"] == "extra_forbidden"
            else problem(".".join(map(str, ("measure", *error["loc"]))), error["msg"], error.get("input"))
            for error in fault.errors()
        ) from None


def _paths(plain: Mapping[str, Any], path: Path, problems: list[str]) -> tuple[Path, tuple[Path, ...]]:
    sets = plain.get("diagnostic_sets")
    for key, value in (("corpus", plain.get("corpus")), ("diagnostic_sets", sets)):
        if value is None:
            problems.append(
                f"{path}: key '{key}' is missing; expected the path of {'documents' if key == 'corpus' else 'questions'}"
            )
    found = []
    for key, value in [
        ("corpus", plain.get("corpus")),
        *(("diagnostic_sets", s) for s in (sets if isinstance(sets, list) else [sets])),
    ]:
        if value is None:
            found.append(Path())
        elif not isinstance(value, str):
            problems.append(f"{path}: '{key}' is {value!r}; expected a path")
            found.append(Path())
        else:
            place = next((p for p in (Path(value), path.parent / value) if p.exists()), None)
            if place is None:
                problems.append(f"{path}: {key} '{value}' does not exist, neither from here nor from {path.parent}")
            found.append(place or Path(value))
    return found[0], tuple(found[1:])
