"""Experiment: one TOML file, read and checked as a whole."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from lab.chunking.numbers import CountFromZero, Number
from lab.config.config import problem
from lab.config.grid import Grid
from lab.config.own_metrics import function_name, load_function, taken_out
from lab.config.retriever import RetrieverConfig
from lab.config.settings import TABLES
from lab.config.toml import read_toml
from lab.errors import ConfigError, nearest, visible
from lab.evaluation.metrics import PYTHON, WEIGHTED, parse_metric
from lab.evaluation.own import OwnMetric
from lab.retrieval.synonyms import read_synonyms

CONTEXT_K = 10
# Bytes; what is written beside a folder adds some to its name, and file systems hold 255.
LONGEST_NAME = 200


def _any(metrics: tuple[str, ...]) -> tuple[str, ...]:
    if not metrics:
        raise ValueError("expected at least one metric, like 'recall@5'")
    return metrics


class Measure(BaseModel):
    """What is measured: metrics by name, the one that chooses, the judged unit, and how much of a
    piece must be held.

    `weights` gives metrics a weight each; their weighted mean then is a metric of its own,
    `weighted`, and chooses. `sealed` is the share of questions set aside for one last score of the
    recommended system: whole documents by chance, or the latest questions if `sealed_by` is "date".
    `python` names functions in files that are metrics as well; in Python a function may stand among
    `metrics` itself (see `lab.evaluation.own`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    metrics: Annotated[tuple[str, ...], AfterValidator(_any)] = (
        "recall@5",
        "precision@3",
        "ndcg@10",
    )
    select_by: str = "ndcg@10"
    unit: Literal["auto", "evidence", "document"] = "auto"
    hold: Annotated[Number, Field(gt=0, le=1)] = 0.9
    weights: dict[str, Annotated[Number, Field(gt=0, le=1e6)]] = {}
    sealed: Annotated[Number, Field(ge=0, le=0.8)] = 0.0
    sealed_by: Literal["documents", "date"] = "documents"
    python: tuple[str, ...] = ()
    seed: CountFromZero = 0
    _functions: dict[str, OwnMetric] = PrivateAttr(default_factory=dict)

    def __init__(self, **values: Any) -> None:
        functions, named = taken_out(values.get("metrics", ()))
        try:
            super().__init__(**values | ({"metrics": named} if functions else {}))
        except ValidationError as fault:
            raise ConfigError(_problems(fault)) from None
        self._functions = functions

    @model_validator(mode="before")
    @classmethod
    def _python_is_measured(cls, values: Any) -> Any:
        places = values.get("python")
        if isinstance(places, str):
            places = (places,)
        if not isinstance(places, list | tuple) or not all(isinstance(p, str) for p in places):
            return values
        try:
            labels = [PYTHON + function_name(place) for place in places]
        except ConfigError as fault:
            raise ValueError(str(fault)) from None
        metrics = values.get("metrics", cls.model_fields["metrics"].default)
        return values | {"python": places, "metrics": (*metrics, *labels)}

    def own_metrics(self) -> dict[str, OwnMetric]:
        """The user's own metrics by name; runs the files that `python` names. Raises ConfigError
        when one cannot be run, and for a name that no function has."""
        found = {function_name(place): load_function(place) for place in self.python}
        found |= self._functions
        asked = (parse_metric(metric).function for metric in self.measured)
        lacking = [name for name in asked if name and name not in found]
        if lacking:
            raise ConfigError(
                f"measure.metrics names python:{name}, which is no function that was given"
                for name in lacking
            )
        return found

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: tuple[str, ...]) -> tuple[str, ...]:
        problems: list[str] = []
        for metric in metrics:
            try:
                parse_metric(metric)
            except ConfigError as fault:
                problems.extend(fault.problems)
        if problems:
            raise ValueError("; ".join(problems))
        return tuple(dict.fromkeys(parse_metric(metric).label for metric in metrics))

    @field_validator("select_by")
    @classmethod
    def _quality(cls, metric: str) -> str:
        if metric == WEIGHTED:
            return metric
        try:
            parsed = parse_metric(metric)
        except ConfigError as fault:
            raise ValueError(str(fault)) from None
        if parsed.is_cost:
            raise ValueError("expected a quality metric, not a cost")
        return parsed.label

    @model_validator(mode="before")
    @classmethod
    def _weights_choose(cls, values: Any) -> Any:
        return (
            {"select_by": WEIGHTED} | values
            if isinstance(values, dict) and values.get("weights")
            else values
        )

    @model_validator(mode="after")
    def _weighted_is_measured(self) -> "Measure":
        measured = [metric for metric in self.measured if not parse_metric(metric).is_cost]
        unknown = [metric for metric in self.weights if metric not in measured]
        if unknown:
            raise ValueError(
                f"weights names {', '.join(unknown)}; expected quality metrics that are measured: "
                f"{', '.join(measured)}"
            )
        if self.select_by == WEIGHTED and not self.weights:
            raise ValueError(f"select_by is '{WEIGHTED}', but weights is empty")
        return self

    @property
    def measured(self) -> tuple[str, ...]:
        """Every metric that is computed from rankings, the selecting one included."""
        return tuple(
            dict.fromkeys(
                metric for metric in (*self.metrics, self.select_by) if metric != WEIGHTED
            )
        )

    @property
    def context_k(self) -> int:
        """The cut-off at which context tokens are counted: the selecting metric's, 10 where it has
        none in chunks."""
        chosen = None if self.select_by == WEIGHTED else parse_metric(self.select_by)
        return chosen.k if chosen and chosen.k and not chosen.by_tokens else CONTEXT_K


