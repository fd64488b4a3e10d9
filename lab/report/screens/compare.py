"""Two runs side by side on the terminal and as JSON: a line a metric, slices, causes, drift, and
what has changed."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby

from rich.console import Group, RenderableType
from rich.text import Text

from lab.errors import counted
from lab.evaluation.verdict import ALPHA, MARKS, PLANNED
from lab.report.screens.fitted import Column, FittedTable, number
from lab.runs.compare import Line, RunComparison

DRIFT = 10
UNJUDGED = (
    "by these metrics A and B differ by less than what documents that nobody judged could turn"
)
TEXT = 30


def compare_screen(found: RunComparison) -> RenderableType:
    """Everything a comparison found, the changes first: they may explain the rest."""
    head = Text(
        f"A: {found.a.path}  {found.a.system}\nB: {found.b.path}  {found.b.system}\n",
        overflow="fold",
    )
    head.append(f"{counted(found.common, 'common question')}\n")
    for change in found.changed:
        head.append(f"changed: {change}\n")
    # Tables of several kinds stand under each other; equal widths keep their columns in line.
    lines = (*found.lines, *found.slices)
    parts: list[RenderableType] = [head, lines_table(found.lines, lines)]
    if found.slices:
        for kind, own in groupby(found.slices, key=lambda line: line.slice):
            rows = tuple(own)
            title = Text(f"\n{kind} ({rows[0].questions})", "bold")
            parts += [title, lines_table(rows, lines)]
    if found.unjudged:
        parts.append(Text(f"\nunjudged decides: {', '.join(found.unjudged)}", "bold"))
        parts.append(Text(UNJUDGED, "dim"))
    if found.causes:
        parts += [Text(), causes_table(found)]
    parts += [Text(), drift_table(found), Text(_legend(found), style="dim")]
    return Group(*parts)


def lines_table(lines: Sequence[Line], alike: Sequence[Line] = ()) -> FittedTable:
    """A, B, the difference with its interval, questions that B won and lost, p, and the verdict on
    B with an arrow; as wide as a table of the lines `alike`."""
    names = ("A", "B", "B - A", "95% interval", "w/l", "p")
    figures = map(Column, names)
    columns = (Column("metric", "name"), *figures, Column("B is", "word"))
    table = FittedTable(columns, alike=[_cells(line) for line in alike])
    for line in lines:
        table.add(*_cells(line))
    return table


def _cells(line: Line) -> tuple[str, ...]:
    return (
        line.metric,
        number(line.a),
        number(line.b),
        f"{line.difference:+.3f}",
        f"{line.low:+.3f} {line.high:+.3f}",
        f"{line.wins}/{line.losses}",
        _p(line),
        f"{MARKS[line.verdict]} {line.verdict}",
    )


def causes_table(found: RunComparison) -> RenderableType:
    """Missed pieces of every cause in A and B."""
    table = FittedTable([Column("cause", "name"), *map(Column, ("A", "B", "B - A"))])
    for cause, (a, b) in found.causes.items():
        table.add(cause, str(a), str(b), f"{b - a:+d}")
    return Group(Text("missed pieces by cause", "bold"), table)


def drift_table(found: RunComparison) -> RenderableType:
    """The questions that moved most."""
    title = f"{len(found.drift)} of {counted(found.common, 'question')} moved by {found.drift_by}"
    if not len(found.drift):
        return Text(title, "bold")
    names = [Column(name, "name") for name in ("question", "kind")]
    figures = [Column(name) for name in ("A", "B", "B - A")]
    table = FittedTable((*names, *figures, Column("text", "word")))
    for row in found.drift.head(DRIFT).itertuples():
        numbers = [number(row.a), number(row.b), f"{row.difference:+.3f}"]
        table.add(row.query_id, row.kind, *numbers, shortened(row.text))
    return Group(Text(title, "bold"), table)


def compare_json(found: RunComparison) -> str:
    """The same for machines, with every question that moved."""
    return json.dumps(
        {
            "a": {"path": str(found.a.path), "system": found.a.system},
            "b": {"path": str(found.b.path), "system": found.b.system},
            "common_questions": found.common,
            "changed": found.changed,
            "unjudged_decides": found.unjudged,
            "lines": [asdict(line) for line in found.lines],
            "slices": [asdict(line) for line in found.slices],
            "causes": {cause: {"a": a, "b": b} for cause, (a, b) in found.causes.items()},
            "drift": {"metric": found.drift_by, "questions": found.drift.to_dict("records")},
        },
        ensure_ascii=False,
    )


def _p(line: Line) -> str:
    """p; where the questions that differ are too few for any significance, the least p that they
    could give."""
    return (
        f">={line.least_p:.2g}"
        if line.verdict == "cannot be settled"
        else f"{line.p:.3f}"
        if line.p >= 0.001
        else "<0.001"
    )


def shortened(text: str) -> str:
    """One line of a question's text."""
    line = " ".join(text.split())
    return line if len(line) <= TEXT else line[: TEXT - 3] + "..."


def _legend(found: RunComparison) -> str:
    lines = (
        f"\nVerdicts {PLANNED}: paired permutation test, Holm over all lines (all kinds together), "
        "5% level, as if A and B had not been chosen by these questions; intervals are "
        "uncorrected; "
    )
    lines += "w/l: questions that B won and lost."
    if any(line.verdict == "cannot be settled" for line in (*found.lines, *found.slices)):
        lines += (
            " '?': even if all differing questions agreed, p could not fall below "
            f"{ALPHA:g}; the least it could be is shown."
        )
    return lines
