"""Differences between the systems of one run: against a named one, against the best, case by
case."""

from typing import TYPE_CHECKING

import numpy as np

from lab.evaluation.against_best import against_best
from lab.evaluation.cases import Cases, cases
from lab.evaluation.nested import best_of
from lab.evaluation.paired import Paired, compare
from lab.evaluation.verdict import ALPHA
from lab.runs.tables import Tables

if TYPE_CHECKING:
    import pandas as pd


def baseline_of(tables: Tables) -> str:
    """The best BM25 system without a reranker, what a search box already has; without one the first
    system of the grid."""
    systems = tables.systems
    plain = systems[(systems["mode"] == "bm25") & systems["rerank_depth"].isna()]
    if plain.empty:
        return tables.names[0]
    ranked = plain.sort_values(tables.select_by, ascending=False, kind="stable")
    return str(ranked["system"].iloc[0])


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
    return compare(first - second, tables.clusters, tables.seed)


def undecided(tables: Tables, metric: str) -> tuple[str, ...]:
    """Systems that the questions do not tell from the best by one metric (5% level, corrected for
    the choice)."""
    scores = np.nan_to_num(tables.column(metric))
    best = int(best_of(scores.mean(axis=0)))
    clusters = tables.clusters
    against = against_best(clusters.sums(scores), best, tables.seed, sizes=clusters.sizes)
    return tuple(tables.names[place] for place in np.flatnonzero(against.tested.p >= ALPHA))


def case_by_case(tables: Tables, system: str, other: str) -> Cases:
    """The scored questions by who finds them, by the metric that chooses."""
    scores = np.nan_to_num(tables.column(tables.select_by))
    return cases(scores, tables.query_ids, tables.place(system), tables.place(other))
