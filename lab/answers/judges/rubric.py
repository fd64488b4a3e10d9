"""Rubric: the criteria that a judge scores answers by, each with an example of either end."""

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lab.config.config import problem
from lab.config.toml import read_toml
from lab.errors import ConfigError, nearest

SHIPPED = "rubric.toml"
Line = Annotated[str, Field(min_length=1, pattern=r"\S")]
Whole = Annotated[int, Field(strict=True, ge=-100, le=100)]


class Criterion(BaseModel):
    """What is scored on a `scale` of whole numbers, least and most, and what it means; `positive`
    and `negative` are anchors, an example of each end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^\w[\w -]*$")]
    scale: tuple[Whole, Whole]
    meaning: Line
    positive: Line
    negative: Line

    @model_validator(mode="after")
    def _ends(self) -> "Criterion":
        if self.scale[0] >= self.scale[1]:
            raise ValueError(f"scale is {list(self.scale)}; expected the lesser end first")
        if self.positive.strip() == self.negative.strip():
            raise ValueError("positive and negative are the same; expected an example of each end")
        return self


class Length(BaseModel):
    """Beyond `limit` words an answer loses one step by `criteria` for every `portion` of words,
    begun ones included."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    limit: Annotated[int, Field(strict=True, ge=1)]
    portion: Annotated[int, Field(strict=True, ge=1)]
    criteria: Annotated[tuple[str, ...], Field(min_length=1)]

    def steps_off(self, words: int) -> int:
        """Steps that an answer of so many words loses: limit 200 and portion 100 take 1 off 201
        words and 2 off 301."""
        return max(0, -(-(words - self.limit) // self.portion))


class Rubric(BaseModel):
    """Criteria in the order in which they are asked, and what length costs, if anything."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Line
    criterion: Annotated[tuple[Criterion, ...], Field(min_length=1)]
    length: Length | None = None

    @model_validator(mode="after")
    def _names(self) -> "Rubric":
        names = [criterion.name for criterion in self.criterion]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"criteria stand twice: {', '.join(twice)}")
        for name in self.length.criteria if self.length else ():
            if name not in names:
                raise ValueError(f"length speaks of '{name}', no criterion{nearest(name, names)}")
        return self


def read_rubric(path: Path | None = None) -> Rubric:
    """Read a rubric, the one that ships where no path is given. Raises ConfigError with every
    problem and its place, among them every criterion without both anchors."""
    if path is None:
        with as_file(files("lab.answers.judges") / SHIPPED) as shipped:
            return read_rubric(shipped)
    try:
        return Rubric.model_validate(read_toml(path))
    except ValidationError as fault:
        # A list whose members are all faulty is called empty beside.
        places = [error["loc"] for error in fault.errors()]
        errors = [
            error
            for error in fault.errors()
            if error["type"] != "too_short"
            or not any(place[: len(error["loc"])] == error["loc"] != place for place in places)
        ]
        raise ConfigError(f"{path}: {_said(error)}" for error in errors) from None


def _said(error: Any) -> str:
    parts = [str(part + 1) if isinstance(part, int) else str(part) for part in error["loc"]]
    place = " ".join(parts)
    if error["type"] == "extra_forbidden":
        tables: dict[str, type[BaseModel]] = {"criterion": Criterion, "length": Length}
        known = tables.get(parts[0], Rubric) if len(parts) > 1 else Rubric
        return f"unknown key '{place}'{nearest(parts[-1], known.model_fields)}"
    if error["type"] == "missing" and parts[-1] in ("positive", "negative"):
        return f"'{place}' is missing; every criterion needs an example of both ends"
    if error["type"] == "missing":
        return f"'{place}' is missing"
    if isinstance(error.get("input"), dict):
        return f"{place or 'file'}: {error['msg'].removeprefix('Value error, ')}"
    return problem(place, error["msg"], error.get("input"))
