"""Cells: which systems make a map of two settings, and which settings those are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lab.config.rows import chunks_label, in_play, rerank_label, search_label, settings_of
from lab.config.settings import SETTINGS, Setting, of_group
from lab.evaluation.ablation import Factors
from lab.runs.run import Run

MODES = ("bm25", "hybrid", "dense", "foreign")


@dataclass(frozen=True, slots=True)
class Dimension:
    """An axis of the map: a setting, or a group of settings that a table shows as one column;
    `label` names a system's value, `order` sorts the values."""

    name: str
    settings: tuple[str, ...]
    label: Callable[[dict[str, Any]], str]
    order: Callable[[dict[str, Any]], Any]


def _dimensions() -> list[Dimension]:
    """Every axis there could be, those that people ask about most first."""
    groups = {
        "chunks": chunks_label,
        "search": search_label,
        "rerank": lambda row: rerank_label(row, True),
    }
    orders: dict[str, Callable[[dict[str, Any]], Any]] = {
        "chunks": lambda row: (str(row["chunk_strategy"]), _number(row["chunk_size"])),
        "search": lambda row: MODES.index(row["mode"]) + _number(row["alpha"]) / 2,
        "rerank": lambda row: _number(row["rerank_depth"]),
    }
    dimensions = [
        Dimension(name, tuple(s.name for s in of_group(name)), label, orders[name])
        for name, label in groups.items()
    ]
    return dimensions + [_single(setting) for setting in SETTINGS.values() if not setting.group]


def _single(setting: Setting) -> Dimension:
    """The axis of one setting."""
    return Dimension(
        setting.name,
        (setting.name,),
        lambda row: setting.label(row[setting.name]),
        lambda row: (_number(row[setting.name]), str(row[setting.name])),
    )


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


@dataclass(frozen=True, eq=False)
class Cells:
    """The systems of a map, each with the labels of its row and column."""

    names: list[str]
    rows: list[str]
    columns: list[str]
    row_order: list[str]
    column_order: list[str]
    axes: tuple[str, str]
    held: str


def map_cells(run: Run) -> Cells | None:
    """The systems that share with the best of the grid every setting but two: chunks and search if
    both vary, else those with the most values; None where no two systems differ in them alone."""
    systems = run.tables.systems
    grid = systems[systems["mode"] != "foreign"]
    if len(grid) < 2:
        return None
    rows = [settings_of(row) for row in grid.to_dict("records")]
    names = [str(name) for name in grid["system"]]
    varied: list[tuple[bool, int, int, Dimension]] = []
    for dimension in _dimensions():
        labels = {dimension.label(row) for row in rows if row[dimension.settings[0]] is not None}
        if len(labels) > 1:
            asked = dimension.name in ("chunks", "search")
            varied.append((not asked, -len(labels), len(varied), dimension))
    if not varied:
        return None
    chosen = [dimension for *_, dimension in sorted(varied, key=lambda item: item[:3])[:2]]
    down, across = chosen if len(chosen) == 2 else (None, chosen[0])
    free = {name for dimension in chosen for name in dimension.settings}
    best = grid["system"][grid[run.tables.select_by].idxmax()]
    anchor = names.index(run.best if run.best in names else str(best))
    alike = Factors([in_play(row) for row in rows]).alike(anchor, but_for=free)
    kept = [(name, row) for name, row, keep in zip(names, rows, alike, strict=True) if keep]
    return Cells(
        names=[name for name, _ in kept],
        rows=[down.label(row) if down else "" for _, row in kept],
        columns=[across.label(row) for _, row in kept],
        row_order=_ordered(down, [row for _, row in kept]) if down else [""],
        column_order=_ordered(across, [row for _, row in kept]),
        axes=(down.name if down else "", across.name),
        held=", ".join(
            f"{SETTINGS[name].name} {SETTINGS[name].label(rows[anchor][name])}"
            for *_, dimension in varied
            for name in dimension.settings
            if dimension not in chosen and rows[anchor][name] is not None
        ),
    )


def _ordered(dimension: Dimension, rows: Sequence[dict[str, Any]]) -> list[str]:
    ordered = sorted(rows, key=dimension.order)
    return list(dict.fromkeys(dimension.label(row) for row in ordered))
