"""Grid: what is swept, and the systems that come of it."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    StrictBool,
    ValidationError,
)

from lab.chunking.config import NO_OVERLAP, ChunkConfig, Deliver, Percentile, Strategy
from lab.chunking.size import Size
from lab.chunking.units import Unit
from lab.config.config import DEPTH, SETTINGS, SWITCHES, Config, problem
from lab.errors import ConfigError, nearest
from lab.relevance.query import Query
from lab.retrieval.analyzer import AnalyzerName
from lab.retrieval.config import (
    DEFAULT_MODEL,
    K1,
    MAXSIM,
    OWN_TEXT,
    BM25Config,
    DenseConfig,
    Device,
    Dtype,
    FeaturesConfig,
    FusionConfig,
    Index,
    Mode,
    Normalization,
    Pooling,
    RerankConfig,
    Threshold,
    UnitInterval,
    Variant,
    Views,
)

T = TypeVar("T")

# Keys of the experiment file -> Grid's names. The same words, inside their tables; `features` is a
# table of the user's own keys.
TABLES: dict[str, dict[str, str]] = {
    "chunk": {
        "strategy": "chunk_strategy",
        "size": "chunk_size",
        "overlap": "overlap",
        "unit": "unit",
        "percentile": "percentile",
        "deliver": "deliver",
    },
    "bm25": {
        "analyzer": "analyzer",
        "variant": "variant",
        "k1": "k1",
        "b": "b",
        "synonyms": "synonyms",
    },
    "dense": {
        "model": "model",
        "index": "index",
        "dtype": "dtype",
        "device": "device",
        "pooling": "pooling",
    },
    "retrieve": {
        "mode": "mode",
        "depth": "depth",
        "views": "views",
        "variants": "variants",
        "filter": "filter",
    },
    "fusion": {"normalization": "normalization", "alpha": "alpha"},
    "rerank": {
        "model": "rerank_model",
        "depth": "rerank_depth",
        "threshold": "threshold",
        "blend": "blend",
    },
}


def _axis(value: Any) -> Any:
    """One value, a list or tuple of values, or {start, stop, step}: always a tuple of values."""
    if isinstance(value, dict) and set(value) == {"start", "stop", "step"}:
        value = _range(value)
    if not isinstance(value, list | tuple):
        return (value,)
    return tuple(tuple(v) if isinstance(v, list) else v for v in value)


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


def _range(value: Mapping[str, Any]) -> list[float]:
    start, stop, step = (value[key] for key in ("start", "stop", "step"))
    if (
        not all(isinstance(v, int | float) for v in (start, stop, step))
        or not step > 0
        or not start <= stop
    ):
        raise ValueError(
            "expected numbers with start <= stop and step > 0, like {start = 0.0, stop = 1.0, step "
            "= 0.1}"
        )
    # Rounding keeps 0.30000000000000004 out of names and tables.
    return [round(start + i * step, 10) for i in range(int((stop - start) / step + 1e-9) + 1)]


def _depth_or_off(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("expected a whole number from 0 (off)")
    return value


Axis = Annotated[
    tuple[T, ...], BeforeValidator(_axis), Field(min_length=1), AfterValidator(_distinct)
]


def _feature_cells(value: Any) -> Any:
    """One mapping of metadata fields to weights or several; in each a field may have several
    weights, whose product is swept."""
    cells: list[Any] = []
    for table in value if isinstance(value, list | tuple) else (value,):
        if isinstance(table, dict):
            weights = itertools.product(*map(_axis, table.values()))
            cells.extend(dict(zip(table, cell, strict=True)) for cell in weights)
        else:
            cells.append(table)
    return tuple(cells)


Features = Annotated[
    tuple[FeaturesConfig, ...],
    BeforeValidator(_feature_cells),
    Field(min_length=1),
    AfterValidator(_distinct),
]
RerankDepth = Annotated[int, BeforeValidator(_depth_or_off)]


class Grid(BaseModel):
    """What is swept: each setting takes one value or several, the systems are the product, and
    cells that a setting cannot change (alpha without fusion, k1 without BM25) appear once."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    chunk_strategy: Axis[Strategy] = ("fixed",)
    chunk_size: Axis[Size] = (400,)
    overlap: Axis[Annotated[int, Field(ge=0)]] = (0,)
    unit: Axis[Unit] = ("characters",)
    percentile: Axis[Percentile] = (95.0,)
    deliver: Axis[Deliver] = ("chunk",)
    analyzer: Axis[AnalyzerName] = ("auto",)
    variant: Axis[Variant] = ("lucene",)
    k1: Axis[K1] = (1.2,)
    b: Axis[UnitInterval] = (0.75,)
    synonyms: Axis[str] = ("",)
    model: Axis[str] = (DEFAULT_MODEL,)
    index: Axis[Index] = ("exact",)
    dtype: Axis[Dtype] = ("float32",)
    device: Axis[Device] = ("auto",)
    pooling: Axis[Pooling] = ("chunk",)
    mode: Axis[Mode] = ("bm25", "dense", "hybrid")
    depth: Axis[PositiveInt] = (DEPTH,)
    views: Axis[Views] = ((OWN_TEXT,),)
    variants: Axis[StrictBool] = (False,)
    filter: Axis[StrictBool] = (False,)
    normalization: Axis[Normalization] = ("min-max",)
    alpha: Axis[UnitInterval] = (0.5,)
    features: Features = (FeaturesConfig(),)
    rerank_model: Axis[str] = ("maxsim",)
    rerank_depth: Axis[RerankDepth] = (0,)
    threshold: Axis[Threshold | None] = (None,)
    blend: Axis[UnitInterval] = (1.0,)

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as fault:
            raise ConfigError(_problems(fault)) from None

    def asking(self, queries: Sequence[Query]) -> tuple["Grid", tuple[str, ...]]:
        """The grid for these questions: a switch for what none of them has makes no difference, so
        its cells stand once, off; and a line for each such switch."""
        idle = [
            switch
            for switch in SWITCHES
            if any(getattr(self, switch)) and not any(getattr(q, switch) for q in queries)
        ]
        told = (
            f"retrieve.{switch} makes no difference: no question has '{switch}'; its cells appear "
            "once"
            for switch in idle
        )
        return self.model_copy(update=dict.fromkeys(idle, (False,))), tuple(told)

    def systems(self) -> tuple[tuple[Config, ...], tuple[str, ...]]:
        """Every distinct system in the order of the product, and a line for each cell that is
        impossible.

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
                    impossible[f"impossible cell: {error['msg'].removeprefix('Value error, ')}"] = (
                        None
                    )
        if not found:
            raise ConfigError(impossible)
        names = Counter(config.name for config in found)
        if len(names) < len(found):
            raise ConfigError(
                f"{count} systems would share the name '{name}'; give the folders of their models, "
                "or their files of synonyms, "
                "different names"
                for name, count in names.items()
                if count > 1
            )
        return tuple(found), tuple(impossible)


def _system(values: Mapping[str, Any]) -> Config:
    """One cell of the grid with the slices that its mode reads."""
    slices: dict[str, dict[str, Any]] = {}
    for key, value in values.items():
        part, field = SETTINGS[key]
        slices.setdefault(part, {})[field] = value
    mode, views = values["mode"], values["views"]
    chunk, rerank, deliver = slices["chunk"], slices["rerank"], values["deliver"]
    if chunk["strategy"] == "document":
        chunk, deliver = {"strategy": "document"}, "chunk"
    else:
        chunk["tokenizer"] = values["model"] if chunk["unit"] == "tokens" else None
        chunk["embedder"] = values["model"] if chunk["strategy"] == "semantic" else None
    if chunk["strategy"] != "semantic":
        chunk.pop("percentile", None)
    if chunk["strategy"] in NO_OVERLAP:
        chunk["overlap"] = 0
    if rerank["model"] == MAXSIM and values["model"] != DEFAULT_MODEL:
        # The late interaction of a BM25 system needs a model too, and it is the sweep's.
        rerank["model"] = f"{MAXSIM}:{values['model']}"
    return Config(
        chunk=ChunkConfig(**chunk),
        bm25=BM25Config(**slices["bm25"], views=views) if mode != "dense" else None,
        dense=DenseConfig(**slices["dense"], views=views) if mode != "bm25" else None,
        fusion=FusionConfig(**slices["fusion"]) if mode == "hybrid" else None,
        features=values["features"],
        rerank=RerankConfig(**rerank) if rerank["depth"] else None,
        depth=values["depth"],
        variants=values["variants"],
        filter=values["filter"],
        deliver=deliver,
    )


def _problems(fault: ValidationError) -> Iterable[str]:
    """Errors of a Grid under the keys of the experiment file, each bad value once."""
    keys = {
        grid: f"{table}.{key}" for table, content in TABLES.items() for key, grid in content.items()
    }
    problems: dict[str, None] = {}
    for error in fault.errors():
        field = str(error["loc"][0])
        if error["type"] == "extra_forbidden":
            problems[f"unknown setting '{field}'{nearest(field, Grid.model_fields)}"] = None
        else:
            problems[problem(keys.get(field, field), error["msg"], error.get("input"))] = None
    return problems
