"""Grid: what is swept, and the systems that come of it."""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from lab.chunking.config import unread_by
from lab.config.axis import Axis, FeaturesAxis, plain
from lab.config.config import Config, problem
from lab.config.distinct import distinct
from lab.config.rows import FOREIGN, settings_of
from lab.config.settings import SETTINGS, SLICES, SWITCHES, Stage, of_stage
from lab.errors import ConfigError, nearest
from lab.relevance.query import Query
from lab.retrieval.config import DEFAULT_MODEL, MAXSIM

# Cells that are looked at; no machine sweeps more.
MOST_CELLS = 20_000
# Bad values of one setting that a message names.
SHOWN = 5
# The column of a table of systems that says which rows are rows of it.
SYSTEM = "system"


class GridMethods(BaseModel):
    """What is swept: each setting takes one value or several (a list, a range, an array), the
    systems are the product, and cells that a setting cannot change (alpha without fusion, k1
    without BM25) appear once. A row of a table of systems (`run.table()`, systems.parquet), told by
    its column `system`, makes that system again; its other columns are left aside."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, **values: Any) -> None:
        is_row = _is_row(values)
        try:
            super().__init__(**(_axes_of(values) if is_row else values))
        except ValidationError as fault:
            raise ConfigError(_problems(fault)) from None
        if is_row:
            self._check_row(values)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "Grid":
        """The grid whose only system is that of a row of a table of systems, whose other columns
        are left aside. Raises ConfigError for a foreign retriever, which no grid makes, and for a
        row that does not give the system it names."""
        grid = Grid(**_axes_of(row))
        grid._check_row(row)
        return grid

    def _check_row(self, row: Mapping[str, Any]) -> None:
        (config,) = self.systems()[0]
        if SYSTEM in row and config.name != row[SYSTEM]:
            raise ConfigError(
                f"the row names the system '{row[SYSTEM]}', but its settings make '{config.name}'"
            )

    def asking(self, queries: Sequence[Query]) -> tuple["Grid", tuple[str, ...]]:
        """The grid for these questions: a switch for what none of them has makes no difference, so
        its cells stand once, off; and a line for each such switch."""
        idle = [
            switch
            for switch in SWITCHES
            if any(getattr(self, switch)) and not any(getattr(q, switch) for q in queries)
        ]
        lines = (
            f"{SETTINGS[switch].path} makes no difference: no question has '{switch}'; its cells "
            "appear once"
            for switch in idle
        )
        changed: Grid = self.model_copy(update=dict.fromkeys(idle, (False,)))  # type: ignore[assignment]  # every grid is one
        return changed, tuple(lines)

    def systems(self) -> tuple[tuple[Config, ...], tuple[str, ...]]:
        """Every distinct system in the order of the product, and a line for each cell that is
        impossible. Cells that rank alike under two names (`hybrid` with alpha 0 is `bm25`) appear
        once (see `lab.config.distinct`).

        Raises ConfigError when no cell is possible, or when there are too many.
        """
        axes = [getattr(self, name) for name in SETTINGS]
        cells = math.prod(map(len, axes))
        if cells > MOST_CELLS:
            counts = sorted(zip(map(len, axes), SETTINGS, strict=True), reverse=True)
            longest = ", ".join(f"{SETTINGS[name].path} {count:,}" for count, name in counts[:3])
            raise ConfigError(
                f"the grid has {cells:,} cells; expected at most {MOST_CELLS:,}: name fewer values "
                f"(most are of {longest})"
            )
        systems: dict[Config, None] = {}
        impossible: dict[str, None] = {}
        for cell in itertools.product(*axes):
            try:
                systems[system_of(dict(zip(SETTINGS, cell, strict=True)))] = None
            except ValidationError as fault:
                for error in fault.errors():
                    message = error["msg"].removeprefix("Value error, ")
                    impossible[f"impossible cell: {message}"] = None
        if not systems:
            raise ConfigError(impossible)
        once = distinct(systems)
        _check_names(once)
        return once, tuple(impossible)


if TYPE_CHECKING:

    class Grid(GridMethods):
        def __init__(self, **settings: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...
else:
    Grid = create_model(
        "Grid",
        __base__=GridMethods,
        __module__=__name__,
        __doc__=GridMethods.__doc__,
        **{
            name: (
                (FeaturesAxis if name == "features" else Axis)[setting.type],
                setting.defaults,
            )
            for name, setting in SETTINGS.items()
        },
    )


def _is_row(values: Mapping[str, Any]) -> bool:
    """A row of a table of systems says which system it is; without that column it has every setting
    and one mode."""
    if SYSTEM in values:
        return True
    if set(values) != set(SETTINGS) or not isinstance(values["mode"], str):
        return False
    if isinstance(plain(values["chunk_size"]), list):
        raise ConfigError(
            f"chunk_size is {values['chunk_size']!r}: sizes indexed together, or one system each? "
            "Grid.from_row takes a row of a table, chunk_size=[[256, 768]] is one value"
        )
    return True


def _axes_of(row: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Each setting of one system as an axis of one value; what plays no part keeps its default."""
    settings = settings_of(row)
    if settings["mode"] == FOREIGN:
        raise ConfigError(
            f"'{row.get(SYSTEM, FOREIGN)}' is a foreign retriever; no grid makes it again"
        )
    return {name: (value,) for name, value in settings.items() if value is not None}


