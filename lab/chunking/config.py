"""What can be varied about chunks: ChunkConfig, and what a hit hands to the reader: Deliver."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, NonNegativeInt, model_validator

Strategy = Literal["document", "fixed", "sentences", "structure"]
Unit = Literal["characters", "words", "tokens"]


def _sizes(value: Any) -> int | tuple[int, ...]:
    """One size, or several in ascending order: neither their order nor repeats make a difference."""
    several = value if isinstance(value, list | tuple) else (value,)
    if not several or not all(isinstance(size, int) and not isinstance(size, bool) and size > 0 for size in several):
        raise ValueError("expected a whole number from 1, or several that are indexed together, like [[256, 768]]")
    distinct = tuple(sorted(set(several)))
    return distinct if len(distinct) > 1 else distinct[0]


Size = Annotated[int | tuple[int, ...], BeforeValidator(_sizes)]


class ChunkConfig(BaseModel):
    """How documents are cut.

    `size` and `overlap` count `unit`s: code points, words (a Chinese, Japanese or Korean character is a word) or tokens of
    the model named `tokenizer`. A tuple of sizes indexes chunks of all of them together. `document` keeps every document
    whole and reads neither.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    strategy: Strategy = "fixed"
    size: Size = 400
    overlap: NonNegativeInt = 0
    unit: Unit = "characters"
    tokenizer: str | None = None

    @model_validator(mode="after")
    def _fits(self) -> "ChunkConfig":
        if self.overlap >= min(self.sizes):
            raise ValueError(f"overlap {self.overlap} must be smaller than size {min(self.sizes)}")
        if (self.tokenizer is None) == (self.unit == "tokens"):
            raise ValueError("unit 'tokens' needs a tokenizer, the name of the model whose tokens are counted, and only it does")
        return self

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.size if isinstance(self.size, tuple) else (self.size,)

    @property
    def label(self) -> str:
        if self.strategy == "document":
            return "document"
        size = "+".join(map(str, self.sizes)) + (f"/{self.overlap}" if self.overlap else "")
        return f"{self.strategy}-{size}" + ("" if self.unit == "characters" else f"-{self.unit}")


DELIVER = re.compile(r"chunk|window\(([1-9]\d*)\)|parent\(([1-9]\d*)\)")


def _deliver(value: str) -> str:
    if not DELIVER.fullmatch(value):
        raise ValueError("expected 'chunk', 'window(n)' (n neighbours on either side) or 'parent(size)'")
    return value


Deliver = Annotated[str, AfterValidator(_deliver)]
