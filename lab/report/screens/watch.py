"""`lab watch` on the terminal."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from lab.errors import counted
from lab.report.drift import (
    COMPARED,
    DIFFERING,
    compared,
    differing,
    gaps_in_words,
    limits_in_words,
    looked_at,
    verdict,
)
from lab.report.screens.fitted import Column, FittedTable
from lab.usage.watch import Watched

# Gaps, and questions of each, that the screen shows.
GAPS, QUESTIONS = 5, 3


def watch_screen(found: Watched) -> RenderableType:
    """What was compared, the verdict, the comparisons, the features that differ, and the gaps."""
    parts: list[RenderableType] = [Text(looked_at(found)), Text(f"\n{verdict(found)}", "bold")]
    if found.comparisons:
        parts += [Text(), _table(COMPARED, compared(found))]
    told = differing(found)
    if told:
        rest = f"{len(found.features) - len(told)} other features are not told apart (--json)"
        parts += [Text(), _table(DIFFERING, told), Text(rest, "dim")]
    parts += [Text(f"\n{line}") for line in limits_in_words(found)]
    return Group(*parts, *_gaps(found))


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> FittedTable:
    first, *figures = columns
    table = FittedTable([Column(first, "name"), *map(Column, figures)])
    for row in rows:
        table.add(*row)
    return table


def _gaps(found: Watched) -> list[RenderableType]:
    lines: list[RenderableType] = [Text(f"\n{gaps_in_words(found)}", "bold")]
    for place, gap in enumerate(found.gaps[:GAPS], start=1):
        pleased = "" if gap.satisfaction is None else f", satisfaction {gap.satisfaction:.2f}"
        lines.append(Text(f"{place}. asked {counted(gap.asked, 'time')}{pleased}"))
        lines += [Text(f"   {text}") for text in gap.questions[:QUESTIONS]]
        if len(gap.questions) > QUESTIONS:
            lines.append(Text(f"   and {len(gap.questions) - QUESTIONS} more like these", "dim"))
    if len(found.gaps) > GAPS:
        lines.append(
            Text(f"{len(found.gaps) - GAPS} more, and all questions, with --gaps FILE", "dim")
        )
    return lines
