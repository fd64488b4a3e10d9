"""A finished run by slices: every metric over the questions of one kind, tag, document type,
length, language or distance."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.arrays import Bools
from lab.corpus.document import Corpus
from lab.errors import RunError, nearest
from lab.evaluation.metrics import is_cost
from lab.evaluation.phases import intervals_over_phases, phase_means
from lab.evaluation.slices import distance_label, labels
from lab.relevance.query import Query
from lab.runs.boundary import Cut, Gap, boundary_gap, margins, systems_alike, worst_cuts
from lab.runs.siblings import Confusion, sibling_confusion
from lab.runs.tables import Tables

if TYPE_CHECKING:
    import pandas as pd

KIND = "kind"
DISTANCE = "distance"
SIBLINGS = "siblings"
# The slice of every scored question, by system.
Names = Mapping[str, Sequence[str]]


def kinds_of(tables: Tables, systems: Sequence[str]) -> Names:
    """The kind of every scored question; a run's own tables know it."""
    kinds = tables.questions.set_index("query_id")["kind"].loc[list(tables.query_ids)].tolist()
    return dict.fromkeys(systems, kinds)


def slices_of(
    tables: Tables, corpus: Corpus, queries: Sequence[Query], by: str, systems: Sequence[str]
) -> Names:
    """The slice of every scored question along an axis of `lab.evaluation.slices`, a tag, or the
    `distance` of its nearest piece of evidence from the nearest cut of each system's own chunks.

    Raises RunError for an unknown axis.
    """
    by_id = {query.query_id: query for query in queries}
    missing = [query_id for query_id in tables.query_ids if query_id not in by_id]
    if missing:
        raise RunError(
            f"question '{missing[0]}' of the run is not in the sets{nearest(missing[0], by_id)}; "
            "run the experiment again"
        )
    if by != DISTANCE:
        asked = [by_id[query_id] for query_id in tables.query_ids]
        return dict.fromkeys(systems, labels(asked, corpus, by))
    by_system = {}
    for system in systems:
        distances = margins(tables, corpus, queries, system)
        by_system[system] = [
            distance_label(min(distances[query_id])) for query_id in tables.query_ids
        ]
    return by_system


