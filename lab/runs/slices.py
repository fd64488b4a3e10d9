"""A finished run by slices: every metric over the questions of one kind, tag, document type,
length, language or distance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from lab.arrays import Floats
from lab.corpus.document import Corpus
from lab.errors import RunError, nearest
from lab.evaluation.clusters import Clusters, clustered
from lab.evaluation.intervals import mean_intervals
from lab.evaluation.metrics import is_cost
from lab.evaluation.slices import distance_label, labels
from lab.relevance.query import Query
from lab.runs.boundary import Cut, Gap, boundary_gap, margins, systems_alike, worst_cuts
from lab.runs.run import Run
from lab.runs.siblings import Confusion, sibling_confusion

DISTANCE = "distance"


@dataclass(frozen=True, slots=True)
class Slice:
    """The means of one system over the questions of one slice, with the ends of their 95% intervals
    (all by metric)."""

    slice: str
    system: str
    questions: int
    mean: dict[str, float]
    low: dict[str, float]
    high: dict[str, float]


def slice_run(
    run: Run, corpus: Corpus, queries: Sequence[Query], by: str, systems: Sequence[str]
) -> list[Slice]:
    """Rows by slice, then system. `by` is an axis of `lab.evaluation.slices`, a tag, or `distance`
    of the evidence from the nearest cut under each system's own chunks (a question counts by its
    nearest piece).

    Raises RunError for an unknown axis or system.
    """
    found = []
    for system in systems:
        run.check_system(system)
        values, metrics, ids = _scores(run, system)
        by_id = {query.query_id: query for query in queries}
        missing = [query_id for query_id in ids if query_id not in by_id]
        if missing:
            raise RunError(
                f"question '{missing[0]}' of the run is not in the "
                f"sets{nearest(missing[0], by_id)}; run the experiment again"
            )
        if by == DISTANCE:
            distances = margins(run, corpus, queries, system)
            names = [distance_label(min(distances[query_id])) for query_id in ids]
        else:
            names = labels([by_id[query_id] for query_id in ids], corpus, by)
        found += _means(
            system,
            np.array(names),
            values,
            metrics,
            _clusters(run, ids),
            int(run.manifest["measure"]["seed"]),
        )
    return sorted(found, key=lambda row: (_order(row.slice), systems.index(row.system)))


def _order(name: str) -> tuple[int, str]:
    """By the number a slice begins with, so that `15+ words` follows `8-14 words`; those without
    one as text, first."""
    digits = "".join(character for character in name.split("-")[0] if character.isdigit())
    return (int(digits) if digits and name[0].isdigit() else -1, name)


def _scores(run: Run, system: str) -> tuple[Floats, list[str], list[str]]:
    """Questions x metrics with the names of both."""
    rows = run.scores[run.scores["system"] == system]
    metrics = list(dict.fromkeys(rows["metric"].astype(str)))
    ids = list(dict.fromkeys(rows["query_id"].astype(str)))
    table = rows.astype({"metric": str, "query_id": str}).pivot(
        index="query_id", columns="metric", values="value"
    )
    return table.loc[ids, metrics].to_numpy(dtype=np.float64), metrics, ids


def _clusters(run: Run, ids: Sequence[str]) -> Clusters:
    """The independent units of the questions: their main documents, as in the run's own
    intervals."""
    document = run.questions.set_index("query_id")["doc_id"]
    return clustered(document.loc[list(ids)].to_numpy(dtype=str))


def _means(
    system: str,
    names: "NDArray[np.str_]",
    values: Floats,
    metrics: Sequence[str],
    clusters: Clusters,
    seed: int,
) -> list[Slice]:
    found = []
    for name in sorted(set(names.tolist())):
        inside = names == name
        members = values[inside]
        known = ~np.isnan(members)
        means = np.where(
            known.any(axis=0),
            np.where(known, members, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1),
            np.nan,
        )
        ends = []
        for column, metric in enumerate(metrics):
            bounds = None if is_cost(metric) else (0.0, 1.0)
            low, high = mean_intervals(
                values[inside][:, [column]], clusters.only(inside), seed, bounds
            )
            ends.append((float(low[0]), float(high[0])))
        found.append(
            Slice(
                name,
                system,
                len(members),
                dict(zip(metrics, means.tolist(), strict=True)),
                {metric: ends[c][0] for c, metric in enumerate(metrics)},
                {metric: ends[c][1] for c, metric in enumerate(metrics)},
            )
        )
    return found


@dataclass(frozen=True, eq=False)
class Sliced:
    """A run by one axis. `gaps` and `cuts` come with `distance`, for the system under every chunk
    config; `confusion` comes with `siblings`."""

    by: str
    system: str
    metric: str
    rows: tuple[Slice, ...] = ()
    gaps: tuple[Gap, ...] = ()
    cuts: Mapping[str, tuple[Cut, ...]] = field(default_factory=dict)
    confusion: tuple[Confusion, ...] = ()


def sliced(run: Run, corpus: Corpus, queries: Sequence[Query], by: str, system: str) -> Sliced:
    """The run by one axis: the chosen system beside the best of every other mode; by `distance`
    beside the same system under every other chunk config; by `siblings` all systems."""
    run.check_system(system)
    metric = _gap_metric(run)
    if by == "siblings":
        return Sliced(by, system, metric, confusion=tuple(sibling_confusion(run, corpus, queries)))
    if by != DISTANCE:
        return Sliced(
            by, system, metric, tuple(slice_run(run, corpus, queries, by, _beside(run, system)))
        )
    alike = systems_alike(run, system)
    found = {name: margins(run, corpus, queries, name) for name in alike}
    return Sliced(
        by,
        system,
        metric,
        tuple(slice_run(run, corpus, queries, by, alike)),
        tuple(boundary_gap(run, queries, found, name, metric) for name in alike),
        {
            name: tuple(worst_cuts(run, corpus, queries, found[name], name, _cut_off(metric)))
            for name in alike
        },
    )


def _beside(run: Run, system: str) -> list[str]:
    """The system, then the best system of every other mode."""
    chosen = run.manifest["measure"]["select_by"]
    table = run.systems.sort_values(chosen, ascending=False, kind="stable").drop_duplicates("mode")
    own = run.systems.set_index("system").loc[system, "mode"]
    return [system, *table.loc[table["mode"] != own, "system"].astype(str)]


def _gap_metric(run: Run) -> str:
    """Recall where it is measured, for it says whether the evidence was found; else the metric that
    chooses."""
    measured = [str(metric) for metric in run.scores["metric"].unique()]
    recall = [
        metric for metric in measured if metric.startswith("recall@") and not metric.endswith("tok")
    ]
    return (recall or [str(run.manifest["measure"]["select_by"])])[0]


def _cut_off(metric: str) -> int:
    """The metric's cut-off in chunks, 10 where it has none."""
    end = metric.partition("@")[2]
    return int(end) if end.isdigit() else 10
