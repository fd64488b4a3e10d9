"""Plots of systems: quality against cost, how far behind the best, recall at every cut-off."""

from typing import TYPE_CHECKING, Any

import numpy as np

from lab.evaluation.verdict import chosen_among, legend, mark
from lab.report.chosen import chosen_systems, looks
from lab.report.figures.ink import INKS, MARKERS
from lab.report.figures.panel import Marks, Panel, ends, shortened
from lab.report.figures.panel import legend as draw_legend
from lab.report.figures.plot import Plot
from lab.report.figures.slices import run_value
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MODES = ("bm25", "dense", "hybrid", "foreign")
# Systems of the forest: more lines cannot be read.
FOREST = 20
# Ranks of the recall curve: as many hits as a run keeps.
RANKS = 10
# What a system costs, as a table of systems has it: column, and its axis.
COSTS = {
    "context_tokens": "context tokens handed to the reader (mean)",
    "query_p50_ms": "milliseconds a question (median)",
    "vector_bytes": "bytes of a chunk's vector",
}


def cost(run: Run) -> Plot | None:
    """Quality against every cost that was measured; what decides a choice is said with it. None for
    a single system."""
    if len(run.compared) < 2:
        return None
    chosen, systems = run.tables.select_by, run.tables.systems.iloc[run.tables.compared]
    known = [name for name in COSTS if name in systems and systems[name].notna().all()]
    table = systems[["system", "mode", "rerank_depth", *known, chosen, "pareto", "cost_rank"]]
    table = table.assign(label=[run.labels[str(name)] for name in systems["system"]])
    cheaper = run.manifest["conclusions"].get("cheaper", {})
    why = (
        f"{run.labels[run.recommended]} is recommended over the best for its "
        + " and ".join(cheaper)
        + ". "
        if cheaper and run.recommended != run.best
        else ""
    )
    return Plot(
        "cost",
        "Quality against cost",
        f"Each point is a system, hollow with a reranker. {why}Systems on the line are beaten by "
        f"none that costs less; where costs are within a tenth, the fewer stages decide.",
        [_cost_panel(run, table, name) for name in known],
        table.sort_values(known[0], kind="stable").reset_index(drop=True),
        columns=min(2, len(known)),
    )


def _cost_panel(run: Run, table: "pd.DataFrame", column: str) -> Panel:
    metric = run.tables.select_by

    def draw(axes: "Axes", marks: Marks) -> None:
        for place, mode in enumerate(MODES):
            named = False
            for row in table[table["mode"] == mode].itertuples():
                x, y = float(getattr(row, column)), float(run_value(row, table, metric))
                hollow = row.rerank_depth == row.rerank_depth and row.rerank_depth is not None
                (dot,) = axes.plot(
                    x,
                    y,
                    MARKERS[place],
                    color=INKS[mode],
                    markerfacecolor="none" if hollow else INKS[mode],
                    label=None if named else mode,
                )
                named = True
                marks.tell(dot, f"{row.label}: {metric} {y:.3f} at {x:,.0f}", f"s={row.system}")
        front = _front(table[column].to_numpy(float), table[metric].to_numpy(float))
        axes.plot(*front, color=INKS["soft"], linewidth=1, linestyle=":", drawstyle="steps-post")
        star = table[table["system"] == run.recommended].iloc[0]
        axes.annotate(
            "recommended",
            (float(star[column]), float(star[metric])),
            xytext=(8, -14),
            textcoords="offset points",
            fontsize=8.5,
            arrowprops={"arrowstyle": "-", "color": INKS["soft"]},
        )
        axes.set_xlabel(COSTS[column])
        axes.set_ylabel(metric)
        draw_legend(axes)

    return Panel("", draw)


def _front(costs: "np.ndarray[Any, Any]", quality: "np.ndarray[Any, Any]") -> tuple[Any, Any]:
    """The points that are better than everything cheaper."""
    order = np.lexsort((-quality, costs))
    best = np.maximum.accumulate(quality[order])
    first = np.r_[True, best[1:] > best[:-1]]
    return costs[order][first], quality[order][first]


