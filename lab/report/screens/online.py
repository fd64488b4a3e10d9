"""`lab online` on the terminal."""

from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.report.screens.fitted import Column, FittedTable
from lab.usage.online import MISMATCH, Online

MARKS = {"better": "▲ better", "worse": "▼ worse", "undecided": "~ undecided"}


def online_screen(found: Online) -> RenderableType:
    """Sizes, whether they are as planned, and a row a measure."""
    unit = "users" if found.by_user else "rows"
    planned = f"planned {1 - found.share:.0%} and {found.share:.0%}"
    head = f"A: {found.units[0]:,} {unit}, B: {found.units[1]:,} ({planned})"
    if found.by_user:
        head += f"; {found.rows[0]:,} and {found.rows[1]:,} rows, a mean for every user"
    table = FittedTable(
        [
            Column("measure", "name"),
            *map(Column, ("A", "B", "B - A", "interval at all times")),
            Column("B is", "word"),
        ]
    )
    for row in found.measures:
        table.add(
            row.measure,
            f"{row.found.a:.4g}",
            f"{row.found.b:.4g}",
            f"{row.found.difference:+.3g}",
            f"{row.found.low:+.3g} {row.found.high:+.3g}",
            MARKS[row.verdict],
        )
    said = "the intervals hold together, 95%, however often one looks and whenever one stops"
    if not found.mismatch:
        return Group(Text(head), Text(), table, Text(said, "dim"))
    warning = (
        f"users were not assigned as planned (p {found.ratio_p:.2g}, below {MISMATCH}): some were "
        "lost or counted twice in one version, and nothing below can be trusted"
    )
    return Group(Text(head), Text(f"\n{warning}\n", "bold red"), table, Text(said, "dim"))


def online_record(found: Online) -> dict[str, Any]:
    """The same for machines."""
    measures = [
        asdict(row) | {"difference": row.found.difference, "verdict": row.verdict}
        for row in found.measures
    ]
    return asdict(found) | {"mismatch": found.mismatch, "measures": measures}
