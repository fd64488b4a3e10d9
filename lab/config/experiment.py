"""Experiment: one TOML file, read and checked as a whole."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from lab.chunking.prefix import FILE
from lab.config.grid import Grid
from lab.config.hosted import HostedEncoderConfig, HostedRerankerConfig
from lab.config.measure import Measure
from lab.config.named_tables import named_tables
from lab.config.phases import check_phases
from lab.config.retriever import RetrieverConfig
from lab.config.settings import TABLES
from lab.config.toml import read_toml
from lab.errors import ConfigError, nearest, visible
from lab.retrieval.synonyms import read_synonyms

# Bytes; what is written beside a folder adds some to its name, and file systems hold 255.
LONGEST_NAME = 200


class Experiment(BaseModel):
    """One experiment file, read and checked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    corpus: Path
    diagnostic_sets: tuple[Path, ...]
    grid: Grid
    measure: Measure
    retrievers: tuple[RetrieverConfig, ...] = ()
    encoders: tuple[HostedEncoderConfig, ...] = ()
    rerankers: tuple[HostedRerankerConfig, ...] = ()
    shards: int = 1

    @property
    def models(self) -> dict[str, Any]:
        """What a sweep is given in place of models to load."""
        return {
            "encoders": {encoder.name: encoder for encoder in self.encoders},
            "rerankers": {reranker.name: reranker for reranker in self.rerankers},
        }


TOP_KEYS = (
    "name",
    "corpus",
    "diagnostic_sets",
    "measure",
    "retriever",
    "encoder",
    "reranker",
    "features",
    *TABLES,
)


def read_experiment(path: str | Path) -> Experiment:
    """Read a TOML experiment. Paths in it are taken from the working directory, else from the
    file's folder.

    Raises ConfigError with every unknown key, bad value and missing path.
    """
    path = Path(path)
    plain = read_toml(path)
    problems = [
        f"{path}: unknown key '{key}'{nearest(key, TOP_KEYS)}"
        for key in plain
        if key not in TOP_KEYS
    ]
    plain, shards = _corpus(plain, path, problems)
    corpus, sets = _paths(plain, path, problems)
    values = _grid_values(plain, path, problems)
    for name, lying in (("prefix", _prefixes), ("synonyms", _synonyms)):
        if name in values:
            values[name] = lying(values[name], path, problems)
    grid = _grid(values, path, problems)
    measure = _measure(plain.get("measure", {}), path, problems)
    try:
        check_phases(grid, measure)
    except ConfigError as fault:
        problems.extend(f"{path}: {problem}" for problem in fault.problems)
    retrievers = _retrievers(plain.get("retriever", []), path, problems)
    encoders, rerankers = _hosted(plain, grid, path, problems)
    name = _name(plain.get("name", path.stem), path, problems)
    if problems:
        raise ConfigError(problems)
    return Experiment(
        name=name,
        corpus=corpus,
        diagnostic_sets=sets,
        grid=grid,
        measure=measure,
        retrievers=retrievers,
        encoders=encoders,
        rerankers=rerankers,
        shards=shards,
    )


def _corpus(plain: dict[str, Any], path: Path, problems: list[str]) -> tuple[dict[str, Any], int]:
    """The file with its `[corpus]` table, if it has one, as the path alone; and the table's
    shards."""
    table = plain.get("corpus")
    if not isinstance(table, dict):
        return plain, 1
    keys = ("path", "shards")
    problems.extend(
        f"{path}: unknown key 'corpus.{key}'{nearest(key, keys)}"
        for key in table
        if key not in keys
    )
    shards = table.get("shards", 1)
    if not isinstance(shards, int) or isinstance(shards, bool) or shards < 1:
        problems.append(f"{path}: corpus.shards is {shards!r}; expected a whole number from 1")
        shards = 1
    return {**plain, "corpus": table.get("path")}, shards


def _name(value: Any, path: Path, problems: list[str]) -> str:
    """The experiment's name, which becomes the name of its run's folder."""
    wrong = (
        not isinstance(value, str)
        or not value.strip()
        or value != visible(value)
        or "/" in value
        or value in (".", "..")
        or len(value.encode()) > LONGEST_NAME
    )
    if wrong:
        problems.append(
            f"{path}: name is {str(value)[:80]!r}; expected a name for a folder: at most "
            f"{LONGEST_NAME} bytes, without '/' and control characters"
        )
    return str(value)