def forest(run: Run) -> Plot | None:
    """How far the next systems lie behind the best, with the interval of each difference."""
    if len(run.compared) < 2:
        return None
    metric, best = run.tables.select_by, run.best
    verdicts = run.verdicts(metric)
    pairs = run.against(best)
    table = pairs[["system", "difference", "low", "high", "p_holm"]].assign(
        label=pairs["system"].map(run.labels), against_best=pairs["system"].map(verdicts)
    )
    table = table.sort_values("difference", ascending=False, kind="stable").reset_index(drop=True)
    shown = table.head(FOREST)

    def draw(axes: "Axes", marks: Marks) -> None:
        modes = run.tables.systems.set_index("system")["mode"]
        for place, row in enumerate(shown.itertuples()):
            dot, _, _ = axes.errorbar(
                row.difference,
                place,
                xerr=ends(row.difference, row.low, row.high),
                fmt=MARKERS[MODES.index(modes[row.system])],
                color=INKS[modes[row.system]],
                elinewidth=1.2,
            )
            words = f"{row.label}: {row.difference:+.3f} [{row.low:+.3f}, {row.high:+.3f}]"
            marks.tell(dot, f"{words}, {row.against_best}", f"s={best}&vs={row.system}")
        names = [f"{shortened(row.label)} {mark(row.against_best)}" for row in shown.itertuples()]
        axes.axvline(0, color=INKS["soft"], linewidth=1)
        axes.set_yticks(range(len(shown)), names)
        axes.set_ylim(len(shown) - 0.4, -0.6)
        axes.set_xlabel(f"{metric} minus that of {run.labels[best]}")

    return Plot(
        "forest",
        "How far behind the best",
        f"Differences to {run.labels[best]} over the same questions with their 95% intervals, as "
        f"if each pair had been planned; the marks are verdicts {chosen_among(len(run.compared))}: "
        + legend(verdicts.values())
        + (f". The first {FOREST} of {len(table)}." if len(table) > FOREST else "."),
        [Panel("", draw, 7.6, 0.9 + 0.25 * len(shown))],
        table,
    )


def recall_curve(run: Run) -> Plot:
    """The share of a question's pieces that is complete within k hits, for every k."""
    import pandas as pd

    systems, ranks = chosen_systems(run), np.arange(1, RANKS + 1)
    place = {query_id: number for number, query_id in enumerate(run.query_ids)}
    rows = []
    for system in systems:
        pieces = run.tables.rows("evidence", system)
        pieces = pieces[pieces["query_id"].astype(str).isin(place)]
        of = pieces["query_id"].astype(str).map(place).to_numpy()
        complete = pieces["complete"].to_numpy(dtype=float, na_value=np.inf)
        counts = np.bincount(of, minlength=len(place))
        for k in ranks:
            hit = np.bincount(of, weights=complete <= k, minlength=len(place))
            mean = float((hit[counts > 0] / counts[counts > 0]).mean())
            rows.append({"system": system, "label": run.labels[system], "k": k, "recall": mean})
    table = pd.DataFrame(rows)

    def draw(axes: "Axes", marks: Marks) -> None:
        for system, look in looks(run).items():
            part = table[table["system"] == system]
            (line,) = axes.plot(
                part["k"], part["recall"], label=shortened(run.labels[system]), **look.line
            )
            marks.tell(line, run.labels[system], f"s={system}")
        axes.axvline(run.tables.k, color=INKS["soft"], linewidth=1, linestyle=":")
        axes.set_xticks(ranks)
        axes.set_ylim(0, 1.04)
        axes.set_xlabel("k, hits that are read")
        axes.set_ylabel("recall within k")
        draw_legend(axes)

    return Plot(
        "recall",
        "Recall by the number of hits",
        f"Where more hits would help, the line still rises. The dotted line is at {run.tables.k}, "
        "to which causes are relative.",
        [Panel("", draw)],
        table,
    )
