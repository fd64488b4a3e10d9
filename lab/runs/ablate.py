"""Ablation of a finished run: the tables behind "which knob matters, by how much, and is that
sure"."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.arrays import Bools, Floats
from lab.config.rows import in_play, settings_of
from lab.config.settings import SETTINGS, of_stage
from lab.evaluation.ablation import Change, Factors
from lab.evaluation.clusters import Clusters, clustered
from lab.evaluation.paired import Paired, compare
from lab.evaluation.phases import phase_means
from lab.runs.differences import seen_from
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Ablation:
    """`steps` has a row a system that differs from the baseline in one setting; `effects` a row a
    level of a setting, over all pairs of systems that differ in it alone. Columns: setting, before,
    after, system and `with`, the varied settings that come with the step (steps), or pairs
    (effects), the mean difference of every metric, and for `metric` its 95% interval, p (Holm over
    the table), least p, won, lost, verdict; in a run at several phases `luck`, how far a single
    phase is off as a share of the difference, at most 1 (see `lab.runs.phases.phase_effects`), for
    changes of the chunks, NaN for others."""

    baseline: str
    metric: str
    questions: int
    steps: "pd.DataFrame"
    effects: "pd.DataFrame"


def ablate(run: Run, baseline: str, metric: str | None = None, seed: int = 0) -> Ablation:
    """Change one thing at a time; raises RunError for an unknown system or metric."""
    tables = run.tables
    baseline, metric = tables.comparable(baseline), metric or tables.select_by
    tables.metric_place(metric)
    matrices = {name: tables.column(name)[:, tables.compared] for name in tables.metrics}
    # A question without a value under some system (no chunks hold a piece) has no effect to add.
    known = np.all([~np.isnan(matrix).any(axis=1) for matrix in matrices.values()], axis=0)
    clusters = clustered(tables.documents[known])
    scores = {name: matrix[known] for name, matrix in matrices.items()}
    by_phase = None
    if tables.by_phase is not None:
        of_metric = tables.by_phase[..., tables.metric_place(metric)]
        by_phase = of_metric[:, tables.compared][:, :, known]
    judged = _Judged(metric, clusters, seed, by_phase)
    systems = [tables.names[place] for place in tables.compared]
    compared = tables.systems.iloc[tables.compared]
    factors = Factors([in_play(settings_of(row)) for row in compared.to_dict("records")])
    number = systems.index(baseline)
    steps = factors.one_at_a_time(number)
    effects = factors.main_effects(number)
    return Ablation(
        baseline=baseline,
        metric=metric,
        questions=int(known.sum()),
        steps=_table(
            steps,
            {
                "system": [systems[step.pairs[0, 1]] for step in steps],
                "with": [_brought_along(factors, number, step.pairs[0, 1]) for step in steps],
            },
            scores,
            judged,
        ),
        effects=_table(
            effects,
            {"pairs": [len(effect.pairs) for effect in effects]},
            scores,
            judged,
        ),
    )


def _brought_along(factors: Factors, baseline: int, system: int) -> str:
    """Varied settings that a step brings into play, like `alpha 0.4` with the step from bm25 to
    hybrid."""
    settings, before = factors.systems[system], factors.systems[baseline]
    new = [name for name in settings if name not in before and len(factors.levels[name]) > 1]
    return ", ".join(f"{name} {SETTINGS[name].label(settings[name])}" for name in new)


def _level(setting: str, value: Any) -> Any:
    """A number as it is, any other value in words."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if number else SETTINGS[setting].label(value)


@dataclass(frozen=True, eq=False)
class _Judged:
    """How the effects on a metric are judged; `by_phase` (phases x systems x questions) are the
    scores at every phase, None where there is one."""

    metric: str
    clusters: Clusters
    seed: int
    by_phase: Floats | None

    def compare(self, changes: Sequence[Change], effects: Floats) -> Paired:
        """The effects as one family. Where the cuts fell plays one part in changes of the chunks,
        and another in changes that leave them as they are."""
        if self.by_phase is None:
            return compare(effects, self.clusters, self.seed)
        of_changes, alike = self._at_phases(changes), _of_chunks(changes).astype(np.int64)
        return compare(effects, self.clusters, self.seed, phase_means=of_changes, alike=alike)

    def luck(self, changes: Sequence[Change]) -> dict[str, Floats]:
        """The column of that name; none for a run at a single phase."""
        if self.by_phase is None:
            return {}
        gaps = self._at_phases(changes)
        spread, size = gaps.std(axis=0, ddof=1), np.abs(gaps.mean(axis=0))
        share = np.divide(spread, size, out=np.ones(len(size)), where=size > spread)
        return {"luck": np.where(_of_chunks(changes), share, np.nan)}

    def _at_phases(self, changes: Sequence[Change]) -> Floats:
        """Mean differences (phases x changes)."""
        assert self.by_phase is not None  # asked with several phases alone
        means = phase_means(self.by_phase.swapaxes(1, 2))
        return np.column_stack([change.effect(means) for change in changes])


def _of_chunks(changes: Sequence[Change]) -> Bools:
    chunks = {setting.name for setting in of_stage("chunk")}
    return np.array([change.setting in chunks for change in changes])


def _table(
    changes: Sequence[Change],
    more: dict[str, list[Any]],
    scores: "dict[str, Any]",
    judged: _Judged,
) -> "pd.DataFrame":
    """Changes of the largest effect first, those of one setting together."""
    import pandas as pd

    named = {
        "setting": [change.setting for change in changes],
        "before": [_level(change.setting, change.before) for change in changes],
        "after": [_level(change.setting, change.after) for change in changes],
    }
    if not changes:
        return pd.DataFrame(columns=[*named, *more, *scores])
    effects = {
        name: np.column_stack([change.effect(matrix) for change in changes])
        for name, matrix in scores.items()
    }
    metric = judged.metric
    paired = judged.compare(changes, effects[metric])
    columns = {
        **named,
        **more,
        **{name: effect.mean(axis=0) for name, effect in effects.items()},
        "low": paired.low,
        "high": paired.high,
        "p": paired.p_holm,
        "least_p": paired.least_p,
        "won": paired.wins,
        "lost": paired.losses,
        "verdict": [seen_from(verdict, metric) for verdict in paired.verdicts],
        **judged.luck(changes),
    }
    table = pd.DataFrame(columns)
    table["weight"] = table.groupby("setting")[metric].transform(lambda effect: effect.abs().max())
    return table.sort_values(["weight", "setting"], ascending=[False, True], kind="stable").drop(
        columns="weight"
    )
