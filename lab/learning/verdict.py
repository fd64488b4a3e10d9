"""Trained against untrained: on sealed questions, and on a second set for what was forgotten."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lab.config.config import Config
from lab.config.grid import Grid
from lab.config.measure import Measure
from lab.corpus.document import Corpus
from lab.errors import LearningError
from lab.evaluation.metrics import PYTHON, is_cost
from lab.evaluation.paired import corrected_p
from lab.evaluation.verdict import Verdict, verdict
from lab.learning.mined import Mined
from lab.learning.sealed import SHOWN, asked_again, digest_of
from lab.learning.training import Kind
from lab.relevance.query import Query
from lab.retrieval.models import model_folder, read_json
from lab.runs.load import config_of
from lab.runs.run import Run, read_run
from lab.storage.progress import Progress
from lab.sweeping.sweep import sweep

if TYPE_CHECKING:
    import pandas as pd

Part = Literal["sealed", "second"]
# Hits that a trained reranker re-scores where the system had none.
DEPTH = 20


@dataclass(frozen=True, slots=True)
class Line:
    """One metric of one set, untrained and trained: means, their difference with its 95% interval,
    questions won and lost, p (Holm over all lines of a verdict), and what may be said of the
    trained one."""

    set: str
    part: Part
    system: str
    metric: str
    questions: int
    untrained: float
    trained: float
    difference: float
    low: float
    high: float
    wins: int
    losses: int
    p: float
    verdict: Verdict


@dataclass(frozen=True, eq=False)
class Judged:
    """What a set says: `run` holds two systems. `back` and `made` count, by cause, the missed
    pieces that training brought back and those that it made."""

    name: str
    part: Part
    run: Run
    untrained: str
    trained: str
    back: Mapping[str, int]
    made: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Asked:
    """Questions to be asked of the untrained and of the trained system, which a grid makes."""

    name: str
    part: Part
    corpus: Corpus
    queries: Sequence[Query]
    grid: Grid
    measure: Measure
    column: str
    trained: str


def asked_of(
    kind: Kind,
    base: str,
    trained: Path,
    sources: Mapping[Path, Mined],
    second: Sequence[Path],
) -> list[Asked]:
    """What a verdict asks: the sealed questions of every folder under the systems mined from, and
    all questions of the `second` runs under their recommended one and the best of every mode. An
    encoder stands in every such system that has a dense leg, a reranker in the first.

    Raises LearningError, before any training, where there is nothing sealed, no such system, or a
    second set asks what was trained on.
    """
    if kind == "sparse":
        raise LearningError("--verdict: this version has no learned sparse leg to judge it in")
    asked = []
    problems: list[str] = []
    for path, mined in sources.items():
        if mined.facts["run"] is None or not mined.sealed.query_ids:
            problems.append(
                f"{path}: nothing is sealed, so there is no verdict; seal questions (a folder "
                "'sealed' beside the set, [measure] sealed, or lab mine --sealed) and mine again"
            )
            continue
        run = read_run(mined.facts["run"])
        queries = asked_again(run, mined.sealed, run.corpus)
        asked += _asked(run, "sealed", queries, mined.facts["systems"], (kind, base, trained))
    taught = {digest_of(e.question) for mined in sources.values() for e in mined.examples}
    for path in second:
        run = read_run(path)
        scored = set(run.query_ids)
        queries = tuple(query for query in run.queries if query.query_id in scored)
        leaks = [query.query_id for query in queries if digest_of(query.text) in taught]
        if leaks:
            shown = ", ".join(leaks[:SHOWN]) + (", ..." if len(leaks) > SHOWN else "")
            problems.append(
                f"{path}: a leak: the training examples ask {len(leaks)} of its questions "
                f"({shown}); name a run of another set with --second"
            )
            continue
        names = tuple(dict.fromkeys((run.recommended, *run.tables.best_of_modes)))
        asked += _asked(run, "second", queries, names, (kind, base, trained))
    if problems:
        raise LearningError(problems)
    return asked


def _asked(
    run: Run,
    part: Part,
    queries: Sequence[Query],
    systems: Sequence[str],
    model: tuple[Kind, str, Path],
) -> list[Asked]:
    kind, base, trained = model
    configs = [config_of(run, name) for name in systems]
    stands = [config for config in configs if kind == "reranker" or config.dense is not None]
    if not stands:
        raise LearningError(
            f"{run.manifest['name']}: none of {', '.join(systems)} has a dense leg, in which a "
            "trained encoder could stand; mine one with --system"
        )
    column = "model" if kind == "encoder" else "rerank_model"
    return [
        Asked(
            name=run.manifest["name"],
            part=part,
            corpus=run.corpus,
            queries=queries,
            grid=_pair(config, column, base, str(trained)),
            measure=_measure(run.manifest["measure"]),
            column=column,
            trained=str(trained),
        )
        for config in (stands if kind == "encoder" else stands[:1])
    ]


def _measure(measured: Mapping[str, Any]) -> Measure:
    """What the run measured, but for metrics that are Python: a run folder does not hold them."""
    metrics = [metric for metric in measured["metrics"] if not metric.startswith(PYTHON)]
    metrics = metrics or list(Measure().metrics)
    select_by = measured["select_by"] if measured["select_by"] in metrics else metrics[-1]
    kept = {name: measured[name] for name in ("unit", "hold", "seed")}
    return Measure(metrics=metrics, select_by=select_by, **kept)


def _pair(config: Config, column: str, base: str, trained: str) -> Grid:
    """The grid of a system with the untrained model and with the trained one. Untrained is a
    reranker that the base is itself, else the system's own, else none."""
    settings: dict[str, Any] = {
        name: (value,) for name, value in config.settings().items() if value is not None
    }
    untrained = base
    if column == "rerank_model" and not _is_reranker(base):
        if config.rerank is None:
            return Grid(**settings | {column: trained, "rerank_depth": (0, DEPTH)})
        untrained = config.rerank.model
    if column == "rerank_model" and config.rerank is None:
        settings["rerank_depth"] = (DEPTH,)
    return Grid(**settings | {column: (untrained, trained)})


