"""Measure: what a sweep measures, and what it chooses by."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_validator,
    model_validator,
)

from lab.chunking.numbers import Count, CountFromZero, Number
from lab.chunking.phase import FEWEST, MOST
from lab.config.config import problem
from lab.config.own_metrics import function_name, load_function, taken_out
from lab.errors import ConfigError, nearest
from lab.evaluation.metrics import PYTHON, WEIGHTED, parse_metric
from lab.evaluation.own import OwnMetric

CONTEXT_K = 10


def _any(metrics: tuple[str, ...]) -> tuple[str, ...]:
    if not metrics:
        raise ValueError("expected at least one metric, like 'recall@5'")
    return metrics


def _none_or_several(phases: int) -> int:
    if 1 < phases < FEWEST or phases > MOST:
        raise ValueError(
            f"expected 1, or {FEWEST} to {MOST}: two say next to nothing of how far others lie"
        )
    return phases


Phases = Annotated[Count, AfterValidator(_none_or_several)]


class Measure(BaseModel):
    """What is measured: metrics by name, the one that chooses, the judged unit, and how much of a
    piece must be held.

    `weights` gives metrics a weight each; their weighted mean then is a metric of its own,
    `weighted`, and chooses. `sealed` is the share of questions set aside for one last score of the
    recommended system: whole documents by chance, or the latest questions if `sealed_by` is "date"
    (their own date, else that of the documents that answer them). `phases` is at how many places
    the first cut falls by turns, for every chunking that cuts by length: its scores are means over
    them (see `lab.config.phases`). `python` names functions in files that are metrics as well; in
    Python a function may stand among `metrics` itself (see `lab.evaluation.own`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    metrics: Annotated[tuple[str, ...], AfterValidator(_any)] = (
        "recall@5",
        "precision@3",
        "ndcg@10",
    )
    select_by: str = "ndcg@10"
    unit: Literal["auto", "evidence", "document"] = "auto"
    hold: Annotated[Number, Field(gt=0, le=1)] = 0.9
    weights: dict[str, Annotated[Number, Field(gt=0, le=1e6)]] = {}
    sealed: Annotated[Number, Field(ge=0, le=0.8)] = 0.0
    sealed_by: Literal["documents", "date"] = "documents"
    python: tuple[str, ...] = ()
    phases: Phases = 1
    seed: CountFromZero = 0
    _functions: dict[str, OwnMetric] = PrivateAttr(default_factory=dict)

    def __init__(self, **values: Any) -> None:
        functions, named = taken_out(values.get("metrics", ()))
        try:
            super().__init__(**values | ({"metrics": named} if functions else {}))
        except ValidationError as fault:
            raise ConfigError(_problems(fault)) from None
        self._functions = functions

    @model_validator(mode="before")
    @classmethod
    def _python_is_measured(cls, values: Any) -> Any:
        places = values.get("python")
        if isinstance(places, str):
            places = (places,)
        if not isinstance(places, list | tuple) or not all(isinstance(p, str) for p in places):
            return values
        try:
            labels = [PYTHON + function_name(place) for place in places]
        except ConfigError as fault:
            raise ValueError(str(fault)) from None
        metrics = values.get("metrics", cls.model_fields["metrics"].default)
        return values | {"python": places, "metrics": (*metrics, *labels)}

    def own_metrics(self) -> dict[str, OwnMetric]:
        """The user's own metrics by name; runs the files that `python` names. Raises ConfigError
        when one cannot be run, and for a name that no function has."""
        functions = {function_name(place): load_function(place) for place in self.python}
        functions |= self._functions
        asked = (parse_metric(metric).function for metric in self.measured)
        lacking = [name for name in asked if name and name not in functions]
        if lacking:
            raise ConfigError(
                f"measure.metrics names python:{name}, which is no function that was given"
                for name in lacking
            )
        return functions

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: tuple[str, ...]) -> tuple[str, ...]:
        problems: list[str] = []
        for metric in metrics:
            try:
                parse_metric(metric)
            except ConfigError as fault:
                problems.extend(fault.problems)
        if problems:
            raise ValueError("; ".join(problems))
        return tuple(dict.fromkeys(parse_metric(metric).label for metric in metrics))

    @field_validator("select_by")
    @classmethod
    def _quality(cls, metric: str) -> str:
        if metric == WEIGHTED:
            return metric
        try:
            parsed = parse_metric(metric)
        except ConfigError as fault:
            raise ValueError(str(fault)) from None
        if parsed.is_cost:
            raise ValueError("expected a quality metric, not a cost")
        return parsed.label

    @model_validator(mode="before")
    @classmethod
    def _weights_choose(cls, values: Any) -> Any:
        return (
            {"select_by": WEIGHTED} | values
            if isinstance(values, dict) and values.get("weights")
            else values
        )

    @model_validator(mode="after")
    def _weighted_is_measured(self) -> "Measure":
        measured = [metric for metric in self.measured if not parse_metric(metric).is_cost]
        unknown = [metric for metric in self.weights if metric not in measured]
        if unknown:
            raise ValueError(
                f"weights names {', '.join(unknown)}; expected quality metrics that are measured: "
                f"{', '.join(measured)}"
            )
        if self.select_by == WEIGHTED and not self.weights:
            raise ValueError(f"select_by is '{WEIGHTED}', but weights is empty")
        return self

    @property
    def measured(self) -> tuple[str, ...]:
        """Every metric that is computed from rankings, the selecting one included."""
        return tuple(
            dict.fromkeys(
                metric for metric in (*self.metrics, self.select_by) if metric != WEIGHTED
            )
        )

    @property
    def context_k(self) -> int:
        """The cut-off at which context tokens are counted: the selecting metric's, 10 where it has
        none in chunks."""
        chosen = None if self.select_by == WEIGHTED else parse_metric(self.select_by)
        return chosen.k if chosen and chosen.k and not chosen.by_tokens else CONTEXT_K


def _problems(fault: ValidationError) -> Iterator[str]:
    """Errors of a Measure under the keys of the experiment file."""
    for error in fault.errors():
        if error["type"] == "extra_forbidden":
            yield (
                "unknown key "
                f"'measure.{error['loc'][0]}'{nearest(str(error['loc'][0]), Measure.model_fields)}"
            )
        else:
            yield problem(
                ".".join(map(str, ("measure", *error["loc"]))), error["msg"], error.get("input")
            )
