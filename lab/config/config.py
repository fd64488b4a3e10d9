"""Config: one system of a sweep, a frozen slice for every stage it has."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    PositiveInt,
    StrictBool,
    ValidationError,
    model_validator,
)

from lab.chunking.config import DELIVER, NO_OVERLAP, ChunkConfig, Deliver
from lab.errors import ConfigError
from lab.retrieval.config import (
    DEFAULT_MODEL,
    OWN_TEXT,
    BM25Config,
    DenseConfig,
    FeaturesConfig,
    FusionConfig,
    Mode,
    RerankConfig,
)

DEPTH = 100
# Settings that are on or off, and do something only for questions that have what they use.
SWITCHES = ("variants", "filter")


class Config(BaseModel):
    """One system: a slice for every stage it has. Without `dense` it is BM25 alone, without `bm25`
    dense alone, with both they are fused; `depth` is how many candidates a leg keeps. Both legs
    have the same `views`; `features` join the sum of the first stage. With `variants` a question's
    other wordings are searched as well and the rankings fused, with `filter` only documents that
    pass the question's filter are searched. `retriever` names a foreign system, which has no
    slices."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    chunk: ChunkConfig = ChunkConfig()
    bm25: BM25Config | None = BM25Config()
    dense: DenseConfig | None = None
    fusion: FusionConfig | None = None
    features: FeaturesConfig = FeaturesConfig()
    rerank: RerankConfig | None = None
    depth: PositiveInt = DEPTH
    variants: StrictBool = False
    filter: StrictBool = False
    deliver: Deliver = "chunk"
    retriever: str | None = None

    @model_validator(mode="after")
    def _possible(self) -> "Config":
        parent = DELIVER.fullmatch(self.deliver)
        if parent and parent[2] and int(parent[2]) <= max(self.chunk.sizes):
            raise ValueError(
                f"deliver '{self.deliver}' must be larger than the chunks, size "
                f"{max(self.chunk.sizes)}"
            )
        if self.bm25 is not None and self.dense is not None and self.bm25.views != self.dense.views:
            raise ValueError(
                f"bm25.views {self.bm25.views} and dense.views {self.dense.views} must be the same"
            )
        if self.rerank is not None and self.rerank.depth > self.depth:
            raise ValueError(
                f"rerank.depth {self.rerank.depth} exceeds retrieve.depth {self.depth}: no more "
                "can be re-scored"
            )
        return self

    @property
    def mode(self) -> Mode | Literal["foreign"]:
        if self.retriever is not None:
            return "foreign"
        if self.bm25 is None:
            return "dense"
        return "bm25" if self.dense is None else "hybrid"

    @property
    def views(self) -> tuple[str, ...]:
        """Through what a chunk is found."""
        leg = self.bm25 or self.dense
        return leg.views if leg else (OWN_TEXT,)

    @property
    def name(self) -> str:
        """Unique and readable: every setting that differs from the default stands in it."""
        if self.retriever is not None:
            return self.retriever
        words = [self.chunk.label, self.mode]
        if self.chunk.tokenizer is not None and self.chunk.tokenizer != DEFAULT_MODEL:
            words.append(f"tokens={Path(self.chunk.tokenizer).name}")
        if self.chunk.embedder is not None and self.chunk.embedder != DEFAULT_MODEL:
            words.append(f"sentences={Path(self.chunk.embedder).name}")
        if self.bm25 is not None:
            words += _differing(self.bm25, BM25Config(), skip="views")
        if self.dense is not None:
            words += _differing(self.dense, DenseConfig(), skip="views")
        if self.views != (OWN_TEXT,):
            words.append(f"views={'+'.join(self.views)}")
        if self.fusion is not None:
            words += [
                _word("alpha", self.fusion.alpha),
                *_differing(self.fusion, FusionConfig(), skip="alpha"),
            ]
        if self.features.root:
            words.append(f"features={self.features}")
        if self.rerank is not None:
            words += [
                f"rerank={self.rerank.model}@{self.rerank.depth}",
                *_differing(self.rerank, RerankConfig(), skip="model depth"),
            ]
        if self.depth != DEPTH:
            words.append(f"depth={self.depth}")
        words += [switch for switch in SWITCHES if getattr(self, switch)]
        if self.deliver != "chunk":
            words.append(self.deliver)
        return " ".join(words)

    def settings(self) -> dict[str, Any]:
        """The system under the names of Grid, None where a setting plays no part: the columns of a
        table."""
        if self.retriever is not None:
            return dict.fromkeys(SETTINGS) | {"mode": self.mode}
        row: dict[str, Any] = {}
        for key, (part, field) in SETTINGS.items():
            owner = self if part == "" else getattr(self, part)
            row[key] = None if owner is None else getattr(owner, field)
        if self.chunk.strategy == "document":
            row |= {"chunk_size": None, "overlap": None, "unit": None}
        if self.chunk.strategy in NO_OVERLAP:
            row["overlap"] = None
        if self.chunk.strategy != "semantic":
            row["percentile"] = None
        return row

    def to_toml(self) -> str:
        """The system as TOML tables; `Config.from_toml` gives an equal one back."""
        plain = self.model_dump(exclude_none=True)
        own = {key: value for key, value in plain.items() if not isinstance(value, dict)}
        lines = [f"{key} = {_toml(value)}" for key, value in own.items()]
        for key, table in plain.items():
            if isinstance(table, dict) and table:
                lines += [
                    "",
                    f"[{key}]",
                    *(f"{_key(name)} = {_toml(value)}" for name, value in table.items()),
                ]
        if self.bm25 is None:
            lines.insert(0, "bm25 = false")
        return "\n".join(lines) + "\n"

    @staticmethod
    def from_toml(text: str) -> "Config":
        """Read what `to_toml` wrote; raises ConfigError with every problem."""
        try:
            plain = tomllib.loads(text)
            return Config.model_validate(
                {
                    key: None if key == "bm25" and value is False else value
                    for key, value in plain.items()
                }
            )
        except tomllib.TOMLDecodeError as fault:
            raise ConfigError(f"not TOML: {fault}") from None
        except ValidationError as fault:
            raise ConfigError(
                problem(".".join(map(str, e["loc"])), e["msg"], e.get("input"))
                for e in fault.errors()
            ) from None


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_toml(own)}" for key, own in value.items()) + " }"
    # JSON's strings, numbers, booleans and lists are TOML's, but that TOML wants DEL escaped.
    return json.dumps(
        list(value) if isinstance(value, tuple) else value, ensure_ascii=False
    ).replace("\x7f", "\\u007f")


