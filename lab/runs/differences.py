"""Differences between the systems of one run: against a named one, against the best, case by
case."""

from typing import TYPE_CHECKING

import numpy as np

from lab.evaluation.cases import Cases, cases
from lab.evaluation.choice import Pairs
from lab.evaluation.metrics import is_cost
from lab.evaluation.nested import best_of
from lab.evaluation.paired import Paired, compare
from lab.evaluation.phases import phase_means
from lab.evaluation.selection import family_of, verdicts
from lab.evaluation.verdict import NOT_COMPARABLE, OPPOSITE, Verdict
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
    """Every other system that can be compared with one named in advance, one family under Holm's
    correction: a row a system with the fields of `lab.evaluation.paired.Paired` and the verdict."""
    import pandas as pd

    scores, baseline = tables.column(metric), tables.place(tables.comparable(system))
    others = tables.compared[tables.compared != baseline].tolist()
    means = cuts = None
    of_systems = tables.phase_means(metric)
    if of_systems is not None:
        means = of_systems[:, others] - of_systems[:, [baseline]]
        cuts = (tables.cuts[others] == tables.cuts[baseline]).astype(np.int64)
    differences = scores[:, others] - scores[:, [baseline]]
    paired = compare(differences, tables.clusters, tables.seed, phase_means=means, alike=cuts)
    columns = {name: getattr(paired, name) for name in Paired.__dataclass_fields__}
    names = {"system": [tables.names[other] for other in others]}
    verdicts = [seen_from(verdict, metric) for verdict in paired.verdicts]
    return pd.DataFrame(names | columns | {"verdict": verdicts})


def seen_from(verdict: Verdict, metric: str) -> Verdict:
    """A verdict on what is higher, as one on what is better: of a cost less is."""
    return OPPOSITE.get(verdict, verdict) if is_cost(metric) else verdict


def paired(tables: Tables, system: str, baseline: str) -> Paired:
    """One system minus another, a comparison for every metric."""
    first, second = (tables.place(tables.comparable(name)) for name in (system, baseline))
    by_phase = tables.by_phase
    means = None if by_phase is None else phase_means(by_phase[:, first] - by_phase[:, second])
    return compare(
        tables.values[first] - tables.values[second],
        tables.clusters,
        tables.seed,
        systems=1,
        phase_means=means,
    )


def family(tables: Tables, metric: str) -> Pairs:
    """All pairs of systems that can be compared by one metric, as the one family in which any of
    them is judged."""
    scores = np.nan_to_num(tables.column(metric)[:, tables.compared])
    return family_of(scores, tables.clusters, tables.seed, tables.phase_scores(metric))


def best_by(tables: Tables, metric: str) -> str:
    """The system with the highest mean of a metric, the lowest of a cost, of equals the cheaper,
    then the first by name (as the choice itself does; see `lab.evaluation.costs.Costs`)."""
    if metric == tables.select_by:
        return str(tables.manifest["best"])
    order = tables.from_the_cheapest
    order = order[np.isin(order, tables.compared)]
    means = np.nan_to_num(tables.column(metric)).mean(axis=0) * (-1 if is_cost(metric) else 1)
    return tables.names[order[best_of(means[order])]]


def chosen_verdicts(
    tables: Tables, pairs: Pairs, metric: str, reference: str
) -> dict[str, Verdict]:
    """What may be said of every system against one of them by a metric, after choosing among all
    that can be compared. Of a cost less is better."""
    sign = -1.0 if is_cost(metric) else 1.0
    scores = sign * np.nan_to_num(tables.column(metric)[:, tables.compared])
    place = tables.compared.tolist().index(tables.place(tables.comparable(reference)))
    by_name = dict.fromkeys(tables.names, NOT_COMPARABLE)
    for system, said in zip(
        tables.compared, verdicts(scores, place, pairs.against(place)), strict=True
    ):
        by_name[tables.names[system]] = said
    return by_name


def case_by_case(tables: Tables, system: str, other: str) -> Cases:
    """The scored questions by who of those that can be compared finds them, by the metric that
    chooses."""
    scores, members = np.nan_to_num(tables.column(tables.select_by)), tables.compared
    places = (
        members.tolist().index(tables.place(tables.comparable(name))) for name in (system, other)
    )
    return cases(scores[:, members], tables.query_ids, *places)
