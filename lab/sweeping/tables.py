"""What a sweep measured, as the tables of a run folder."""

from dataclasses import astuple, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.arrays import NEVER, Floats
from lab.config.config import Config
from lab.config.phases import at_phases
from lab.config.rows import settings_table
from lab.diagnosis.calls import CallStep
from lab.evaluation.clusters import main_documents
from lab.evaluation.pareto import pareto_front
from lab.evaluation.risk import georisk, hurt
from lab.evaluation.verdict import NOT_COMPARABLE
from lab.pipeline.rows import StageRows
from lab.runs.differences import best_plain
from lab.runs.inputs import Inputs
from lab.runs.questions import question_table
from lab.runs.run import Run
from lab.runs.tables import Tables
from lab.sweeping.costs import vector_bytes
from lab.sweeping.manifest import manifest_of
from lab.sweeping.measured import Measured
from lab.sweeping.weighing import weighing_tables

if TYPE_CHECKING:
    import pandas as pd


def run_of(measured: Measured) -> Run:
    """The run that a sweep returns; it keeps the documents and questions that it was given."""
    findings, plan = measured.findings, measured.plan
    alphas, means = findings.alphas(plan.pieces, measured.metrics)
    weighing, weights = weighing_tables(measured.weighings)
    tables = Tables(
        manifest=manifest_of(measured),
        systems=_systems(measured),
        scores=_scores(measured),
        phases=_phases(measured),
        rankings=_rankings(measured),
        evidence=_evidence(measured),
        questions=_questions(measured),
        causes=findings.causes(measured.systems),
        curves=findings.curves(plan.pieces),
        alphas=alphas,
        means=means,
        separation=findings.separation(),
        thresholds=findings.thresholds(),
        calls=_calls(measured),
        weighing=weighing,
        weights=weights,
    )
    return Run(tables, Inputs(plan.corpus, plan.queries))


def _systems(measured: Measured) -> "pd.DataFrame":
    """A row a system: its settings, means with intervals, costs, how sure the choice is, and by the
    selecting metric how many questions it has `hurt` and `helped` against the best BM25 system, and
    its `georisk` (see `lab.evaluation.risk`). What comes of comparing is null for a system whose
    figures cannot be compared. A profiled sweep adds the latencies (see
    `lab.sweeping.profile.Latency`), which like all times differ from run to run."""
    import pandas as pd

    low, high = measured.intervals
    scores: dict[str, Floats] = {}
    for place, metric in enumerate(measured.metrics):
        scores[metric] = measured.means[:, place]
        scores |= {f"{metric}_low": low[:, place], f"{metric}_high": high[:, place]}
    configs, profile = measured.plan.configs, measured.account.profile
    stored = vector_bytes(configs, measured.account.dimensions)
    columns = {
        **scores,
        "phases": [_phase_count(measured, config) for config in configs],
        "context_tokens": measured.context_tokens,
        **_compared(measured),
        **measured.findings.unanswerable_columns(measured.systems),
        **(profile.columns(configs) if profile else {}),
        **({"vector_bytes": stored} if len(stored) else {}),
    }
    rows = [
        {"system": name, **config.settings()}
        for name, config in zip(measured.systems, configs, strict=True)
    ]
    family = pd.Series(measured.families, dtype="str", name="family")
    table = pd.concat([settings_table(rows), family, pd.DataFrame(columns)], axis=1)
    select_by = measured.plan.measure.select_by
    baseline = measured.contenders.index(best_plain(table, select_by))
    known = np.nan_to_num(measured.compared_column(select_by))
    lost, won = hurt(known, baseline)
    risks = {"hurt": lost, "helped": won, "georisk": georisk(known)}
    return table.assign(**{name: _for_all(measured, values) for name, values in risks.items()})


def _phase_count(measured: Measured, config: Config) -> int:
    """At how many phases a system was run."""
    return 1 if config.retriever else len(at_phases(config.chunk, measured.plan.phases))


def _compared(measured: Measured) -> dict[str, Any]:
    """The columns that come of comparing systems with each other."""
    chosen, compared = measured.selection, measured.compared
    known = chosen.costs
    costs = [known.tokens, known.latency, known.index_bytes]
    costs += [known.vector_bytes] if len(known.vector_bytes) else []
    quality = measured.means[compared, measured.metrics.index(measured.plan.measure.select_by)]
    verdicts = np.full(len(measured.systems), NOT_COMPARABLE, dtype=object)
    verdicts[compared] = chosen.verdicts
    flags = {
        "pareto": pareto_front(quality, np.column_stack(costs)),
        "recommended": np.arange(len(compared)) == chosen.recommended,
        **measured.doubts.columns(),
    }
    # Those that are not compared stand last, by name.
    rest = sorted(set(range(len(measured.systems))) - set(compared.tolist()))
    order = [*compared[chosen.order], *sorted(rest, key=measured.systems.__getitem__)]
    return {
        "p_best": _for_all(measured, chosen.probability_best),
        "picked": _for_all(measured, chosen.nested.picked),
        "p": _for_all(measured, chosen.p),
        "least_p": _for_all(measured, chosen.against.tested.least),
        "verdict": verdicts,
        "cost_rank": np.argsort(order) + 1,
        **{
            name: np.isin(np.arange(len(measured.systems)), compared[flag])
            for name, flag in flags.items()
        },
    }


