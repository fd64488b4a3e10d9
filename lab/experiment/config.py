"""The control panel: Config is one system, Grid is what is swept, Experiment is one TOML file."""

import itertools
import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, ValidationError, field_validator, model_validator

from lab.chunking.config import DELIVER, ChunkConfig, Deliver, Size, Strategy, Unit
from lab.errors import ConfigError, nearest
from lab.evaluation.metrics import parse_metric
from lab.retrieval.analyzer import AnalyzerName
from lab.retrieval.config import (
    DEFAULT_MODEL,
    K1,
    MAXSIM,
    BM25Config,
    DenseConfig,
    FusionConfig,
    Index,
    Mode,
    Normalization,
    RerankConfig,
    Threshold,
    UnitInterval,
    Variant,
)

T = TypeVar("T")
DEPTH = 100


class Config(BaseModel):
    """One system: a slice for every stage it has. Without `dense` it is BM25 alone, without `bm25` dense alone, with both
    they are fused; `depth` is how many candidates a leg keeps."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    chunk: ChunkConfig = ChunkConfig()
    bm25: BM25Config | None = BM25Config()
    dense: DenseConfig | None = None
    fusion: FusionConfig | None = None
    rerank: RerankConfig | None = None
    depth: PositiveInt = DEPTH
    deliver: Deliver = "chunk"

    @model_validator(mode="after")
    def _possible(self) -> "Config":
        parent = DELIVER.fullmatch(self.deliver)
        if parent and parent[2] and int(parent[2]) <= max(self.chunk.sizes):
            raise ValueError(f"deliver '{self.deliver}' must be larger than the chunks, size {max(self.chunk.sizes)}")
        if self.rerank is not None and self.rerank.depth > self.depth:
            raise ValueError(f"rerank.depth {self.rerank.depth} exceeds retrieve.depth {self.depth}: no more can be re-scored")
        return self

    @property
    def mode(self) -> Mode:
        if self.bm25 is None:
            return "dense"
        return "bm25" if self.dense is None else "hybrid"

    @property
    def name(self) -> str:
        """Unique and readable: every setting that differs from the default stands in it."""
        words = [self.chunk.label, self.mode]
        if self.bm25 is not None:
            words += _differing(self.bm25, BM25Config())
        if self.dense is not None:
            words += _differing(self.dense, DenseConfig())
        if self.fusion is not None:
            words += [f"alpha={self.fusion.alpha:g}", *_differing(self.fusion, FusionConfig(), skip="alpha")]
        if self.rerank is not None:
            words += [
                f"rerank={self.rerank.model}@{self.rerank.depth}",
                *_differing(self.rerank, RerankConfig(), skip="model depth"),
            ]
        if self.depth != DEPTH:
            words.append(f"depth={self.depth}")
        if self.deliver != "chunk":
            words.append(self.deliver)
        return " ".join(words)

    def settings(self) -> dict[str, Any]:
        """The system under the names of Grid, None where a setting plays no part: the columns of a table."""
        row: dict[str, Any] = {}
        for key, (part, field) in SETTINGS.items():
            owner = self if part == "" else getattr(self, part)
            row[key] = None if owner is None else getattr(owner, field)
        if self.chunk.strategy == "document":
            row |= {"chunk_size": None, "overlap": None, "unit": None}
        return row

    def to_toml(self) -> str:
        """The system as TOML tables; `Config.from_toml` gives an equal one back."""
        plain = self.model_dump(exclude_none=True)
        own = {key: value for key, value in plain.items() if not isinstance(value, dict)}
        lines = [f"{key} = {_toml(value)}" for key, value in own.items()]
        for key, table in plain.items():
            if isinstance(table, dict):
                lines += ["", f"[{key}]", *(f"{name} = {_toml(value)}" for name, value in table.items())]
        if self.bm25 is None:
            lines.insert(0, "bm25 = false")
        return "\n".join(lines) + "\n"

    @staticmethod
    def from_toml(text: str) -> "Config":
        """Read what `to_toml` wrote; raises ConfigError with every problem."""
        try:
            plain = tomllib.loads(text)
            return Config.model_validate({key: None if value is False else value for key, value in plain.items()})
        except tomllib.TOMLDecodeError as fault:
            raise ConfigError(f"not TOML: {fault}") from None
        except ValidationError as fault:
            raise ConfigError(_problem(".".join(map(str, e["loc"])), e["msg"], e.get("input")) for e in fault.errors()) from None


def _toml(value: Any) -> str:
    # JSON's strings, numbers, booleans and lists are TOML's.
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def _differing(slice_: BaseModel, default: BaseModel, skip: str = "") -> list[str]:
    values = ((key, getattr(slice_, key)) for key in type(slice_).model_fields if key not in skip.split())
    return [_word(key, value) for key, value in values if value != getattr(default, key)]


def _word(key: str, value: Any) -> str:
    if key == "model":
        return Path(str(value)).name
    return str(value) if isinstance(value, str) else f"{key}={value:g}"


# Grid's names -> (slice of Config, its field).
SETTINGS: dict[str, tuple[str, str]] = {
    "chunk_strategy": ("chunk", "strategy"),
    "chunk_size": ("chunk", "size"),
    "overlap": ("chunk", "overlap"),
    "unit": ("chunk", "unit"),
    "deliver": ("", "deliver"),
    "analyzer": ("bm25", "analyzer"),
    "variant": ("bm25", "variant"),
    "k1": ("bm25", "k1"),
    "b": ("bm25", "b"),
    "model": ("dense", "model"),
    "index": ("dense", "index"),
    "mode": ("", "mode"),
    "depth": ("", "depth"),
    "normalization": ("fusion", "normalization"),
    "alpha": ("fusion", "alpha"),
    "rerank_model": ("rerank", "model"),
    "rerank_depth": ("rerank", "depth"),
    "threshold": ("rerank", "threshold"),
    "blend": ("rerank", "blend"),
}

# Keys of the experiment file -> Grid's names. The same words, inside their tables.
TABLES: dict[str, dict[str, str]] = {
    "chunk": {"strategy": "chunk_strategy", "size": "chunk_size", "overlap": "overlap", "unit": "unit", "deliver": "deliver"},
    "bm25": {"analyzer": "analyzer", "variant": "variant", "k1": "k1", "b": "b"},
    "dense": {"model": "model", "index": "index"},
    "retrieve": {"mode": "mode", "depth": "depth"},
    "fusion": {"normalization": "normalization", "alpha": "alpha"},
    "rerank": {"model": "rerank_model", "depth": "rerank_depth", "threshold": "threshold", "blend": "blend"},
}


def _axis(value: Any) -> Any:
    """One value, a list or tuple of values, or {start, stop, step}: always a tuple of distinct values."""
    if isinstance(value, dict) and set(value) == {"start", "stop", "step"}:
        value = _range(value)
    if not isinstance(value, list | tuple):
        return (value,)
    return tuple(dict.fromkeys(tuple(v) if isinstance(v, list) else v for v in value))


def _range(value: Mapping[str, Any]) -> list[float]:
    start, stop, step = (value[key] for key in ("start", "stop", "step"))
    if not all(isinstance(v, int | float) for v in (start, stop, step)) or not step > 0 or not start <= stop:
        raise ValueError("expected numbers with start <= stop and step > 0, like {start = 0.0, stop = 1.0, step = 0.1}")
    # Rounding keeps 0.30000000000000004 out of names and tables.
    return [round(start + i * step, 10) for i in range(int((stop - start) / step + 1e-9) + 1)]


def _depth_or_off(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("expected a whole number from 0 (off)")
    return value


Axis = Annotated[tuple[T, ...], BeforeValidator(_axis), Field(min_length=1)]
RerankDepth = Annotated[int, BeforeValidator(_depth_or_off)]


class Grid(BaseModel):
    """What is swept: each setting takes one value or several, the systems are the product, and cells that a setting cannot
    change (alpha without fusion, k1 without BM25) appear once."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    chunk_strategy: Axis[Strategy] = ("fixed",)
    chunk_size: Axis[Size] = (400,)
    overlap: Axis[Annotated[int, Field(ge=0)]] = (0,)
    unit: Axis[Unit] = ("characters",)
    deliver: Axis[Deliver] = ("chunk",)
    analyzer: Axis[AnalyzerName] = ("auto",)
    variant: Axis[Variant] = ("lucene",)
    k1: Axis[K1] = (1.2,)
    b: Axis[UnitInterval] = (0.75,)
    model: Axis[str] = (DEFAULT_MODEL,)
    index: Axis[Index] = ("exact",)
    mode: Axis[Mode] = ("bm25", "dense", "hybrid")
    depth: Axis[PositiveInt] = (DEPTH,)
    normalization: Axis[Normalization] = ("min-max",)
    alpha: Axis[UnitInterval] = (0.5,)
    rerank_model: Axis[str] = ("maxsim",)
    rerank_depth: Axis[RerankDepth] = (0,)
    threshold: Axis[Threshold | None] = (None,)
    blend: Axis[UnitInterval] = (1.0,)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as fault:
            raise ConfigError(_grid_problems(fault, {})) from None

    def systems(self) -> tuple[tuple[Config, ...], tuple[str, ...]]:
        """Every distinct system in the order of the product, and a line for each cell that is impossible.

        Raises ConfigError when no cell is possible.
        """
        found: dict[Config, None] = {}
        impossible: dict[str, None] = {}
        for cell in itertools.product(*(getattr(self, key) for key in SETTINGS)):
            values = dict(zip(SETTINGS, cell, strict=True))
            try:
                found[_system(values)] = None
            except ValidationError as fault:
                for error in fault.errors():
                    impossible[f"impossible cell: {error['msg'].removeprefix('Value error, ')}"] = None
        if not found:
            raise ConfigError(impossible)
        return tuple(found), tuple(impossible)