def slice_table(tables: Tables, by: str, names: Names) -> "pd.DataFrame":
    """A row a slice and system, slices in the order of their numbers: how many questions, and the
    mean of every metric with the ends of its 95% interval."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for system, of in names.items():
        labelled = np.array(of)
        for name in sorted(set(labelled.tolist())):
            inside = labelled == name
            row = {by: name, "system": system, "questions": int(inside.sum())}
            rows.append(row | _means(tables, tables.place(system), inside))
    order = {system: place for place, system in enumerate(names)}
    rows.sort(key=lambda row: (_order(row[by]), order[row["system"]]))
    return pd.DataFrame(rows)


def _means(tables: Tables, system: int, inside: Bools) -> dict[str, float]:
    """Every metric of one system over some questions, without those that have no value."""
    values, clusters = tables.values[system, inside], tables.clusters.only(inside)
    by_phase = None if tables.by_phase is None else tables.by_phase[:, system, inside]
    known = ~np.isnan(values)
    totals, counts = np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0)
    means = np.divide(totals, counts, out=np.full(len(totals), np.nan), where=counts > 0)
    row_values: dict[str, float] = {}
    for place, metric in enumerate(tables.metrics):
        bounds = None if is_cost(metric) else (0.0, 1.0)
        phases = None if by_phase is None else phase_means(by_phase[:, :, [place]])
        column = values[:, [place]]
        low, high = intervals_over_phases(column, clusters, tables.seed, phases, bounds)
        row_values[metric] = float(means[place])
        row_values |= {f"{metric}_low": float(low[0]), f"{metric}_high": float(high[0])}
    return row_values


def _order(name: str) -> tuple[int, str]:
    """By the number a slice begins with, so that `15+ words` follows `8-14 words`; those without
    one as text, first."""
    digits = "".join(character for character in name.split("-")[0] if character.isdigit())
    return (int(digits) if digits and name[0].isdigit() else -1, name)


def table_by(
    tables: Tables,
    by: str,
    systems: Sequence[str],
    inputs: Callable[[], tuple[Corpus, Sequence[Query]]],
) -> "pd.DataFrame":
    """The rows of `slice_table` along any axis, or those of `confusion_table`. `inputs` reads the
    documents and questions, which the kind does not need."""
    if by == KIND:
        return slice_table(tables, by, kinds_of(tables, systems))
    if by == SIBLINGS:
        return confusion_table(tables, *inputs(), systems)
    if by == DISTANCE:
        tables = at_first_phase(tables)
    return slice_table(tables, by, slices_of(tables, *inputs(), by, systems))


def confusion_table(
    tables: Tables, corpus: Corpus, queries: Sequence[Query], systems: Sequence[str]
) -> "pd.DataFrame":
    """Sibling confusion, a row a system (see `lab.runs.siblings.Confusion`)."""
    import pandas as pd

    rows = [asdict(row) for row in sibling_confusion(tables, corpus, queries)]
    names = [field.name for field in fields(Confusion)]
    return pd.DataFrame([row for row in rows if row["system"] in systems], columns=names)


@dataclass(frozen=True, eq=False)
class Sliced:
    """A run by one axis. `metric` is the one of the boundary gap, `select_by` the one that chooses.
    `rows` are those of `slice_table`; `gaps` and `cuts` come with `distance`, for the system under
    every chunk config; `confusion` comes with `siblings`. `phase` is the one whose cuts, hits and
    scores these are, in a run at several by `distance`; else None."""

    by: str
    system: str
    metric: str
    select_by: str
    rows: "pd.DataFrame | None" = None
    gaps: tuple[Gap, ...] = ()
    cuts: Mapping[str, tuple[Cut, ...]] = field(default_factory=dict)
    confusion: tuple[Confusion, ...] = ()
    phase: float | None = None


def at_first_phase(tables: Tables) -> Tables:
    """The run with the scores of its first phase alone. Distances are from the cuts of that phase,
    whose hits the run keeps, so means over other cuts would not belong to them."""
    if tables.by_phase is None:
        return tables
    scores = tables.scores.assign(value=tables.by_phase[0].reshape(-1))
    return replace(tables, scores=scores, phases=tables.phases.iloc[:0])


def sliced(
    tables: Tables, corpus: Corpus, queries: Sequence[Query], by: str, system: str
) -> Sliced:
    """The run by one axis: the chosen system beside the best of every other mode; by `distance`
    beside the same system under every other chunk config; by `siblings` all systems."""
    metric = _gap_metric(tables)
    if by == SIBLINGS:
        confusions = sibling_confusion(tables, corpus, queries)
        return Sliced(by, system, metric, tables.select_by, confusion=tuple(confusions))
    shown = systems_alike(tables, system) if by == DISTANCE else _beside(tables, system)
    phase = None
    if by == DISTANCE and tables.by_phase is not None:
        tables, phase = at_first_phase(tables), float(tables.manifest["phases"][0])
    rows = slice_table(tables, by, slices_of(tables, corpus, queries, by, shown))
    if by != DISTANCE:
        return Sliced(by, system, metric, tables.select_by, rows)
    distances = {name: margins(tables, corpus, queries, name) for name in shown}
    gaps = [boundary_gap(tables, queries, distances, name, metric) for name in shown]
    k = _cut_off(metric)
    cuts = {
        name: tuple(worst_cuts(tables, corpus, queries, distances[name], name, k=k))
        for name in shown
    }
    more: dict[str, Any] = {"gaps": tuple(gaps), "cuts": cuts, "phase": phase}
    return Sliced(by, system, metric, tables.select_by, rows, **more)


def _beside(tables: Tables, system: str) -> list[str]:
    """The system, then the best system of every other mode."""
    modes = dict(zip(tables.names, tables.systems["mode"], strict=True))
    others = (name for name in tables.best_of_modes if modes[name] != modes[system])
    return [system, *others]


def _gap_metric(tables: Tables) -> str:
    """Recall where it is measured, for it says whether the evidence was found; else the metric that
    chooses."""
    recall = [
        metric
        for metric in tables.metrics
        if metric.startswith("recall@") and not metric.endswith("tok")
    ]
    return (recall or [tables.select_by])[0]


def _cut_off(metric: str) -> int:
    """The metric's cut-off in chunks, 10 where it has none."""
    end = metric.partition("@")[2]
    return int(end) if end.isdigit() else 10