def _grid_values(plain: Mapping[str, Any], path: Path, problems: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {"features": plain["features"]} if "features" in plain else {}
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


def _prefixes(plain: Any, path: Path, problems: list[str]) -> list[Any]:
    """The same with files of contexts where they lie."""
    values = list(plain) if isinstance(plain, list) else [plain]
    for at, value in enumerate(values):
        if isinstance(value, str) and value.startswith(FILE):
            name = value.removeprefix(FILE)
            values[at] = f"{FILE}{_place(name, path, f'chunk.prefix {value}', problems) or name}"
    return values


def _synonyms(plain: Any, path: Path, problems: list[str]) -> list[str]:
    """The files of rules where they lie, looked for like the other paths, and every bad line in
    them."""
    rules = []
    for name in plain if isinstance(plain, list) else [plain]:
        if not isinstance(name, str):
            problems.append(
                f"{path}: bm25.synonyms is {name!r}; expected the path of a file of rules, or '' "
                "for none"
            )
            continue
        place = _place(name, path, f"bm25.synonyms '{name}'", problems) if name else None
        if place is not None:
            try:
                read_synonyms(place)
            except ConfigError as fault:
                problems.extend(fault.problems)
        rules.append(str(place or name))
    return rules or [""]


def _grid(values: Mapping[str, Any], path: Path, problems: list[str]) -> Grid:
    """The grid of the settings that are right by themselves, checked for impossible cells as
    well."""
    right: dict[str, Any] = {}
    for key, value in values.items():
        try:
            Grid(**{key: value})
            right[key] = value
        except ConfigError as fault:
            problems.extend(f"{path}: {problem}" for problem in fault.problems)
    grid = Grid(**right)
    try:
        grid.systems()
    except ConfigError as fault:
        problems.extend(f"{path}: {problem}" for problem in fault.problems)
    return grid


def _measure(plain: Any, path: Path, problems: list[str]) -> Measure:
    if not isinstance(plain, dict):
        problems.append(f"{path}: 'measure' is {plain!r}; expected a table [measure]")
        return Measure()
    places = plain.get("python", ())
    places = [places] if isinstance(places, str) else places
    if isinstance(places, list) and all(isinstance(place, str) for place in places):
        plain = plain | ({"python": [_python(p, path, problems) for p in places]} if places else {})
    try:
        return Measure(**plain)
    except ConfigError as fault:
        problems.extend(f"{path}: {problem}" for problem in fault.problems)
        return Measure()


def _python(place: str, path: Path, problems: list[str]) -> str:
    """`file.py:name` with the file where it lies, looked for like the other paths."""
    file, colon, name = place.rpartition(":")
    lying = _place(file, path, f"measure.python '{file}'", problems) if colon else None
    return f"{lying or file}{colon}{name}"


def _paths(
    plain: Mapping[str, Any], path: Path, problems: list[str]
) -> tuple[Path, tuple[Path, ...]]:
    sets = plain.get("diagnostic_sets")
    for key, value in (("corpus", plain.get("corpus")), ("diagnostic_sets", sets)):
        if value is None:
            problems.append(
                f"{path}: key '{key}' is missing; expected the path of "
                f"{'documents' if key == 'corpus' else 'questions'}"
            )
    places = []
    for key, value in [
        ("corpus", plain.get("corpus")),
        *(("diagnostic_sets", s) for s in (sets if isinstance(sets, list) else [sets])),
    ]:
        if value is None:
            places.append(Path())
        elif not isinstance(value, str):
            problems.append(f"{path}: '{key}' is {value!r}; expected a path")
            places.append(Path())
        else:
            lying = _place(value, path, f"{key} '{value}'", problems, folder=True)
            places.append(lying or Path(value))
    return places[0], tuple(places[1:])


def _place(
    name: str | Path, path: Path, what: str, problems: list[str], *, folder: bool = False
) -> Path | None:
    """Where a file (or a `folder`) of that name lies: in the working directory, else beside the
    experiment; None and a problem where it does not."""
    there = Path.exists if folder else Path.is_file
    for place in (Path(name), path.parent / name):
        if there(place):
            return place
    problems.append(f"{path}: {what} does not exist, neither from here nor from {path.parent}")
    return None


def _retrievers(plain: Any, path: Path, problems: list[str]) -> tuple[RetrieverConfig, ...]:
    """The `[[retriever]]` tables; run files are looked for like the other paths."""
    configs = named_tables(plain, "retriever", RetrieverConfig, path, problems)
    for name, config in configs.items():
        files = {key: getattr(config, key) for key in ("run", "chunks")}
        places = {
            key: _place(file, path, f"{key} '{file}' of retriever '{name}'", problems)
            for key, file in files.items()
            if file is not None
        }
        configs[name] = config.model_copy(update=places)
    return tuple(configs.values())


def _hosted(
    plain: Mapping[str, Any], grid: Grid, path: Path, problems: list[str]
) -> tuple[tuple[HostedEncoderConfig, ...], tuple[HostedRerankerConfig, ...]]:
    """The `[[encoder]]` and `[[reranker]]` tables. One that no setting names is a typing error."""
    encoders = named_tables(
        plain.get("encoder", []), "encoder", HostedEncoderConfig, path, problems
    )
    rerankers = named_tables(
        plain.get("reranker", []), "reranker", HostedRerankerConfig, path, problems
    )
    for kind, configs, key, named in (
        ("encoder", encoders, "dense.model", grid.model),
        ("reranker", rerankers, "rerank.model", grid.rerank_model),
    ):
        problems.extend(
            f"{path}: {kind} '{name}' is named by no {key}{nearest(name, map(str, named))}"
            for name in configs
            if name not in named
        )
    return tuple(encoders.values()), tuple(rerankers.values())
