"""Runs over time on the terminal: a line a run with its place between the limits, alerts, and the
kinds that moved."""

import json
import math

from rich.console import Group, RenderableType
from rich.text import Text

from lab.errors import counted
from lab.report.screens.compare import lines_table
from lab.report.screens.fitted import Column, FittedTable, metric_columns, number
from lab.runs.history import History, Point

WIDTH = 24


def history_screen(found: History) -> RenderableType:
    """Table and plot in one: time runs down, the selecting metric across."""
    first = found.points[0]
    low, high = _range(found)
    runs = counted(len(found.points), "run")
    title = Text(f"{found.name}: {runs}, {found.metric} of the recommended system", "bold")
    axis = Column(f"{low:.3f}{f'{high:.3f}':>{WIDTH - 5}}", "word")
    metrics = metric_columns(tuple(first.values), found.metric)
    names = (Column("run", "name"), Column("finished (UTC)", "name"), Column("n"))
    table = FittedTable((*names, *metrics, axis), "with --json")
    for point in found.points:
        numbers = [number(point.values.get(metric, math.nan)) for metric in first.values]
        when = point.finished.strftime("%Y-%m-%d %H:%M")
        strip = Text(
            _strip(point, found.metric, low, high),
            style="bold" if point.crossed(found.metric) else "",
        )
        table.add(point.path.name, when, str(point.questions), *numbers, strip)
    parts: list[RenderableType] = [
        title,
        table,
        Text("o value, x outside the limits [ ] that earlier runs draw (3 sigma)", style="dim"),
    ]
    parts += [Text(f"ALERT: {line}", style="bold") for line in alerts(found)]
    if found.moved:
        parts.append(Text("\nkinds that moved beyond chance from the run before to the last one"))
        for line in found.moved:
            parts += [Text(f"{line.slice} ({line.questions})", "bold"), lines_table([line])]
    elif found.last is not None:
        parts.append(
            Text("no kind of question moved beyond chance from the run before to the last one")
        )
    if found.last is not None:
        parts += [Text(f"changed in the last run: {change}") for change in found.last.changed]
    return Group(*parts)


def alerts(found: History) -> list[str]:
    """One line a run that crossed a limit."""
    return [
        f"{point.path.name}: {found.metric} {point.values[found.metric]:.3f} is outside "
        f"{point.low:.3f} to {point.high:.3f}"
        for point in found.points
        if point.crossed(found.metric)
    ]


def _range(found: History) -> tuple[float, float]:
    ends = [
        value
        for p in found.points
        for value in (p.values[found.metric], p.low, p.high)
        if value is not None
    ]
    low, high = max(min(ends), 0.0), max(ends)
    return (low, high) if high - low > 1e-6 else (low - 0.01, high + 0.01)


def _strip(point: Point, metric: str, low: float, high: float) -> str:
    """The metric's axis as characters: limits in brackets, the value as o, or x outside them."""

    def place(value: float) -> int:
        return min(max(round((value - low) / (high - low) * (WIDTH - 1)), 0), WIDTH - 1)

    cells = ["\u00b7"] * WIDTH
    if point.low is not None and point.high is not None:
        cells[place(point.low)], cells[place(point.high)] = "[", "]"
    cells[place(point.values[metric])] = "x" if point.crossed(metric) else "o"
    return "".join(cells)


def history_json(found: History) -> str:
    """The same for machines."""
    points = [
        {
            "path": str(point.path),
            "finished": point.finished.isoformat(),
            "system": point.system,
            "questions": point.questions,
            "values": point.values,
            "limits": [point.low, point.high],
            "crossed": point.crossed(found.metric),
        }
        for point in found.points
    ]
    moved = [
        {"kind": line.slice, "metric": line.metric, "difference": line.difference, "p": line.p}
        for line in found.moved
    ]
    return json.dumps(
        {
            "name": found.name,
            "metric": found.metric,
            "points": points,
            "alerts": alerts(found),
            "moved": moved,
        }
    )
