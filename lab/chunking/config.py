"""What can be varied about chunks: ChunkConfig, and what a hit hands to the reader: Deliver."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, NonNegativeInt, model_validator

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


def _percentile(value: float) -> float:
    if not 0 <= value <= 100:  # NaN fails as well
        raise ValueError("expected a number from 0 to 100")
    return value


Percentile = Annotated[float, AfterValidator(_percentile)]


class ChunkConfig(BaseModel):
    """How documents are cut.

    `size` and `overlap` count `unit`s: code points, words (a Chinese, Japanese or Korean character
    is a word) or tokens of the model named `tokenizer`. A tuple of sizes indexes chunks of all of
    them together; a table gives each document the size of its type. `document` keeps every document
    whole and reads neither.

    `semantic` cuts where sentences embedded by the model named `embedder` are farther apart than
    the `percentile` of their document's distances. Names with a colon are other libraries'
    splitters (see `lab.chunking.splitters`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: Strategy = "fixed"
    size: Size = 400
    overlap: NonNegativeInt = 0
    unit: Unit = "characters"
    tokenizer: str | None = None
    percentile: Percentile = 95.0
    embedder: str | None = None

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
    def label(self) -> str:
        if self.strategy == "document":
            return "document"
        size = "+".join(map(str, self.size)) if isinstance(self.size, tuple) else str(self.size)
        size += f"/{self.overlap}" if self.overlap else ""
        percentile = f"-p{self.percentile:g}" if self.strategy == "semantic" else ""
        return f"{self.strategy}-{size}{percentile}" + (
            "" if self.unit == "characters" else f"-{self.unit}"
        )


DELIVER = re.compile(r"chunk|window\(([1-9]\d*)\)|parent\(([1-9]\d*)\)")


def _deliver(value: str) -> str:
    if not DELIVER.fullmatch(value):
        raise ValueError(
            "expected 'chunk', 'window(n)' (n neighbours on either side) or 'parent(size)'"
        )
    return value


Deliver = Annotated[str, AfterValidator(_deliver)]
