"""Agreement of two annotators on the terminal and as a record."""

from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.errors import counted
from lab.report.screens.fitted import Column, FittedTable
from lab.sets.agreement import Agreement
from lab.sets.annotators import Annotators

SHOWN = 15


def agreement_screen(found: Agreement, read: Annotators) -> RenderableType:
    """Kappa and verdict, base rates, disagreements with the widest first."""
    head = [
        f"{counted(found.items, read.unit)} of {counted(found.questions, 'question')} judged by "
        f"both ({found.only_a} by A alone, {found.only_b} by B alone)",
        f"Cohen's kappa {found.kappa:.4f}; weighted by distance {found.weighted:.4f} "
        f"[{found.low:.4f}, {found.high:.4f}]",
        found.verdict,
    ]
    rates = FittedTable([Column(column) for column in ("grade", "A", "B")])
    for grade, a, b in zip(found.grades, found.base_a, found.base_b, strict=True):
        rates.add(str(grade), f"{a:.1%}", f"{b:.1%}")
    names = [Column(name, "name") for name in ("question", read.unit)]
    apart = FittedTable((*names, Column("A"), Column("B")))
    for item in found.disagreements[:SHOWN]:
        apart.add(item.query_id, item.item, str(item.a), str(item.b))
    strange = [Text(f"warning: {line}") for line in read.left_out]
    more = len(found.disagreements) - SHOWN
    count = f"\n{counted(len(found.disagreements), 'disagreement')}"
    if not found.disagreements:
        return Group(*map(Text, head), *strange, Text(), rates, Text(count))
    count += ", the widest first" + (f" ({SHOWN} shown; --json has all)" if more > 0 else "")
    return Group(*map(Text, head), *strange, Text(), rates, Text(count), apart)


def agreement_record(found: Agreement, read: Annotators) -> dict[str, Any]:
    """The same for machines, all disagreements included."""
    return {
        "unit": read.unit,
        "verdict": found.verdict,
        "left_out": list(read.left_out),
        **asdict(found),
    }