def _differing(slice_: BaseModel, default: BaseModel, skip: str = "") -> list[str]:
    values = (
        (key, getattr(slice_, key)) for key in type(slice_).model_fields if key not in skip.split()
    )
    return [_word(key, value) for key, value in values if value != getattr(default, key)]


def _word(key: str, value: Any) -> str:
    if key in ("model", "synonyms"):
        return Path(str(value)).name
    if isinstance(value, str):
        return value
    return f"{key}={value:.12g}" if isinstance(value, int | float) else f"{key}={value}"


# Grid's names -> (slice of Config, its field).
SETTINGS: dict[str, tuple[str, str]] = {
    "chunk_strategy": ("chunk", "strategy"),
    "chunk_size": ("chunk", "size"),
    "overlap": ("chunk", "overlap"),
    "unit": ("chunk", "unit"),
    "percentile": ("chunk", "percentile"),
    "deliver": ("", "deliver"),
    "analyzer": ("bm25", "analyzer"),
    "variant": ("bm25", "variant"),
    "k1": ("bm25", "k1"),
    "b": ("bm25", "b"),
    "synonyms": ("bm25", "synonyms"),
    "model": ("dense", "model"),
    "index": ("dense", "index"),
    "dtype": ("dense", "dtype"),
    "device": ("dense", "device"),
    "pooling": ("dense", "pooling"),
    "mode": ("", "mode"),
    "depth": ("", "depth"),
    "views": ("", "views"),
    "variants": ("", "variants"),
    "filter": ("", "filter"),
    "normalization": ("fusion", "normalization"),
    "alpha": ("fusion", "alpha"),
    "features": ("", "features"),
    "rerank_model": ("rerank", "model"),
    "rerank_depth": ("rerank", "depth"),
    "threshold": ("rerank", "threshold"),
    "blend": ("rerank", "blend"),
}


def problem(key: str, message: str, found: Any) -> str:
    """One line for a bad value: its key, what was found and what was expected instead."""
    message = (
        message.removeprefix("Value error, ")
        .replace("Input should be", "expected")
        .replace("input should be", "expected")
    )
    return f"{key} is {found!r}; {message}"
