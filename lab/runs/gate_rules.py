"""Rules of a gate: what a run must keep against its baseline, and waivers for what it need not keep
for now."""

from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lab.config.config import problem
from lab.config.toml import read_toml
from lab.diagnosis.causes import CAUSES
from lab.errors import ConfigError, nearest
from lab.evaluation.metrics import WEIGHTED, parse_metric

ALL = "all"
# Below this a slice proves nothing, whatever its interval says.
FEWEST = 20
# The measure that a rule speaks of -> the limits that it may set. A rule speaks of one.
LIMITS = {
    "metric": ("max_drop", "floor"),
    "cause": ("max_share",),
    "figure": ("at_most", "at_least"),
    "judgements": ("low_confidence_share",),
}


Number = Annotated[float, Field(allow_inf_nan=False, strict=True)]


class Rule(BaseModel):
    """One condition. `metric` with `max_drop` (non-inferiority to the baseline) or `floor`, on all
    questions or the kind `slice`; `cause` with `max_share` of all pieces; or `figure`, a column of
    systems.parquet such as `context tokens`, with `at_most` or `at_least`; or `judgements`, a file
    of a judge's scores, with `low_confidence_share`, the most of them that may be unsure."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    metric: str | None = None
    slice: str = ALL
    max_drop: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    floor: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    cause: str | None = None
    max_share: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    figure: str | None = None
    at_most: Number | None = None
    at_least: Number | None = None
    judgements: Annotated[str, Field(min_length=1)] | None = None
    low_confidence_share: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None

    @model_validator(mode="after")
    def _one_measure_one_limit(self) -> "Rule":
        spoken = [key for key in LIMITS if getattr(self, key) is not None]
        limits = [
            limit
            for allowed in LIMITS.values()
            for limit in allowed
            if getattr(self, limit) is not None
        ]
        if len(spoken) != 1 or len(limits) != 1 or limits[0] not in LIMITS[spoken[0]]:
            pairs = "; ".join(
                f"{key} with {' or '.join(allowed)}" for key, allowed in LIMITS.items()
            )
            raise ValueError(
                f"found {' and '.join((*spoken, *limits)) or 'neither'}; expected one of: {pairs}"
            )
        if self.cause is not None and self.cause not in CAUSES:
            raise ValueError(f"cause '{self.cause}' is unknown{nearest(self.cause, CAUSES)}")
        if (
            self.metric is not None
            and self.metric != WEIGHTED
            and parse_metric(self.metric).is_cost
        ):
            raise ValueError(
                f"metric '{self.metric}' is a cost; limit its column instead: figure = \"...\", "
                "at_most = ..."
            )
        return self

    @property
    def limit(self) -> tuple[str, float]:
        """Name and value of the limit that is set."""
        return next(
            (key, getattr(self, key))
            for keys in LIMITS.values()
            for key in keys
            if getattr(self, key) is not None
        )

    @property
    def label(self) -> str:
        """Its name, or what it says."""
        key, value = self.limit
        where = "" if self.slice == ALL else f" on {self.slice}"
        return (
            self.name
            or f"{self.metric or self.cause or self.figure or self.judgements}{where}: "
            f"{key.replace('_', ' ')} {value:g}"
        )


class Waiver(BaseModel):
    """Leave for one rule, by its label, to be broken until a day, and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str
    reason: Annotated[str, Field(min_length=10)]
    until: date


class Rules(BaseModel):
    """A rules file: `[[rule]]` and `[[waiver]]` tables, and `min_questions`, below which a slice
    proves nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_questions: Annotated[int, Field(ge=1, strict=True)] = FEWEST
    rule: Annotated[tuple[Rule, ...], Field(min_length=1)]
    waiver: tuple[Waiver, ...] = ()

    @model_validator(mode="after")
    def _labels(self) -> "Rules":
        labels = [rule.label for rule in self.rule]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            raise ValueError(f"rule names are used more than once: {', '.join(twice)}")
        for waiver in self.waiver:
            if waiver.rule not in labels:
                raise ValueError(
                    f"waiver for '{waiver.rule}', which is no rule{nearest(waiver.rule, labels)}"
                )
        return self


def read_rules(path: Path) -> Rules:
    """Read a rules file; raises ConfigError with every problem and its place in the file."""
    plain = read_toml(path)
    try:
        return Rules.model_validate(plain)
    except ValidationError as fault:
        raise ConfigError(f"{path}: {_told(error)}" for error in fault.errors()) from None
    except ConfigError as fault:
        raise ConfigError(f"{path}: {line}" for line in fault.problems) from None


def _told(error: Any) -> str:
    place = " ".join(f"{part + 1}" if isinstance(part, int) else str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        tables: dict[str, type[BaseModel]] = {"rule": Rule, "waiver": Waiver}
        model = tables.get(str(error["loc"][0]), Rules)
        return f"unknown key '{place}'{nearest(str(error['loc'][-1]), model.model_fields)}"
    if error["type"] == "missing":
        return f"'{place}' is missing"
    if error["type"] == "too_short":
        return f"no {place} that can be read; expected at least one"
    if isinstance(error.get("input"), dict):
        return f"{place or 'file'}: {error['msg'].removeprefix('Value error, ')}"
    return problem(place, error["msg"], error.get("input"))
