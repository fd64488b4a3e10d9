"""Phases of a finished run: how far a figure moves when the cuts fall elsewhere."""

from typing import TYPE_CHECKING

import numpy as np

from lab.arrays import Floats
from lab.config.rows import in_play, settings_of
from lab.config.settings import SETTINGS, of_stage
from lab.evaluation.ablation import Factors
from lab.runs.tables import Tables

if TYPE_CHECKING:
    import pandas as pd


def phase_table(tables: Tables, metric: str) -> "pd.DataFrame":
    """A row a system: its mean by a metric, the `lowest` and `highest` mean at any phase of its
    cuts, and their `spread` (standard deviation). No rows where nothing was run at several."""
    import pandas as pd

    columns = ["system", "phases", "mean", "lowest", "highest", "spread"]
    means = tables.phase_means(metric)
    if means is None:
        return pd.DataFrame(columns=columns)
    found = pd.DataFrame(
        {
            "system": list(tables.names),
            "phases": tables.systems["phases"].to_numpy(),
            "mean": means.mean(axis=0),
            **_range(means),
        }
    )
    return found[found["phases"] > 1].reset_index(drop=True)[columns]


def phase_effects(tables: Tables, metric: str, baseline: str) -> "pd.DataFrame":
    """What a change of each setting of the chunks does, over all pairs of systems that differ in it
    alone (`lab.evaluation.ablation.Factors.main_effects`), and how much of that is where the cuts
    fell: a row a change with its mean `difference`, the `lowest` and `highest` difference at any
    phase, and their `spread`, which is how far a single alignment is off; `share` is the spread as
    a share of the difference, at most 1."""
    import pandas as pd

    columns = ["setting", "before", "after", "pairs", "difference", "lowest", "highest", "spread"]
    means, names = tables.phase_means(metric), {setting.name for setting in of_stage("chunk")}
    if means is None:
        return pd.DataFrame(columns=[*columns, "share"])
    compared = tables.systems.iloc[tables.compared]
    factors = Factors([in_play(settings_of(row)) for row in compared.to_dict("records")])
    place = tables.compared.tolist().index(tables.place(tables.comparable(baseline)))
    effects = [one for one in factors.main_effects(place) if one.setting in names]
    by_phase = [effect.effect(means[:, tables.compared]) for effect in effects]
    gaps = np.column_stack(by_phase) if effects else np.zeros((len(means), 0))
    difference, spread = gaps.mean(axis=0), gaps.std(axis=0, ddof=1)
    size = np.abs(difference)
    return pd.DataFrame(
        {
            "setting": [effect.setting for effect in effects],
            "before": [SETTINGS[one.setting].label(one.before) for one in effects],
            "after": [SETTINGS[one.setting].label(one.after) for one in effects],
            "pairs": [len(effect.pairs) for effect in effects],
            "difference": difference,
            **_range(gaps),
            "share": np.divide(spread, size, out=np.ones(len(size)), where=size > spread),
        }
    )[[*columns, "share"]]


def _range(means: Floats) -> dict[str, Floats]:
    return {
        "lowest": means.min(axis=0),
        "highest": means.max(axis=0),
        "spread": means.std(axis=0, ddof=1),
    }
