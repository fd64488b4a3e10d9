"""All runs of an experiment over time: what moved, and whether it moved further than it uses to."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from lab.corpus.values import moment
from lab.errors import RunError, nearest
from lab.runs.compare import Line, RunComparison, compare_sides
from lab.runs.folder import MANIFEST, manifests_in
from lab.runs.run import read_run
from lab.runs.side import run_side

# Earlier runs from which limits are drawn; fewer say nothing about what is usual.
FEWEST = 3
# Mean of moving ranges of two -> standard deviation of a normal law (Shewhart's individuals chart;
# Montgomery 2019, 6.4).
D2 = 1.128
SIGMAS = 3


@dataclass(frozen=True, slots=True)
class Point:
    """One run: the recommended system's means, and for the selecting metric the limits that earlier
    runs draw (None where there are fewer than three) and whether it lies outside them."""

    path: Path
    finished: datetime
    system: str
    questions: int
    values: dict[str, float]
    low: float | None
    high: float | None

    def crossed(self, metric: str) -> bool:
        """Whether a control limit is crossed; a run exactly on a limit is not."""
        value = self.values.get(metric)
        return (
            value is not None
            and self.low is not None
            and self.high is not None
            and not self.low <= value <= self.high
        )


@dataclass(frozen=True, eq=False)
class History:
    """Runs in order of time. `last` compares the last run with the one before it, `moved` are its
    kinds of question that changed beyond chance."""

    name: str
    metric: str
    points: tuple[Point, ...]
    last: RunComparison | None
    moved: tuple[Line, ...]


def read_history(folder: Path, name: str | None = None, metric: str | None = None) -> History:
    """Read the run folders inside `folder`.

    Raises RunError when there is none, when several experiments lie there and `name` picks none of
    them, or when a run lacks the metric.
    """
    manifests = manifests_in(folder)
    names = sorted({str(manifest["name"]) for manifest in manifests.values()})
    if not names:
        raise RunError(
            f"{folder}: holds no run folder; `lab run FILE --out {folder}/<name>` writes one"
        )
    if name is None and len(names) > 1:
        raise RunError(
            f"{folder}: holds runs of several experiments, {', '.join(names)}; choose one with "
            "--name"
        )
    name = name or names[0]
    if name not in names:
        raise RunError(f"{folder}: no runs of '{name}'{nearest(name, names)}")
    of_name = [path for path, manifest in manifests.items() if manifest["name"] == name]
    of_name.sort(key=lambda path: (finished(path, manifests[path]), path))
    metric = metric or str(manifests[of_name[-1]]["measure"]["select_by"])
    points: list[Point] = []
    for path in of_name:
        points.append(_point(path, manifests[path], metric, points))
    last = compare_sides(run_side(of_name[-2]), run_side(of_name[-1])) if len(of_name) > 1 else None
    moved = (
        tuple(line for line in last.slices if line.verdict in ("better", "worse")) if last else ()
    )
    return History(name, metric, tuple(points), last, moved)


def finished(path: Path, manifest: dict[str, Any]) -> datetime:
    """When a run ended: as `lab run` wrote it, else the time of its manifest file."""
    written = moment(manifest.get("finished"))
    return (
        written.time if written else datetime.fromtimestamp((path / MANIFEST).stat().st_mtime, UTC)
    )


def _point(path: Path, manifest: dict[str, Any], metric: str, earlier: list[Point]) -> Point:
    run = read_run(path)
    system = str(manifest["recommended"])
    row = run.tables.systems[run.tables.systems["system"] == system].iloc[0]
    if metric not in row.index:
        raise RunError(
            f"{path}: metric '{metric}' is not measured there; measured: "
            f"{', '.join(manifest['measure']['metrics'])}"
        )
    low, high = control_limits([point.values[metric] for point in earlier])
    values = {key: float(row[key]) for key in run.metrics}
    return Point(
        path=path,
        finished=finished(path, manifest),
        system=system,
        questions=int(manifest["questions"]["scored"]),
        values=values,
        low=low,
        high=high,
    )


def control_limits(earlier: list[float]) -> tuple[float | None, float | None]:
    """Centre -/+ three sigmas, sigma from the mean moving range: a chart of individuals needs no
    repeated measurements."""
    if len(earlier) < FEWEST:
        return None, None
    centre, sigma = float(np.mean(earlier)), float(np.abs(np.diff(earlier)).mean()) / D2
    # Rounded as what is shown: float noise of equal runs is no crossing.
    return round(centre - SIGMAS * sigma, 9) - 1e-9, round(centre + SIGMAS * sigma, 9) + 1e-9
