"""Comparing two runs on the questions that both have: code versions, models, corpora, or foreign
systems."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.arrays import Bools, Floats
from lab.errors import RunError, nearest
from lab.evaluation.clusters import clustered
from lab.evaluation.intervals import NOISE
from lab.evaluation.metrics import is_cost
from lab.evaluation.paired import Paired, compare, corrected_p
from lab.evaluation.phases import gaps_between, phase_means
from lab.evaluation.verdict import Verdict, verdict
from lab.runs.changes import changes
from lab.runs.side import Side
from lab.runs.unjudged import decided_by_unjudged

if TYPE_CHECKING:
    import pandas as pd

Words = NDArray[np.str_]
Slice = tuple[str, Bools]

ALL = "all"


@dataclass(frozen=True, slots=True)
class Line:
    """One metric on all common questions or on one kind: means of A and B, their difference B - A
    with its 95% interval, p (Holm over the lines of its table), the least p it could have been, and
    the verdict on B."""

    slice: str
    metric: str
    questions: int
    a: float
    b: float
    difference: float
    low: float
    high: float
    p: float
    least_p: float
    wins: int
    ties: int
    losses: int
    verdict: Verdict


@dataclass(frozen=True, eq=False)
class RunComparison:
    """`lines` over all common questions, `slices` per kind; `drift` has a row a question whose
    score by `drift_by` moved, largest first; `causes` cause -> missed pieces in A and B; `changed`
    says what differs between the runs beside their scores; `unjudged` names the metrics whose
    difference documents that nobody judged could turn."""

    a: Side
    b: Side
    common: int
    lines: tuple[Line, ...]
    slices: tuple[Line, ...]
    drift_by: str
    drift: "pd.DataFrame"
    causes: dict[str, tuple[int, int]]
    changed: tuple[str, ...]
    unjudged: tuple[str, ...]


def compare_sides(a: Side, b: Side, drift_by: str | None = None, seed: int = 0) -> RunComparison:
    """Pair both sides by question id. `drift_by` is the metric of the per-question list, by default
    the last common one.

    Raises RunError when the two have no question or no metric in common, or are judged by different
    units.
    """
    units = {side.manifest.get("unit", "document") for side in (a, b)}
    if len(units) > 1:
        raise RunError(
            f"{a.path} and {b.path} are judged by different units (evidence, document); their "
            "scores do not compare"
        )
    b = b.named_as(a)
    metrics = [str(metric) for metric in a.scores.columns if metric in b.scores.columns]
    ids = sorted(set(a.scores.index) & set(b.scores.index))
    if not ids or not metrics:
        raise RunError(f"{a.path} and {b.path} have no {'metric' if ids else 'question'} in common")
    quality = [metric for metric in metrics if not is_cost(metric)]
    by = drift_by or (quality or metrics)[-1]
    if by not in metrics:
        raise RunError(f"metric '{by}' is not in both runs{nearest(by, metrics)}")
    before, after = (side.scores.loc[ids, metrics] for side in (a, b))
    # A question without a value (no piece that any chunks hold) has no difference.
    known = (before.notna() & after.notna()).all(axis=1)
    before, after, questions = before[known], after[known], a.questions.loc[before.index[known]]
    kinds, documents = (questions[key].to_numpy(dtype=str) for key in ("kind", "doc_id"))
    distinct = sorted(set(kinds))
    everything = [(ALL, np.ones(len(before), dtype=bool))]
    common = _Common(a, b, tuple(map(str, before.index)), documents, seed)
    return RunComparison(
        a=a,
        b=b,
        common=len(before),
        lines=common.lines(everything, metrics),
        slices=common.lines([(kind, kinds == kind) for kind in distinct], quality)
        if len(distinct) > 1
        else (),
        drift_by=by,
        drift=_drift(before[by], after[by], questions),
        causes=_causes(a, b),
        changed=changes(a, b),
        unjudged=decided_by_unjudged(a, b, before.index.astype(str).tolist(), metrics),
    )


@dataclass(frozen=True, eq=False)
class _Common:
    """What is compared: the questions that both sides have, and the main document of each."""

    a: Side
    b: Side
    ids: tuple[str, ...]
    documents: Words
    seed: int

    def lines(self, slices: Sequence[Slice], metrics: Sequence[str]) -> tuple[Line, ...]:
        """Every slice and metric, one family under Holm's correction."""
        cells = []
        for name, members in slices:
            a, b = (
                side.scores.loc[list(self.ids), list(metrics)].to_numpy(dtype=np.float64)[members]
                for side in (self.a, self.b)
            )
            paired = compare(
                b - a,
                clustered(self.documents[members]),
                self.seed,
                systems=1,
                phase_means=self._phase_means(members, metrics),
            )
            cells += [
                _Cell(name, metric, a[:, i], b[:, i], paired, i) for i, metric in enumerate(metrics)
            ]
        noise, unseen = (
            np.array([getattr(cell.paired, p)[cell.column] for cell in cells])
            for p in ("noise_p", "unseen_p")
        )
        corrected = corrected_p(noise, unseen, len(slices))
        return tuple(
            _line(cell, float(p), len(cells)) for cell, p in zip(cells, corrected, strict=True)
        )

    def _phase_means(self, members: Bools, metrics: Sequence[str]) -> Floats | None:
        """Mean differences of a slice at every phase of the cuts."""
        ids = [query_id for query_id, member in zip(self.ids, members, strict=True) if member]
        means = [
            None if scores is None else phase_means(scores)
            for scores in (side.at(ids, metrics) for side in (self.a, self.b))
        ]
        return gaps_between(*means)