class Experiment(BaseModel):
    """One experiment file, read and checked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    corpus: Path
    diagnostic_sets: tuple[Path, ...]
    grid: Grid
    measure: Measure
    retrievers: tuple[RetrieverConfig, ...] = ()


TOP_KEYS = ("name", "corpus", "diagnostic_sets", "measure", "retriever", "features", *TABLES)


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
    corpus, sets = _paths(plain, path, problems)
    values = _grid_values(plain, path, problems)
    if "synonyms" in values:
        values["synonyms"] = _synonyms(values["synonyms"], path, problems)
    grid = _grid(values, path, problems)
    measure = _measure(plain.get("measure", {}), path, problems)
    retrievers = _retrievers(plain.get("retriever", []), path, problems)
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
    )


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


def _synonyms(plain: Any, path: Path, problems: list[str]) -> list[str]:
    """The files of rules where they lie, looked for like the other paths, and every bad line in
    them."""
    found = []
    for name in plain if isinstance(plain, list) else [plain]:
        if not isinstance(name, str):
            problems.append(
                f"{path}: bm25.synonyms is {name!r}; expected the path of a file of rules, or '' "
                "for none"
            )
            continue
        place = next((p for p in (Path(name), path.parent / name) if p.is_file()), None)
        if name and place is None:
            problems.append(
                f"{path}: bm25.synonyms '{name}' does not exist, neither from here nor from "
                f"{path.parent}"
            )
        elif place is not None:
            try:
                read_synonyms(place)
            except ConfigError as fault:
                problems.extend(fault.problems)
        found.append(str(place) if name and place else name)
    return found or [""]


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
    found = next((p for p in (Path(file), path.parent / file) if p.is_file()), None)
    if colon and found is None:
        problems.append(
            f"{path}: measure.python '{file}' does not exist, neither from here nor from "
            f"{path.parent}"
        )
    return f"{found or file}{colon}{name}"


def _problems(fault: ValidationError) -> Iterator[str]:
    """Errors of a Measure under the keys of the experiment file."""
    for error in fault.errors():
        if error["type"] == "extra_forbidden":
            yield (
                "unknown key "
                f"'measure.{error['loc'][0]}'{nearest(str(error['loc'][0]), Measure.model_fields)}"
            )
        else:
            yield problem(
                ".".join(map(str, ("measure", *error["loc"]))), error["msg"], error.get("input")
            )


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
                problems.append(
                    f"{path}: {key} '{value}' does not exist, neither from here nor from "
                    f"{path.parent}"
                )
            found.append(place or Path(value))
    return found[0], tuple(found[1:])


def _retrievers(plain: Any, path: Path, problems: list[str]) -> tuple[RetrieverConfig, ...]:
    """The `[[retriever]]` tables; run files are looked for like the other paths."""
    if not isinstance(plain, list) or not all(isinstance(table, dict) for table in plain):
        problems.append(
            f"{path}: 'retriever' is {plain!r}; expected tables [[retriever]], with double brackets"
        )
        return ()
    found: dict[str, RetrieverConfig] = {}
    for number, table in enumerate(plain, start=1):
        place = f"retriever {number}"
        try:
            config = RetrieverConfig.model_validate(table)
        except ValidationError as fault:
            for error in fault.errors():
                key = str(error["loc"][0]) if error["loc"] else ""
                if error["type"] == "extra_forbidden":
                    meant = nearest(key, RetrieverConfig.model_fields)
                    problems.append(f"{path}: unknown key '{key}' in {place}{meant}")
                else:
                    where = ".".join(map(str, (place, *error["loc"])))
                    problems.append(f"{path}: {problem(where, error['msg'], error.get('input'))}")
            continue
        if config.run is not None:
            run = next((p for p in (config.run, path.parent / config.run) if p.is_file()), None)
            if run is None:
                problems.append(
                    f"{path}: run '{config.run}' of {place} does not exist, neither from here nor "
                    f"from {path.parent}"
                )
            config = config.model_copy(update={"run": run})
        if config.name in found:
            problems.append(
                f"{path}: {place} is the second of the name '{config.name}'; names must be unique"
            )
        found[config.name] = config
    return tuple(found.values())
