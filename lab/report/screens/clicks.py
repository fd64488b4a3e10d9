"""`lab clicks` on the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from lab.errors import counted
from lab.report.screens.fitted import Column, FittedTable
from lab.usage.clicks.judged import Judged

EXPOSURE = {
    "pbm": "looked at, against the first",
    "ctr": "looked at (taken for granted)",
    "coec": "clicked, any document",
}


def clicks_screen(
    found: Judged, grades: Mapping[int, int], thresholds: Sequence[float], out: Path
) -> RenderableType:
    """What every rank is worth, how many documents have which grade, and where it is written."""
    questions = len({each.query for each in found.judgements})
    ranks = FittedTable([Column("rank"), Column(EXPOSURE[found.model])])
    for rank, chance in enumerate(found.exposure, start=1):
        ranks.add(str(rank), f"{chance:.3f}")
    table = FittedTable([Column("grade"), Column("relevance from"), Column("documents")])
    for level, number in grades.items():
        table.add(str(level), f"{thresholds[level - 1]:g}" if level else "0", str(number))
    wide = sum(each.high - each.low > 0.5 for each in found.judgements)
    notes = []
    if found.model != "coec" and wide:
        notes = [f"{wide} of them are known within 0.25 at best: their grades may change"]
    head = (
        f"{counted(len(found.judgements), 'document')} of {counted(questions, 'question')} judged "
        f"by {found.model}"
    )
    written = f"\nwritten: {out}, a set whose judgements are per document (origin: clicks)"
    notes.append(written)
    return Group(Text(head + "\n", "bold"), ranks, Text(), table, *map(Text, notes))


def clicks_record(found: Judged, grades: Mapping[int, int], out: Path) -> dict[str, Any]:
    """The same for machines, every judgement with it; what is not known is null."""
    rows = [
        {key: None if value != value else value for key, value in asdict(each).items()}
        for each in found.judgements
    ]
    return {
        "model": found.model,
        "exposure": list(found.exposure),
        "grades": {str(level): number for level, number in grades.items()},
        "folder": str(out),
        "judgements": rows,
    }
