"""Differences between the systems of one run: against a named one, against the best, case by
case."""

from typing import TYPE_CHECKING

import numpy as np

from lab.evaluation.cases import Cases, cases
from lab.evaluation.choice import Pairs, all_pairs
from lab.evaluation.nested import best_of
from lab.evaluation.paired import Paired, compare
from lab.evaluation.selection import verdicts
from lab.evaluation.verdict import Verdict
from lab.runs.tables import Tables

if TYPE_CHECKING:
    import pandas as pd


def baseline_of(tables: Tables) -> str:
    """The best BM25 system without a reranker, of equals the cheaper, what a search box already
    has; without one the first system of the grid."""
    return best_plain(tables.systems, tables.select_by)


def best_plain(systems: "pd.DataFrame", metric: str) -> str:
    """The same of a table of systems."""
    plain = systems[(systems["mode"] == "bm25") & systems["rerank_depth"].isna()]
    ordered = plain.sort_values("cost_rank", kind="stable")
    ranked = ordered.sort_values(metric, ascending=False, kind="stable")
    return str((systems if plain.empty else ranked)["system"].iloc[0])


def against(tables: Tables, system: str, metric: str) -> "pd.DataFrame":
    """Every other system compared with one named in advance, one family under Holm's correction: a
    row a system with the fields of `lab.evaluation.paired.Paired` and the verdict."""
    import pandas as pd

    scores, baseline = tables.column(metric), tables.place(system)
    others = [number for number in range(len(tables.names)) if number != baseline]
    paired = compare(scores[:, others] - scores[:, [baseline]], tables.clusters, tables.seed)
    columns = {name: getattr(paired, name) for name in Paired.__dataclass_fields__}
    names = {"system": [tables.names[other] for other in others]}
    return pd.DataFrame(names | columns | {"verdict": paired.verdicts})


def paired(tables: Tables, system: str, baseline: str) -> Paired:
    """One system minus another, a comparison for every metric."""
    first, second = (tables.values[tables.place(name)] for name in (system, baseline))
    return compare(first - second, tables.clusters, tables.seed, systems=1)


def family(tables: Tables, metric: str) -> Pairs:
    """All pairs of systems by one metric, as the one family in which any of them is judged."""
    scores = np.nan_to_num(tables.column(metric))
    clusters = tables.clusters
    return all_pairs(clusters.sums(scores), tables.seed, sizes=clusters.sizes)


def best_by(tables: Tables, metric: str) -> str:
    """The system with the highest mean of a metric, of equals the cheaper, then the first by name
    (as the choice itself does; see `lab.evaluation.costs.Costs`)."""
    if metric == tables.select_by:
        return str(tables.manifest["best"])
    order = tables.from_the_cheapest
    means = np.nan_to_num(tables.column(metric)).mean(axis=0)
    return tables.names[order[best_of(means[order])]]


def chosen_verdicts(
    tables: Tables, pairs: Pairs, metric: str, reference: str
) -> dict[str, Verdict]:
    """What may be said of every system against one of them by a metric, after choosing among
    all."""
    scores, place = np.nan_to_num(tables.column(metric)), tables.place(reference)
    told = verdicts(scores, place, pairs.against(place))
    return dict(zip(tables.names, told, strict=True))


def case_by_case(tables: Tables, system: str, other: str) -> Cases:
    """The scored questions by who finds them, by the metric that chooses."""
    scores = np.nan_to_num(tables.column(tables.select_by))
    return cases(scores, tables.query_ids, tables.place(system), tables.place(other))
