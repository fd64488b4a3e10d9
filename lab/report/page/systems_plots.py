"""Plots of the systems of a run: heat map of alpha and chunk size, quality against cost, scores by
kind of question."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lab.config.rows import chunks_label, in_play, search_label, settings_of
from lab.config.settings import of_group
from lab.evaluation.ablation import Factors
from lab.evaluation.verdict import MARKS, NOT_TOLD, chosen_among
from lab.report.page.plot import BLUES, COLOURS, GREY, Plot, axis, blank, plain, side_by_side
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd

MODES = ("bm25", "hybrid", "dense", "foreign")


def heatmap(run: Run) -> Plot:
    """Alpha by chunks, one map a metric, through the best system: its other settings are held.
    Cells that the questions do not tell from the metric's best system are outlined."""
    import pandas as pd

    own = run.tables.systems[run.tables.systems["mode"] != "foreign"]
    best = own.loc[own[run.manifest["measure"]["select_by"]].idxmax(), "system"]
    cells = _slice_through(own, run.best if run.best in set(own["system"]) else best)
    columns = [str(c) for c in dict.fromkeys(cells.sort_values("order", kind="stable")["search"])]
    rows = list(dict.fromkeys(cells["chunks"]))
    metrics = list(run.metrics)
    figure = blank(height=max(240, 130 + 52 * len(rows)))
    ticks: dict[str, Any] = {"type": "category", "showgrid": False}
    panels = side_by_side(
        figure, metrics, axis(tickangle=-45, **ticks), axis(autorange="reversed", **ticks)
    )
    tables, borders = [], []
    for metric, number in zip(metrics, panels, strict=True):
        grid = cells.pivot_table(
            index="chunks", columns="search", values=metric, sort=False
        ).reindex(rows, columns=columns)
        figure.add(
            "heatmap",
            z=grid.to_numpy().tolist(),
            x=[plain(c) for c in columns],
            y=[plain(r) for r in rows],
            colorscale=BLUES,
            showscale=False,
            text=_texts(grid, cells.assign(told=cells["system"].map(run.verdicts(metric)))),
            texttemplate="%{text}",
            hovertemplate="%{y} · %{x}<br>" + plain(metric) + " %{z:.3f}<extra></extra>",
            xgap=2,
            ygap=2,
            xaxis=f"x{number}",
            yaxis=f"y{number}",
        )
        told = cells["system"].map(run.verdicts(metric))
        borders += _outline(cells[told.isin(NOT_TOLD)], rows, columns, number)
        table = cells[["chunks", "search", metric]].rename(columns={metric: "value"})
        tables.append(table.assign(metric=metric, against_best=told))
    figure.layout["shapes"] = borders
    return Plot(
        "heatmap",
        "Alpha and chunks",
        "Mean of each metric for every cut of the documents (rows) and every weight of the dense "
        "leg (columns), with the other "
        "settings of the best system. Outlined cells cannot be told from the metric's best system, "
        f"{chosen_among(len(run.compared))}; ? marks those that no answers to these questions "
        "could have told from it.",
        figure,
        pd.concat(tables, ignore_index=True)[
            ["metric", "chunks", "search", "value", "against_best"]
        ],
    )


def _texts(grid: "pd.DataFrame", cells: "pd.DataFrame") -> list[list[str]]:
    """The figures in the cells, with a mark where nothing could have been settled."""
    told = cells.pivot_table(
        index="chunks", columns="search", values="told", sort=False, aggfunc="first"
    ).reindex(index=grid.index, columns=grid.columns)
    unsettled = told == "cannot be settled"
    return [
        [
            (f"{value:.3f}"[1:] if value < 1 else "1.0") + (MARKS["cannot be settled"] * mark)
            for value, mark in zip(values, marks, strict=True)
        ]
        for values, marks in zip(grid.to_numpy(), unsettled.to_numpy().tolist(), strict=True)
    ]


def _slice_through(systems: "pd.DataFrame", anchor: str) -> "pd.DataFrame":
    """The systems that share every setting but chunks, mode and alpha with the anchor. A leg that a
    mode lacks does not set its cells apart; a reranker that is off does."""
    settings = [settings_of(row) for row in systems.to_dict("records")]
    factors = Factors([in_play(row) for row in settings])
    rows = [row | {"system": name} for row, name in zip(settings, systems["system"], strict=True)]
    free = {setting.name for group in ("chunks", "search") for setting in of_group(group)}
    keep = factors.alike(systems["system"].tolist().index(anchor), but_for=free)
    cells = systems[keep].copy()
    records = [row for row, kept in zip(rows, keep, strict=True) if kept]
    cells["chunks"] = [chunks_label(row) for row in records]
    cells["search"] = [search_label(row) for row in records]
    cells["order"] = [
        MODES.index(row["mode"]) + (0 if row["alpha"] is None else row["alpha"] / 2)
        for row in records
    ]
    return cells


