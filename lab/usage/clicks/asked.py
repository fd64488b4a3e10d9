"""What `lab clicks` was asked to do, checked before any work, and done."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lab.corpus.values import number
from lab.errors import ConfigError, UsageError, nearest
from lab.usage.clicks.counts import counts_of
from lab.usage.clicks.judged import Judged, judged, updated
from lab.usage.clicks.relevance import MODELS, THRESHOLDS, Model
from lab.usage.log import Asked


@dataclass(frozen=True, slots=True)
class Settings:
    """A click model, ascending thresholds of grades, the hits of a line that count, and the rate of
    an update."""

    model: Model
    thresholds: tuple[float, ...]
    depth: int
    rate: float


def settings_of(model: str, grades: str | None, depth: int, rate: float, out: Path) -> Settings:
    """The settings as a user writes them. Raises ConfigError with everything that is wrong."""
    problems = []
    if model not in MODELS:
        problems.append(f"--model is '{model}'{nearest(model, MODELS)}")
    known = cast(Model, model)
    thresholds = THRESHOLDS.get(known, ())
    if grades is not None:
        read = [number(part) for part in grades.split(",")]
        thresholds = tuple(float(value) for value in read if value is not None and value > 0)
        if len(thresholds) < len(read) or list(thresholds) != sorted(set(thresholds)):
            problems.append(f"--grades is '{grades}'; expected rising numbers, like 0.1,0.3,0.6")
    if not 0 < rate <= 1:
        problems.append(f"--rate is {rate}; expected a number above 0, 1 at most")
    if out.exists():
        problems.append(f"{out}: exists; name a new folder with --out")
    if problems:
        raise ConfigError(problems)
    return Settings(known, thresholds, depth, rate)


def judge(log: Sequence[Asked], settings: Settings, earlier: Judged | None = None) -> Judged:
    """Judge a log, or bring earlier judgements up to date with it. Raises UsageError for clicks
    that no model can be told from, and for earlier judgements by another model."""
    counts = counts_of(log, settings.depth)
    if earlier is None:
        return judged(MODELS[settings.model](counts.enough()))
    if earlier.model != settings.model:
        raise UsageError(
            f"the earlier judgements are of '{earlier.model}', and --model is '{settings.model}': "
            "their figures mean other things; name the same model"
        )
    return updated(earlier, log, settings.rate)
