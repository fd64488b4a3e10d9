"""What can be varied about chunks: ChunkConfig, and what a hit hands to the reader: Deliver."""

import re
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from lab.chunking.numbers import LARGEST, CountFromZero, Number, UnitInterval, within
from lab.chunking.prefix import FILE, Prefix
from lab.chunking.size import Size, SizeByType
from lab.chunking.units import Unit

Strategy = Literal[
    "document",
    "fixed",
    "sentences",
    "structure",
    "semantic",
    "langchain:recursive",
    "langchain:character",
    "langchain:markdown",
    "llama-index:sentence",
    "llama-index:token",
    "chonkie:recursive",
    "chonkie:sentence",
    "chonkie:token",
]

NO_OVERLAP = ("chonkie:recursive",)


def unread_by(strategy: str) -> frozenset[str]:
    """The fields of ChunkConfig that a strategy does not read."""
    if strategy == "document":
        return frozenset({"size", "overlap", "unit", "phase", "percentile"})
    overlap = {"overlap"} if strategy in NO_OVERLAP else set()
    by_meaning = {"phase"} if strategy == "semantic" else {"percentile"}
    return frozenset(overlap | by_meaning)


Percentile = Annotated[Number, within(0, 100)]


def _below_one(value: float) -> float:
    if value == 1:
        raise ValueError("expected a number from 0 to less than 1: a phase of 1 is one of 0")
    return value


Phase = Annotated[UnitInterval, AfterValidator(_below_one)]


class ChunkConfig(BaseModel):
    """How documents are cut.

    `size` and `overlap` count `unit`s: code points, words (a Chinese, Japanese or Korean character
    is a word) or tokens of the model named `tokenizer`. A tuple of sizes indexes chunks of all of
    them together; a table gives each document the size of its type. `document` keeps every document
    whole and reads neither. `phase` in [0, 1) is where the first cut falls, as a share of the
    distance of two cuts (see `lab.chunking.phase`). `prefix` is what stands before a chunk's text
    when it is indexed (see `lab.chunking.prefix` and `.contexts`); a whole document has no headings
    above it.

    `semantic` cuts where sentences embedded by the model named `embedder` are farther apart than
    the `percentile` of their document's distances. Names with a colon are other libraries'
    splitters (see `lab.chunking.splitters`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: Strategy = "fixed"
    size: Size = 400
    overlap: CountFromZero = 0
    unit: Unit = "characters"
    phase: Phase = 0.0
    tokenizer: str | None = None
    percentile: Percentile = 95.0
    embedder: str | None = None
    prefix: Prefix = ""

    @model_validator(mode="before")
    @classmethod
    def _nothing_above(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("strategy") != "document":
            return values
        alone = {"headings": "", "title+headings": "title"}
        prefix = values.get("prefix", "")
        return values | {"prefix": alone.get(prefix, prefix)} if prefix else values

    @model_validator(mode="after")
    def _fits(self) -> "ChunkConfig":
        if self.overlap >= min(self.sizes):
            raise ValueError(f"overlap {self.overlap} must be smaller than size {min(self.sizes)}")
        if self.overlap and self.strategy in NO_OVERLAP:
            raise ValueError(f"strategy '{self.strategy}' knows no overlap; expected 0")
        if (self.tokenizer is None) == (self.unit == "tokens"):
            raise ValueError(
                "unit 'tokens' needs a tokenizer, the name of the model whose tokens are counted, "
                "and only it does"
            )
        if (self.embedder is None) == (self.strategy == "semantic"):
            raise ValueError(
                "strategy 'semantic' needs an embedder, the name of the model that reads "
                "sentences, and only it does"
            )
        return self

    @property
    def sizes(self) -> tuple[int, ...]:
        """Every size that some document is cut to, ascending."""
        if isinstance(self.size, SizeByType):
            return self.size.sizes
        return self.size if isinstance(self.size, tuple) else (self.size,)

    @property
    def unread(self) -> frozenset[str]:
        """The fields that this strategy does not read."""
        return unread_by(self.strategy)

    @property
    def label(self) -> str:
        """How documents are cut, in a word."""
        fields = ("size", "overlap", "unit", "phase", "percentile", "prefix")
        read = {key: None if key in self.unread else getattr(self, key) for key in fields}
        return chunk_label(self.strategy, **read)


def chunk_label(
    strategy: str,
    *,
    size: int | tuple[int, ...] | SizeByType | None,
    overlap: int | None,
    unit: str | None,
    phase: float | None,
    percentile: float | None,
    prefix: str | None,
) -> str:
    """How documents are cut, like `fixed-400/50`, `fixed-400@0.25` at a phase or `fixed-400^title`
    behind a prefix: None is what the strategy does not read."""
    label = strategy
    if size is not None:
        label += "-" + ("+".join(map(str, size)) if isinstance(size, tuple) else str(size))
    if overlap:
        label += f"/{overlap}"
    if phase:
        label += f"@{phase:.12g}"
    if percentile is not None:
        label += f"-p{percentile:.12g}"
    if unit not in (None, "characters"):
        label += f"-{unit}"
    if prefix and prefix.startswith(FILE):
        prefix = f"{FILE}{PurePath(prefix.removeprefix(FILE)).name}"
    return f"{label}^{prefix}" if prefix else label


DELIVER = re.compile(r"chunk|window\(([1-9]\d{0,9})\)|parent\(([1-9]\d{0,9})\)", re.ASCII)


def _deliver(value: str) -> str:
    match = DELIVER.fullmatch(value)
    if match is None or int(match[1] or match[2] or 0) > LARGEST:
        raise ValueError(
            "expected 'chunk', 'window(n)' (n neighbours on either side) or 'parent(size)'"
        )
    return value


Deliver = Annotated[str, AfterValidator(_deliver)]