def _is_reranker(base: str) -> bool:
    architectures = read_json(model_folder(base) / "config.json").get("architectures")
    return isinstance(architectures, list) and "SequenceClassification" in str(architectures)


def judge(asked: Asked, progress: Progress) -> Judged:
    """Ask both systems."""
    run = sweep(
        asked.corpus,
        asked.queries,
        asked.grid,
        asked.measure,
        name=f"{asked.name} {asked.part}",
        progress=progress,
    )
    table = run.table()
    is_trained = (table[asked.column].astype(str) == asked.trained).tolist()
    trained, untrained = (
        next(name for name, flag in zip(run.systems, is_trained, strict=True) if flag is wanted)
        for wanted in (True, False)
    )
    missed = [_missed(run, name) for name in (untrained, trained)]
    back = _counts(missed[0], set(missed[1]))
    made = _counts(missed[1], set(missed[0]))
    return Judged(
        name=asked.name,
        part=asked.part,
        run=run,
        untrained=untrained,
        trained=trained,
        back=back,
        made=made,
    )


def _missed(run: Run, system: str) -> dict[tuple[str, int], str]:
    rows: pd.DataFrame = run.tables.rows("causes", system)
    return {(str(r.query_id), int(r.piece)): str(r.cause) for r in rows.itertuples()}


def _counts(missed: Mapping[Any, str], others: set[Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for piece, cause in missed.items():
        if piece not in others:
            counts[cause] = counts.get(cause, 0) + 1
    return counts


def lines_of(judged: Sequence[Judged]) -> list[Line]:
    """Every set and metric, one family under Holm's correction, as planned pairs."""
    cells = [
        (of, metric, of.run.paired(of.trained, of.untrained), place)
        for of in judged
        for place, metric in enumerate(of.run.metrics)
    ]
    noise, unseen = (
        np.array([getattr(paired, name)[place] for _, _, paired, place in cells])
        for name in ("noise_p", "unseen_p")
    )
    corrected = corrected_p(noise, unseen, len(judged))
    lines = []
    for (of, metric, paired, place), p in zip(cells, corrected.tolist(), strict=True):
        difference = float(paired.difference[place])
        wins, losses = int(paired.wins[place]), int(paired.losses[place])
        least = min(1.0, float(paired.least_p[place]) / len(paired.p) * len(cells))
        sign = -1 if is_cost(metric) else 1
        means = [
            float(of.run.tables.column(metric)[:, of.run.tables.place(name)].mean())
            for name in (of.untrained, of.trained)
        ]
        lines.append(
            Line(
                set=of.name,
                part=of.part,
                system=of.untrained,
                metric=metric,
                questions=len(of.run.query_ids),
                untrained=means[0],
                trained=means[1],
                difference=difference,
                low=float(paired.low[place]),
                high=float(paired.high[place]),
                wins=wins if sign > 0 else losses,
                losses=losses if sign > 0 else wins,
                p=p,
                verdict=verdict(sign * difference, p, least, wins + losses),
            )
        )
    return lines
