"""Slices of a run on the terminal: the table, the boundary gap with the worst cuts, and sibling
confusion."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.report.screens.fitted import Column, FittedTable, metric_columns, number
from lab.runs.boundary import NEAR, Cut, Gap
from lab.runs.siblings import SEEN, Confusion
from lab.runs.slices import Sliced

if TYPE_CHECKING:
    import pandas as pd

CUTS = 8


def sliced_screen(found: Sliced) -> RenderableType:
    """Everything that a run says along one axis."""
    parts: list[RenderableType] = []
    if found.rows is not None:
        parts.append(slices_table(found.rows, found.by, found.select_by))
    if found.phase is not None:
        told = f"distances, hits and scores are those at phase {found.phase:g} of the cuts"
        parts.append(Text(told, "dim"))
    if found.gaps:
        parts.append(boundary_screen(found.gaps, found.metric, found.cuts))
    if found.confusion:
        parts.append(confusion_screen(found.confusion))
    return Group(*parts)


def sliced_json(found: Sliced) -> str:
    """The same for machines; a number that is not known is null."""
    parts = asdict(replace(found, rows=None))
    parts["rows"] = [] if found.rows is None else found.rows.to_dict("records")
    return json.dumps(_plain(parts), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def slices_table(rows: "pd.DataFrame", by: str, chosen: str) -> RenderableType:
    """Slice by slice the systems beneath each other; the interval is that of the `chosen` metric,
    or of the last where it has none."""
    metrics = [name for name in rows.columns if f"{name}_low" in rows.columns]
    chosen = chosen if chosen in metrics else metrics[-1]
    names = [Column(name, "name") for name in (by, "n", "system")]
    columns = (*names, *metric_columns(metrics, chosen), Column("95% interval"))
    table = FittedTable(columns, "with --json")
    last = None
    for row in rows.to_dict("records"):
        named = "" if row[by] == last else row[by]
        last = row[by]
        low, high = (number(row[f"{chosen}_{end}"]) for end in ("low", "high"))
        table.add(
            named,
            str(row["questions"]),
            row["system"],
            *(number(row[metric]) for metric in metrics),
            f"{low}-{high}",
        )
    return Group(table, Text(f"interval of {chosen}", "dim"))


PAIRED = {
    "pair": "mined probes paired with their controls",
    "question": "questions parted here (near), the same ones where another "
    "chunking holds them whole (mid)",
    "length": f"questions nearer to a cut than {NEAR} characters, each with a "
    "mid-chunk one of its kind alike in length",
}


def boundary_screen(
    gaps: Sequence[Gap], metric: str, cuts: Mapping[str, Sequence[Cut]]
) -> RenderableType:
    """The gap under every chunk config, then the worst cuts of the config that lost most evidence
    to them."""
    figures = ("pairs", "near", "mid", "gap", "95% interval")
    table = FittedTable([Column("system", "name"), *map(Column, figures)])
    for gap in gaps:
        numbers = (
            [f"{value:.3f}" for value in (gap.near, gap.mid, gap.gap)] if gap.pairs else ["-"] * 3
        )
        table.add(
            gap.system,
            str(gap.pairs),
            *numbers,
            f"{gap.low:.3f} to {gap.high:.3f}" if gap.pairs else "-",
        )
    how = "; ".join(
        PAIRED[key] for key in dict.fromkeys(gap.paired_by for gap in gaps if gap.pairs)
    )
    head = Text(
        f"\nboundary gap: {metric} of mid-chunk minus near-cut evidence\n{how or 'no pairs'}"
    )
    worst = max(cuts, key=lambda system: len(cuts[system]))
    if not cuts[worst]:
        return Group(head, table)
    listed: list[RenderableType] = [
        Text(f"\nworst cuts of {worst}: {len(cuts[worst])} part evidence that was missed")
    ]
    for cut in cuts[worst][:CUTS]:
        ids = ", ".join(cut.query_ids[:4]) + (" ..." if len(cut.query_ids) > 4 else "")
        place = Text(f"{cut.doc_id}:{cut.offset}", "bold").append(f"  missed by {ids}", "not bold")
        text = (
            Text("  ..." + " ".join(cut.before.split()))
            .append(" || ", "bold red")
            .append(" ".join(cut.after.split()) + "...")
        )
        listed += [place, text]
    return Group(head, table, *listed)


def confusion_screen(rows: Sequence[Confusion]) -> RenderableType:
    """Sibling confusion of every system, the most confused last."""
    figures = ("outranked", "first", "absent")
    table = FittedTable([Column("system", "name"), *map(Column, figures)])
    for row in sorted(rows, key=lambda row: row.outranked):
        table.add(row.system, f"{row.outranked:.3f}", f"{row.first:.3f}", f"{row.absent:.3f}")
    head = Text(
        f"\nsibling confusion over {rows[0].questions} exact_id questions whose identifier has "
        "near misses"
    )
    foot = Text(
        f"outranked: a near miss stands above it within {SEEN} hits; first: it is in the first "
        "hit; absent: in no hit"
    )
    return Group(head, table, foot)