def _outline(
    cells: "pd.DataFrame",
    rows: Sequence[str],
    columns: Sequence[str],
    number: str,
) -> list[dict[str, Any]]:
    """The border around these cells in the map whose axes have this number: a side of a cell where
    its neighbour is not one of them."""
    named = zip(cells["chunks"], cells["search"], strict=True)
    inside = {(rows.index(chunks), columns.index(search)) for chunks, search in named}
    h = 0.5
    sides = {
        (0, -1): (-h, -h, -h, h),
        (0, 1): (h, -h, h, h),
        (-1, 0): (-h, -h, h, -h),
        (1, 0): (-h, h, h, h),
    }
    line = {
        "type": "line",
        "xref": f"x{number}",
        "yref": f"y{number}",
        "line": {"color": COLOURS[1], "width": 3},
    }
    return [
        {**line, "x0": column + x0, "y0": row + y0, "x1": column + x1, "y1": row + y1}
        for row, column in sorted(inside)
        for (down, right), (x0, y0, x1, y1) in sides.items()
        if (row + down, column + right) not in inside
    ]


def pareto(run: Run) -> Plot:
    """Quality against context tokens; the systems that no other beats in one without losing in the
    other are joined."""
    chosen, short = run.manifest["conclusions"]["select_by"], run.labels
    compared = run.tables.systems.iloc[run.tables.compared]
    table = compared[["system", "mode", "context_tokens", chosen, "pareto", "recommended"]].copy()
    table.insert(1, "label", [short[name] for name in table["system"]])
    figure = blank("context tokens handed to the reader (mean)", chosen)
    for colour, (mode, rows) in zip(COLOURS, table.groupby("mode", sort=True), strict=False):
        figure.add(
            "scatter",
            x=rows["context_tokens"].tolist(),
            y=rows[chosen].tolist(),
            mode="markers",
            name=str(mode),
            text=[plain(name) for name in rows["label"]],
            marker={"size": 9, "color": colour, "opacity": 0.75},
            hovertemplate="%{text}<br>%{y:.3f} at %{x:.0f} tokens<extra></extra>",
        )
    front = table[table["pareto"]].sort_values("context_tokens")
    line = {"color": GREY, "dash": "dot", "shape": "hv"}
    figure.add(
        "scatter",
        x=front["context_tokens"].tolist(),
        y=front[chosen].tolist(),
        mode="lines",
        name="front",
        line=line,
        hoverinfo="skip",
    )
    star = table[table["recommended"]]
    figure.add(
        "scatter",
        x=star["context_tokens"].tolist(),
        y=star[chosen].tolist(),
        mode="markers",
        name="recommended",
        text=[plain(name) for name in star["label"]],
        marker={"size": 17, "symbol": "star", "color": COLOURS[4]},
        hovertemplate="%{text}<br>%{y:.3f} at %{x:.0f} tokens<extra></extra>",
    )
    return Plot(
        "pareto",
        "Quality against cost",
        f"Each point is a system. Those on the dotted line are not beaten in {chosen} by any that "
        "hands over fewer tokens.",
        figure,
        table.sort_values("context_tokens", kind="stable").reset_index(drop=True),
    )


def kinds(run: Run, systems: Sequence[str]) -> Plot:
    """The selecting metric by kind of question for a few systems."""
    chosen, short = run.tables.select_by, run.labels
    table = run.slices("kind", systems)[["system", "kind", "questions", chosen]]
    table.insert(1, "label", table["system"].map(short))
    figure = blank(barmode="group", yaxis=axis(chosen, range=[0, 1]))
    for system in systems:
        part = table[table["system"] == system]
        figure.add(
            "bar",
            x=[
                plain(f"{kind} ({n})")
                for kind, n in zip(part["kind"], part["questions"], strict=True)
            ],
            y=part[chosen].tolist(),
            name=plain(short[system]),
            hovertemplate="%{x}<br>%{y:.3f}<extra>" + plain(short[system]) + "</extra>",
        )
    return Plot(
        "kinds",
        "By kind of question",
        f"Mean {chosen} of the recommended system, the baseline and the best of every mode; the "
        "number of questions in brackets.",
        figure,
        table,
    )