def _system(values: Mapping[str, Any]) -> Config:
    """One cell of the grid with the slices that its mode reads."""
    slices: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        part, field = SETTINGS[key]
        slices.setdefault(part, {})[field] = value
    mode, chunk, rerank, deliver = values["mode"], slices["chunk"], slices["rerank"], values["deliver"]
    if chunk["strategy"] == "document":
        chunk, deliver = {"strategy": "document"}, "chunk"
    elif chunk["unit"] == "tokens":
        chunk["tokenizer"] = values["model"]
    if rerank["model"] == MAXSIM and values["model"] != DEFAULT_MODEL:
        # The late interaction of a BM25 system needs a model too, and it is the sweep's.
        rerank["model"] = f"{MAXSIM}:{values['model']}"
    return Config(
        chunk=ChunkConfig(**chunk),
        bm25=BM25Config(**slices["bm25"]) if mode != "dense" else None,
        dense=DenseConfig(**slices["dense"]) if mode != "bm25" else None,
        fusion=FusionConfig(**slices["fusion"]) if mode == "hybrid" else None,
        rerank=RerankConfig(**rerank) if rerank["depth"] else None,
        depth=values["depth"],
        deliver=deliver,
    )


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
            else _problem(".".join(map(str, ("measure", *error["loc"]))), error["msg"], error.get("input"))
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


def _grid_problems(fault: ValidationError, names: Mapping[str, str]) -> Iterable[str]:
    """Errors of a Grid under the keys of the experiment file, each bad value once."""
    keys = {grid: f"{table}.{key}" for table, content in TABLES.items() for key, grid in content.items()}
    problems: dict[str, None] = {}
    for error in fault.errors():
        field = str(error["loc"][0])
        if error["type"] == "extra_forbidden":
            problems[f"unknown setting '{field}'{nearest(field, Grid.model_fields)}"] = None
        else:
            problems[_problem(keys.get(field, field), error["msg"], error.get("input"))] = None
    return problems


def _problem(key: str, message: str, found: Any) -> str:
    message = message.removeprefix("Value error, ").replace("Input should be", "expected").replace("input should be", "expected")
    return f"{key} is {found!r}; {message}"
