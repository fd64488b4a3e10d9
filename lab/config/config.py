"""Config: one system of a sweep, a frozen slice for every stage it has."""

import json
import re
import tomllib
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    StrictBool,
    ValidationError,
    model_validator,
)

from lab.chunking.config import DELIVER, ChunkConfig, Deliver
from lab.config.rows import FOREIGN
from lab.config.settings import DEPTH, SETTINGS, SLICES, Setting, file_name, of_stage
from lab.errors import ConfigError
from lab.retrieval.config import (
    DEFAULT_MODEL,
    MAXSIM,
    OWN_TEXT,
    BM25Config,
    DenseConfig,
    Depth,
    FeaturesConfig,
    FusionConfig,
    Mode,
    RerankConfig,
)

SHOWN = 80


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
    depth: Depth = DEPTH
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
        if self.fusion is not None and self.fusion.rule is not None and self.variants:
            raise ValueError(
                f"alpha '{self.fusion.rule}' and variants do not go together: rankings of several "
                "wordings are fused by their ranks, which have no alpha to learn"
            )
        if self.chunk.prefix and self.dense is not None and self.dense.pooling == "late":
            raise ValueError(
                f"prefix '{self.chunk.prefix}' and pooling 'late' do not go together: a late chunk "
                "is read within its document, behind nothing of its own"
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
            return FOREIGN
        if self.bm25 is None:
            return "dense"
        return "bm25" if self.dense is None else "hybrid"

    @property
    def views(self) -> tuple[str, ...]:
        """Through what a chunk is found."""
        leg = self.bm25 or self.dense
        return leg.views if leg else (OWN_TEXT,)

    @property
    def model(self) -> str | None:
        """The model that embeds chunks, counts their tokens, reads sentences or token vectors; None
        without any."""
        if self.dense is not None:
            return self.dense.model
        return self.chunk.tokenizer or self.chunk.embedder or self._late_model

    @property
    def _late_model(self) -> str | None:
        """Whose token vectors the reranker reads; None if it reads none."""
        method, _, model = ("" if self.rerank is None else self.rerank.model).partition(":")
        return (model or DEFAULT_MODEL) if method == MAXSIM else None

    @property
    def name(self) -> str:
        """Unique and readable: every setting that differs from the default stands in it, in the
        order of the street."""
        return self._name()

    @property
    def family(self) -> str:
        """The name that systems which differ in alpha alone have in common."""
        return self._name(alpha=False)

    def _name(self, *, alpha: bool = True) -> str:
        if self.retriever is not None:
            return self.retriever
        words = [self.chunk.label, self.mode]
        for role, model in (("tokens", self.chunk.tokenizer), ("sentences", self.chunk.embedder)):
            if model is not None and model != DEFAULT_MODEL:
                words.append(f"{role}={file_name(model)}")
        for stage in SLICES:
            if stage == "fusion" and self.fusion is not None and alpha:
                words.append(SETTINGS["alpha"].word(self.fusion.alpha))
            if stage == "rerank" and self.rerank is not None:
                words.append(f"rerank={self.rerank.model}@{self.rerank.depth}")
            for setting in of_stage(stage):
                value = self._value(setting)
                if not setting.group and value is not None and value != setting.default:
                    words.append(setting.word(value))
        return " ".join(words)

    def settings(self) -> dict[str, Any]:
        """The system under the names of Grid, None where a setting plays no part: the columns of a
        table."""
        if self.retriever is not None:
            return dict.fromkeys(SETTINGS) | {"mode": self.mode}
        row = {name: self._value(setting) for name, setting in SETTINGS.items()}
        if self._late_model is not None and self._late_model == self.model:
            row["rerank_model"] = MAXSIM
        elif self._late_model is not None:
            row["rerank_model"] = f"{MAXSIM}:{self._late_model}"
        return row | {"model": self.model}

    def _value(self, setting: Setting) -> Any:
        owner = self if SLICES[setting.stage] is None else getattr(self, setting.stage)
        if owner is None or (owner is self.chunk and setting.key in self.chunk.unread):
            return None
        return getattr(owner, setting.key)

    def to_toml(self) -> str:
        """The system as TOML tables; `Config.from_toml` gives an equal one back."""
        plain = self.model_dump(exclude_none=True)
        scalars = {key: value for key, value in plain.items() if not isinstance(value, dict)}
        lines = [f"{key} = {_toml(value)}" for key, value in scalars.items()]
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
        return (
            "{ " + ", ".join(f"{_key(key)} = {_toml(item)}" for key, item in value.items()) + " }"
        )
    # JSON's strings, numbers, booleans and lists are TOML's, but that TOML wants DEL escaped.
    return json.dumps(
        list(value) if isinstance(value, tuple) else value, ensure_ascii=False
    ).replace("\x7f", "\\u007f")


def problem(key: str, message: str, value: Any) -> str:
    """One line for a bad value: its key, what was found and what was expected instead."""
    message = (
        message.removeprefix("Value error, ")
        .replace("Input should be", "expected")
        .replace("input should be", "expected")
    )
    return f"{key} is {_shown(value)}; {message}"


def _shown(value: Any) -> str:
    """A value as it was given, the beginning of a long one."""
    if isinstance(value, list | tuple) and len(value) > SHOWN:
        return f"[{', '.join(map(repr, value[:3]))}, ...] ({len(value):,} values)"
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
