"""Ablation on the terminal: the settings in order of what they move."""

import json
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from lab.config.settings import SETTINGS
from lab.errors import counted
from lab.evaluation.verdict import MARKS, PLANNED
from lab.report.screens.fitted import Column, FittedTable
from lab.runs.ablate import Ablation

if TYPE_CHECKING:
    import pandas as pd


def ablation_screen(found: Ablation) -> RenderableType:
    """Main effects first, they use the whole grid; then single steps from the baseline."""
    head = Text(
        f"baseline: {found.baseline}\n{counted(found.questions, 'question')}; "
        f"differences of {found.metric} with 95% intervals\n"
    )
    parts: list[RenderableType] = [head]
    for title, table, column in (
        (
            "main effects: mean over all pairs of systems that differ in this setting alone",
            found.effects,
            "pairs",
        ),
        ("one step from the baseline", found.steps, "system"),
    ):
        if table.empty:
            parts += [
                Text(
                    f"{title}: none; no other system differs from the baseline in a single "
                    "setting\n"
                )
            ]
        else:
            parts += [effects_table(table, found.metric, title, column), Text()]
    parts.append(
        Text(
            f"Verdicts {PLANNED}, as if the baseline had not been chosen by these questions: "
            "paired permutation test, Holm over the rows of a table; intervals are uncorrected.",
            style="dim",
        )
    )
    return Group(*parts)


def effects_table(rows: "pd.DataFrame", metric: str, title: str, column: str) -> RenderableType:
    """One row a change: setting, from, to, difference with interval, wins and losses, p, verdict,
    and over how many pairs."""
    names = [Column(name, "name") for name in ("setting", "from", "to")]
    figures = [Column(name) for name in ("diff", "95% interval", "w/l", "p")]
    pairs = [Column("pairs", "spare")] if column == "pairs" else []
    luck = [Column("luck")] if "luck" in rows and rows["luck"].notna().any() else []
    table = FittedTable((*names, *figures, *luck, Column("", "word"), *pairs), "with --json")
    last = ""
    for row in rows.to_dict("records"):
        first, last = row["setting"] != last, row["setting"]
        interval = f"{row['low']:+.3f} {row['high']:+.3f}"
        p = (
            f">={row['least_p']:.2g}"
            if row["verdict"] == "cannot be settled"
            else f"{row['p']:.3f}"
        )
        arrow = f"{MARKS[row['verdict']]} {row['verdict']}"
        label = SETTINGS[row["setting"]].label
        after = ", ".join(filter(None, (label(row["after"]), row.get("with"))))
        cells = [
            row["setting"] if first else "",
            label(row["before"]),
            after,
            f"{row[metric]:+.3f}",
        ]
        more = [str(row["pairs"])] if column == "pairs" else []
        share = "" if not luck or row["luck"] != row["luck"] else f"{row['luck']:.0%}"
        figured = [interval, f"{row['won']}/{row['lost']}", p, *([share] if luck else [])]
        table.add(*cells, *figured, arrow, *more)
    told = Text("luck: how far a single phase of the cuts is off, beside the difference", "dim")
    return Group(Text(title, "bold"), table, *([told] if luck else []))


def ablation_json(found: Ablation) -> str:
    """The same for machines."""
    tables = {
        name: json.loads(getattr(found, name).to_json(orient="records"))
        for name in ("effects", "steps")
    }
    return json.dumps(
        {"baseline": found.baseline, "metric": found.metric, "questions": found.questions, **tables}
    )
