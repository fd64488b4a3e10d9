"""The one table of settings: what can be varied, under its one name, with everything that the rest
of the house asks about it.

Grid's keywords, the keys of the experiment file, the columns of the table of systems, the names of
systems and their short labels, remedies, proofs and comparisons all read this table. A new setting
is a row here, a field of the slice of the config that reads it, and the code that applies it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, BeforeValidator, StrictBool

from lab.chunking.config import ChunkConfig, Deliver
from lab.chunking.numbers import whole
from lab.retrieval.config import (
    DEEPEST,
    OWN_TEXT,
    BM25Config,
    DenseConfig,
    Depth,
    FeaturesConfig,
    FusionConfig,
    Mode,
    RerankConfig,
    Views,
)

Stage = Literal[
    "chunk", "bm25", "dense", "legs", "fusion", "features", "rerank", "search", "delivery"
]
# In the order of the street, which is that of the words of a system's name; a stage that a system
# may lack, or whose settings are many, has a slice of the config of its own.
SLICES: dict[Stage, type[BaseModel] | None] = {
    "chunk": ChunkConfig,
    "bm25": BM25Config,
    "dense": DenseConfig,
    "legs": None,
    "fusion": FusionConfig,
    "features": None,
    "rerank": RerankConfig,
    "search": None,
    "delivery": None,
}
DEPTH = 100
# The depth of a reranker that a system does not have.
OFF = 0


def _depth_or_off(value: Any) -> int:
    depth = whole(value)
    if not OFF <= depth <= DEEPEST:
        raise ValueError(f"expected a whole number from {OFF} (off) to {DEEPEST:,}")
    return depth


def text_of(value: Any) -> str:
    """A value in words, exact to the 12 digits that a Grid tells apart."""
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return f"{value:.12g}"
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


def file_name(value: Any) -> str:
    """A file or a model by the last part of its path or id."""
    return PurePath(str(value)).name or "none"


def depth_text(value: Any) -> str:
    """A depth of which 0 is off."""
    return text_of(value) if value else "off"


def dims_text(value: Any) -> str:
    """A number of dimensions of which 0 is all."""
    return text_of(value) if value else "all"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    `name` is Grid's keyword and the column of the table of systems; `table` its table in the
    experiment file, where its key is the name without the table's. `stage` reads it, `type`
    validates a value, `defaults` are the values of a grid that does not name it. `proves` are the
    causes of a miss that another system proves which differs in this setting alone and has the
    piece; `effort` says how large a change of it is, and remedies name the smallest first. `label`
    is the one way to print a value; `speaks` says that its values name themselves (`lucene`, not
    `variant lucene`). A table of systems shows the settings of one `group` as one column.
    `of_questions` marks a switch that does something only for questions that have what it uses;
    `takes_stage` a depth whose 0 takes its whole stage away.
    """

    name: str
    table: str
    stage: Stage
    type: Any
    defaults: tuple[Any, ...]
    effort: int
    proves: tuple[str, ...]
    label: Callable[[Any], str] = text_of
    speaks: bool = False
    group: str = ""
    of_questions: bool = False
    takes_stage: bool = False

    @property
    def default(self) -> Any:
        """The value that needs no mention."""
        return self.defaults[0]

    @property
    def key(self) -> str:
        """The key in its table of the experiment file, and the field of the slice that reads it."""
        return self.name.removeprefix(f"{self.table}_")

    @property
    def path(self) -> str:
        """Where it stands in the experiment file, like `chunk.size`."""
        return f"{self.table}.{self.key}" if self.table else self.name

    @property
    def column(self) -> str:
        """Where a table of systems shows it."""
        return self.group or self.name

    def word(self, value: Any) -> str:
        """How a value stands in a name: alone where it says what it is."""
        if isinstance(value, bool):
            return self.name
        return self.label(value) if self.speaks else f"{self.name}={self.label(value)}"


def _of_slice(stage: Stage, name: str, **more: Any) -> Setting:
    """A setting of a stage that has a slice of its own, whose type and default are the field's."""
    slice_ = SLICES[stage]
    assert slice_ is not None  # the table names no other stage here
    key = name.removeprefix(f"{stage}_")
    of_field = {
        "type": get_type_hints(slice_, include_extras=True)[key],
        "defaults": (slice_.model_fields[key].default,),
    }
    return Setting(name, stage, stage, **(of_field | more))


CUTS = ("split", "diluted", "detached")
GAPS = ("lexical_gap", "semantic_gap", "both")
LEXICAL = ("lexical_gap", "both")
SEMANTIC = ("semantic_gap", "both")
RANKED = ("outranked",)
DEMOTED = ("demoted",)