def _for_all(measured: Measured, values: "np.ndarray[Any, Any]") -> Any:
    """A column of numbers for all systems from that of the contenders, null for the others."""
    total = len(measured.systems)
    if len(values) == total:
        return values
    if values.dtype == np.float64:
        spread = np.full(total, np.nan)
        spread[measured.compared] = values
        return spread
    counts = np.zeros(total, dtype=np.int64)
    counts[measured.compared] = values
    return whole(counts, ~np.isin(np.arange(total), measured.compared))


def _scores(measured: Measured) -> "pd.DataFrame":
    import pandas as pd

    systems, questions, metrics = measured.values.shape
    ids = [query.query_id for query in measured.plan.pieces.queries]
    return pd.DataFrame(
        {
            "system": _labels(measured.systems, np.repeat(np.arange(systems), questions * metrics)),
            "query_id": _labels(ids, np.tile(np.repeat(np.arange(questions), metrics), systems)),
            "metric": _labels(measured.metrics, np.tile(np.arange(metrics), systems * questions)),
            "value": measured.values.reshape(-1),
        }
    )


def _phases(measured: Measured) -> "pd.DataFrame":
    """A row a phase of every system that was run at several."""
    import pandas as pd

    plan, by_phase = measured.plan, measured.by_phase
    run_at = [
        place
        for place, config in enumerate(plan.configs)
        if by_phase is not None and _phase_count(measured, config) > 1
    ]
    names = ("system", "phase", "query_id", "metric", "value")
    if by_phase is None or not run_at:
        return pd.DataFrame({name: pd.Series(dtype="float64") for name in names})
    values = by_phase[:, run_at].swapaxes(0, 1)
    systems, phases, questions, metrics = values.shape
    ids = [query.query_id for query in plan.pieces.queries]
    each = questions * metrics
    system = np.repeat(np.array(run_at), phases * each)
    return pd.DataFrame(
        {
            "system": _labels(measured.systems, system),
            "phase": np.tile(np.repeat(plan.phases, each), systems),
            "query_id": _labels(
                ids, np.tile(np.repeat(np.arange(questions), metrics), systems * phases)
            ),
            "metric": _labels(
                measured.metrics, np.tile(np.arange(metrics), systems * phases * questions)
            ),
            "value": values.reshape(-1),
        }
    )


def _rankings(measured: Measured) -> "pd.DataFrame":
    import pandas as pd

    lengths = [len(rows.query) for rows in measured.rows]
    columns = {
        name: np.concatenate([getattr(rows, name) for rows in measured.rows])
        for name in StageRows.columns()
    }
    query, document = columns.pop("query"), columns.pop("document")
    labels = {
        "system": _labels(measured.systems, np.repeat(np.arange(len(lengths)), lengths)),
        "query_id": _labels([q.query_id for q in measured.plan.pieces.queries], query),
        "doc_id": _labels([d.doc_id for d in measured.plan.corpus], document),
    }
    return pd.DataFrame(labels | {name: _stored(name, of) for name, of in columns.items()})


def _stored(name: str, values: "np.ndarray[Any, Any]") -> Any:
    """A column of rankings: ranks, of which 0 is none, and offsets as whole numbers."""
    if values.dtype != np.int64:
        return values
    return whole(values, values == 0) if name.endswith("rank") else values.astype(np.int32)


def _evidence(measured: Measured) -> "pd.DataFrame":
    """Of alternatives the first is named; no start and end for a whole document."""
    import pandas as pd

    asked, systems = measured.plan.pieces, len(measured.systems)
    first = [piece[0] for piece in asked.items]
    documents = np.tile([item.whole for item in first], systems)
    complete = measured.complete.reshape(-1)
    return pd.DataFrame(
        {
            "system": _labels(measured.systems, np.repeat(np.arange(systems), len(asked))),
            "query_id": _labels([q.query_id for q in asked.queries], np.tile(asked.query, systems)),
            "piece": np.tile(asked.number, systems).astype(np.int32),
            "doc_id": np.tile([item.doc_id for item in first], systems),
            "start": whole(np.tile([item.start or 0 for item in first], systems), documents),
            "end": whole(np.tile([item.end or 0 for item in first], systems), documents),
            "grade": np.tile(asked.grade, systems).astype(np.int32),
            "complete": whole(complete, complete == NEVER),
            "reachable": measured.findings.reachable[:, asked.query].reshape(-1).astype(np.int32),
        }
    )


def _questions(measured: Measured) -> "pd.DataFrame":
    pieces, sealed = measured.plan.pieces, measured.sealed
    ids = [query.query_id for query in pieces.queries]
    documents = dict(zip(ids, main_documents(pieces).tolist(), strict=True))
    unscored = dict(pieces.unscored) | dict.fromkeys(sealed.query_ids if sealed else (), "sealed")
    return question_table(measured.plan.queries, documents, unscored)


def _calls(measured: Measured) -> "pd.DataFrame":
    """A row a system, question and search, of systems that search several times for one."""
    import pandas as pd

    names = ["system", *(field.name for field in fields(CallStep))]
    rows = [
        (system, *astuple(step))
        for system, steps in zip(measured.systems, measured.calls, strict=True)
        for step in steps
    ]
    return pd.DataFrame(rows, columns=names)


def whole(values: "np.ndarray[Any, Any]", absent: "np.ndarray[Any, Any]") -> Any:
    """Whole numbers, null where they are absent."""
    import pandas as pd

    return pd.arrays.IntegerArray(np.where(absent, 0, values).astype(np.int32), absent.copy())


def _labels(
    names: "tuple[str, ...] | list[str]", codes: "np.ndarray[Any, Any]"
) -> "pd.Categorical":
    import pandas as pd

    return pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype="str"))