@dataclass(frozen=True, slots=True)
class _Cell:
    """One metric on one slice before the correction, at `column` of what was compared together."""

    slice: str
    metric: str
    a: Floats
    b: Floats
    paired: Paired
    column: int


def _line(cell: _Cell, p: float, family: int) -> Line:
    paired, i = cell.paired, cell.column
    # `compare` corrected within its own columns; the least p of the whole family starts from the
    # uncorrected one.
    least = min(1.0, float(paired.least_p[i]) / len(paired.p) * family)
    better = -1 if is_cost(cell.metric) else 1
    wins, losses = int(paired.wins[i]), int(paired.losses[i])
    return Line(
        slice=cell.slice,
        metric=cell.metric,
        questions=len(cell.a),
        a=float(cell.a.mean()),
        b=float(cell.b.mean()),
        difference=float(paired.difference[i]),
        low=float(paired.low[i]),
        high=float(paired.high[i]),
        p=p,
        least_p=least,
        wins=wins if better > 0 else losses,
        ties=int(paired.ties[i]),
        losses=losses if better > 0 else wins,
        verdict=verdict(better * float(paired.difference[i]), p, least, wins + losses),
    )


def _drift(before: "pd.Series", after: "pd.Series", questions: "pd.DataFrame") -> "pd.DataFrame":
    """Questions whose score moved, largest change first, then by id."""
    import pandas as pd

    table = pd.DataFrame(
        {"kind": questions["kind"], "text": questions["text"], "a": before, "b": after}
    )
    table["difference"] = table["b"] - table["a"]
    moved = table[table["difference"].abs() > NOISE].rename_axis("query_id").reset_index()
    order = np.lexsort(
        (moved["query_id"].to_numpy(dtype=str), -moved["difference"].abs().to_numpy())
    )
    return moved.iloc[order].reset_index(drop=True)


def _causes(a: Side, b: Side) -> dict[str, tuple[int, int]]:
    if a.causes is None or b.causes is None:
        return {}
    return {
        cause: (a.causes.get(cause, 0), b.causes.get(cause, 0))
        for cause in sorted(set(a.causes) | set(b.causes))
    }