_ROWS = (
    _of_slice("chunk", "chunk_strategy", effort=11, proves=CUTS, group="chunks"),
    _of_slice("chunk", "chunk_size", effort=10, proves=CUTS, group="chunks"),
    _of_slice("chunk", "overlap", effort=10, proves=CUTS, group="chunks"),
    _of_slice("chunk", "unit", effort=10, proves=CUTS, group="chunks"),
    _of_slice("chunk", "phase", effort=10, proves=CUTS, group="chunks"),
    _of_slice("chunk", "percentile", effort=10, proves=CUTS, group="chunks"),
    _of_slice("chunk", "prefix", effort=8, proves=("detached", *GAPS, *RANKED), group="chunks"),
    Setting(
        name="deliver",
        table="chunk",
        stage="delivery",
        type=Deliver,
        defaults=("chunk",),
        effort=9,
        proves=CUTS,
        speaks=True,
    ),
    _of_slice("bm25", "analyzer", effort=6, proves=LEXICAL, speaks=True),
    _of_slice("bm25", "variant", effort=6, proves=("lexical_gap",), speaks=True),
    _of_slice("bm25", "k1", effort=6, proves=("lexical_gap",)),
    _of_slice("bm25", "b", effort=6, proves=("lexical_gap",)),
    _of_slice("bm25", "synonyms", effort=7, proves=LEXICAL + RANKED, label=file_name, speaks=True),
    _of_slice(
        "dense", "model", effort=8, proves=(*SEMANTIC, "truncated"), label=file_name, speaks=True
    ),
    _of_slice("dense", "index", effort=5, proves=("approximate",), speaks=True),
    _of_slice("dense", "dtype", effort=8, proves=SEMANTIC, speaks=True),
    _of_slice("dense", "device", effort=8, proves=SEMANTIC, speaks=True),
    _of_slice("dense", "pooling", effort=8, proves=(*SEMANTIC, "truncated"), speaks=True),
    _of_slice("dense", "similarity", effort=5, proves=SEMANTIC, speaks=True),
    _of_slice("dense", "backend", effort=8, proves=SEMANTIC, speaks=True),
    _of_slice("dense", "dims", effort=5, proves=(*SEMANTIC, "quantised"), label=dims_text),
    _of_slice("dense", "storage", effort=5, proves=(*SEMANTIC, "quantised"), speaks=True),
    Setting(
        name="mode",
        table="retrieve",
        stage="legs",
        type=Mode,
        defaults=("bm25", "dense", "hybrid"),
        effort=3,
        proves=RANKED + GAPS,
        group="search",
    ),
    Setting(
        name="depth",
        table="retrieve",
        stage="search",
        type=Depth,
        defaults=(DEPTH,),
        effort=5,
        proves=GAPS,
    ),
    Setting(
        name="views",
        table="retrieve",
        stage="legs",
        type=Views,
        defaults=((OWN_TEXT,),),
        effort=3,
        proves=RANKED + GAPS,
    ),
    Setting(
        name="variants",
        table="retrieve",
        stage="search",
        type=StrictBool,
        defaults=(False,),
        effort=7,
        proves=GAPS + RANKED,
        of_questions=True,
    ),
    Setting(
        name="filter",
        table="retrieve",
        stage="search",
        type=StrictBool,
        defaults=(False,),
        effort=7,
        proves=GAPS + RANKED,
        of_questions=True,
    ),
    _of_slice("fusion", "normalization", effort=2, proves=RANKED, speaks=True),
    _of_slice("fusion", "alpha", effort=1, proves=RANKED, group="search"),
    Setting(
        name="features",
        table="",
        stage="features",
        type=FeaturesConfig,
        defaults=(FeaturesConfig(),),
        effort=2,
        proves=RANKED,
    ),
    _of_slice("rerank", "rerank_model", effort=4, proves=DEMOTED, label=file_name, group="rerank"),
    _of_slice(
        "rerank",
        "rerank_depth",
        type=Annotated[int, BeforeValidator(_depth_or_off)],
        defaults=(OFF,),
        effort=4,
        proves=DEMOTED,
        label=depth_text,
        group="rerank",
        takes_stage=True,
    ),
    _of_slice("rerank", "threshold", effort=4, proves=("cut",)),
    _of_slice("rerank", "blend", effort=4, proves=DEMOTED),
)
# By name, in the order of the columns of a table, which is that of a grid's product.
SETTINGS: dict[str, Setting] = {setting.name: setting for setting in _ROWS}
# Table of the experiment file -> its keys -> Grid's names.
TABLES: dict[str, dict[str, str]] = {
    table: {row.key: row.name for row in _ROWS if row.table == table}
    for table in dict.fromkeys(row.table for row in _ROWS if row.table)
}
SWITCHES = tuple(row.name for row in _ROWS if row.of_questions)
# What a change of a setting proves, the smallest change first. A stage that one of two systems
# lacks is one change, called by the stage's name.
PROVES: dict[str, tuple[str, ...]] = {
    name: row.proves
    for row in sorted(_ROWS, key=lambda row: row.effort)
    for name in (row.name, *((row.stage,) if row.takes_stage else ()))
}


@cache
def of_stage(stage: Stage) -> tuple[Setting, ...]:
    """The settings that a stage reads."""
    return tuple(row for row in _ROWS if row.stage == stage)


@cache
def of_group(group: str) -> tuple[Setting, ...]:
    """The settings that a table of systems shows as one column."""
    return tuple(row for row in _ROWS if row.group == group)