def system_of(values: Mapping[str, Any]) -> Config:
    """One cell of the grid with the slices that its mode reads."""
    mode, rerank = values["mode"], _slice(values, "rerank")
    method, _, late_model = rerank["model"].partition(":")
    if method == MAXSIM:
        # The late interaction of a BM25 system needs a model too, and it is the sweep's.
        late_model = late_model or values["model"]
        rerank["model"] = MAXSIM if late_model == DEFAULT_MODEL else f"{MAXSIM}:{late_model}"
    views = {"views": values["views"]}
    slices = {
        "chunk": _chunk(values),
        "bm25": None if mode == "dense" else _slice(values, "bm25") | views,
        "dense": None if mode == "bm25" else _slice(values, "dense") | views,
        "fusion": _slice(values, "fusion") if mode == "hybrid" else None,
        "rerank": rerank if rerank["depth"] else None,
    }
    whole = {"deliver": "chunk"} if values["chunk_strategy"] == "document" else {}
    plain = {
        setting.key: values[name]
        for name, setting in SETTINGS.items()
        if SLICES[setting.stage] is None and name not in ("mode", "views")
    }
    return Config(**(slices | plain | whole))


def _slice(values: Mapping[str, Any], stage: Stage) -> dict[str, Any]:
    return {setting.key: values[setting.name] for setting in of_stage(stage)}


def _chunk(values: Mapping[str, Any]) -> dict[str, Any]:
    """What the strategy reads, and the model where it or the unit needs one."""
    unread = unread_by(values["chunk_strategy"])
    read = {key: value for key, value in _slice(values, "chunk").items() if key not in unread}
    if read.get("unit") == "tokens":
        read["tokenizer"] = values["model"]
    if read["strategy"] == "semantic":
        read["embedder"] = values["model"]
    return read


def _check_names(systems: Iterable[Config]) -> None:
    names = Counter(config.name for config in systems)
    alike = {name: count for name, count in names.items() if count > 1}
    if alike:
        raise ConfigError(
            f"{count} systems would share the name '{name}'; give the folders of their models, or "
            "their files of synonyms, different names"
            for name, count in alike.items()
        )


def _problems(fault: ValidationError) -> Iterable[str]:
    """Errors of a Grid under the keys of the experiment file, each bad value once, and of one
    setting the first ones."""
    problems: dict[str, dict[str, None]] = {}
    for error in fault.errors():
        field = str(error["loc"][0])
        if error["type"] == "extra_forbidden":
            line = f"unknown setting '{field}'{nearest(field, SETTINGS)}"
        else:
            line = problem(SETTINGS[field].path, error["msg"], error.get("input"))
        problems.setdefault(field, {})[line] = None
    lines: list[str] = []
    for field, of_field in problems.items():
        lines += list(of_field)[:SHOWN]
        if len(of_field) > SHOWN:
            lines.append(f"{SETTINGS[field].path}: and {len(of_field) - SHOWN} more such values")
    return lines
