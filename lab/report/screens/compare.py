"""Two runs side by side on the terminal and as JSON: a line a metric, slices, causes, drift, and
what has changed."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from lab.evaluation.verdict import ALPHA, MARKS, PLANNED
from lab.runs.compare import Line, RunComparison

DRIFT = 10
# Tables of several kinds stand under each other; equal widths keep their columns in line.
WIDTHS = {"metric": 11, "A": 5, "B": 5, "B - A": 6, "95% interval": 13, "w/l": 5, "p": 7}
TEXT = 30


def compare_screen(found: RunComparison) -> RenderableType:
    """Everything a comparison found, the changes first: they may explain the rest."""
    head = Text(
        f"A: {found.a.path}  {found.a.system}\nB: {found.b.path}  {found.b.system}\n",
        overflow="fold",
    )
    head.append(f"{found.common} common questions\n")
    for change in found.changed:
        head.append(f"changed: {change}\n")
    parts: list[RenderableType] = [head, lines_table(found.lines, "")]
    if found.slices:
        for kind, own in groupby(found.slices, key=lambda line: line.slice):
            rows = tuple(own)
            parts += [Text(), lines_table(rows, f"{kind} ({rows[0].questions})")]
    if found.causes:
        parts += [Text(), causes_table(found)]
    parts += [Text(), drift_table(found), Text(_legend(found), style="dim")]
    return Group(*parts)


def lines_table(lines: Sequence[Line], title: str) -> Table:
    """A, B, the difference with its interval, questions that B won and lost, p, and the verdict on
    B with an arrow."""
    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
        title=title,
        title_justify="left",
    )
    table.add_column("metric", no_wrap=True, min_width=WIDTHS["metric"])
    for name in ("A", "B", "B - A", "95% interval", "w/l", "p"):
        table.add_column(name, justify="right", no_wrap=True, min_width=WIDTHS[name])
    table.add_column("B is", no_wrap=True)
    for line in lines:
        numbers = [
            _number(line.a),
            _number(line.b),
            f"{line.difference:+.3f}",
            f"{line.low:+.3f} {line.high:+.3f}",
        ]
        arrow = f"{MARKS[line.verdict]} {line.verdict}"
        table.add_row(line.metric, *numbers, f"{line.wins}/{line.losses}", _p(line), arrow)
    return table


def causes_table(found: RunComparison) -> Table:
    """Missed pieces of every cause in A and B."""
    table = Table(
        box=None,
        pad_edge=False,
        header_style="bold",
        title="missed pieces by cause",
        title_justify="left",
    )
    table.add_column("cause")
    for name in ("A", "B", "B - A"):
        table.add_column(name, justify="right")
    for cause, (a, b) in found.causes.items():
        table.add_row(cause, str(a), str(b), f"{b - a:+d}")
    return table


def drift_table(found: RunComparison) -> Table:
    """The questions that moved most."""
    title = f"{len(found.drift)} of {found.common} questions moved by {found.drift_by}"
    table = Table(
        box=None,
        pad_edge=False,
        header_style="bold",
        title=title,
        title_justify="left",
        show_header=len(found.drift) > 0,
    )
    for name in ("question", "kind"):
        table.add_column(name, no_wrap=True)
    for name in ("A", "B", "B - A"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("text")
    for row in found.drift.head(DRIFT).itertuples():
        numbers = [_number(row.a), _number(row.b), f"{row.difference:+.3f}"]
        table.add_row(Text(row.query_id), Text(row.kind), *numbers, Text(shortened(row.text)))
    return table


def compare_json(found: RunComparison) -> str:
    """The same for machines, with every question that moved."""
    return json.dumps(
        {
            "a": {"path": str(found.a.path), "system": found.a.system},
            "b": {"path": str(found.b.path), "system": found.b.system},
            "common_questions": found.common,
            "changed": found.changed,
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


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"


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
