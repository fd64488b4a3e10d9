"""Two pipelines' answers side by side: measure by measure on the questions that both answer."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lab.answers.table import ANSWERS, PLAIN, read_answer_tables
from lab.errors import AnswersError, nearest
from lab.evaluation.clusters import clustered
from lab.evaluation.paired import Paired, compare, corrected_p
from lab.evaluation.verdict import verdict
from lab.runs.compare import ALL, Line
from lab.runs.run import read_run

if TYPE_CHECKING:
    import pandas as pd

# Less of it is better.
COSTS = ("nowhere",)
# Within [-1, 1], so that its differences reach beyond what is tested here.
SIGNED = ("order",)
FEWEST = 2


@dataclass(frozen=True, slots=True)
class AnswersCompared:
    """A line a measure that at least two questions have in both; each on the questions that have it
    in both."""

    paths: tuple[str, str]
    systems: tuple[str, str]
    lines: tuple[Line, ...]


def compare_answers(
    paths: tuple[Path, Path], systems: tuple[str | None, str | None], seed: int = 0
) -> AnswersCompared:
    """Pair the answers kept in two run folders, to the contexts of a system of each, the
    recommended one by default. Documents are those of the first run. Raises AnswersError where
    there are no answers, or none in common."""
    sides = [_answers(path, system) for path, system in zip(paths, systems, strict=True)]
    (name_a, a), (name_b, b) = sides
    documents = read_run(paths[0]).tables.questions.set_index("query_id")["doc_id"]
    shared = [query_id for query_id in a.index if query_id in b.index and query_id in documents]
    measures = [name for name in a.columns if name in b.columns and name not in (*PLAIN, *SIGNED)]
    paired: dict[str, tuple[list[float], list[float], Paired]] = {}
    for name in measures:
        both = a.loc[shared, name].notna() & b.loc[shared, name].notna()
        ids = [query_id for query_id in shared if both[query_id]]
        if len(ids) < FEWEST:
            continue
        before, after = (table.loc[ids, name].to_numpy(np.float64) for table in (a, b))
        units = clustered(documents[ids].to_numpy(dtype=str))
        column = (after - before)[:, None]
        paired[name] = before.tolist(), after.tolist(), compare(column, units, seed)
    if not paired:
        raise AnswersError(f"{paths[0]} and {paths[1]} have no answers to the same questions")
    noise, unseen = (
        np.array([getattr(each, key)[0] for *_, each in paired.values()])
        for key in ("noise_p", "unseen_p")
    )
    # All measures are of one pair of pipelines, one family.
    ps = corrected_p(noise, unseen, 1)
    lines = [
        _line(name, values, float(p), len(paired))
        for (name, values), p in zip(paired.items(), ps, strict=True)
    ]
    return AnswersCompared((str(paths[0]), str(paths[1])), (name_a, name_b), tuple(lines))


def _answers(path: Path, system: str | None) -> "tuple[str, pd.DataFrame]":
    tables = read_answer_tables(path)
    if tables is None:
        raise AnswersError(
            f"{path}: has no {ANSWERS}; measure answers with lab answers RUN --answers FILE --into"
        )
    answered = [str(name) for name in tables.answers["system"].unique()]
    run = read_run(path).tables
    name = system if system in answered else run.named(system or str(run.manifest["recommended"]))
    if name not in answered:
        raise AnswersError(f"{path}: has no answers of '{name}'{nearest(name, answered)}")
    rows = tables.answers
    return name, rows[rows["system"] == name].set_index("query_id").sort_index()


def _line(
    name: str, values: tuple[list[float], list[float], Paired], p: float, measures: int
) -> Line:
    before, after, paired = values
    difference, wins, losses = (
        float(paired.difference[0]),
        int(paired.wins[0]),
        int(paired.losses[0]),
    )
    least = min(1.0, float(paired.least_p[0]) * measures)
    better = -difference if name in COSTS else difference
    return Line(
        slice=ALL,
        metric=name,
        questions=len(before),
        a=float(np.mean(before)),
        b=float(np.mean(after)),
        difference=difference,
        low=float(paired.low[0]),
        high=float(paired.high[0]),
        p=p,
        least_p=least,
        wins=losses if name in COSTS else wins,
        ties=int(paired.ties[0]),
        losses=wins if name in COSTS else losses,
        verdict=verdict(better, p, least, wins + losses),
    )
