"""Plots of why evidence was missed: waterfall, causes by kind, rescues, distance from the nearest
cut."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lab.diagnosis.causes import CAUSES
from lab.diagnosis.waterfall import NO_PLACE
from lab.report.page.plot import COLOURS, GREY, Plot, axis, blank, plain
from lab.runs.losses import ALL
from lab.runs.run import Run
from lab.runs.slices import DISTANCE

if TYPE_CHECKING:
    import pandas as pd

# Changes shown in the rescue plot, the largest first; the table has all.
RESCUES = 16
EVERY_KIND = "all questions"


def biggest_loss(run: Run, system: str) -> str | None:
    """The cause that costs the recommended system most, in a sentence, and what no ranking has room
    for; None if no stage lost anything."""
    table, k = run.waterfall(system), run.tables.k
    every = table[table["kind"] == ALL]
    blamed: list[Any] = list(every[every["cause"] != NO_PLACE].itertuples())
    if not blamed:
        return None
    worst = max(blamed, key=lambda step: step.lost)
    meaning = CAUSES[worst.cause].meaning
    places = every[every["cause"] == NO_PLACE]
    room = 1.0 if places.empty else float(places["left"].iloc[0])
    return (
        f"{worst.lost:.1%} of recall within {k} is lost to {worst.cause} ({meaning}), "
        f"{worst.pieces} pieces; with all of "
        f"them back it would be {worst.ceiling:.3f}"
        + (f"; no ranking of {k} hits could reach more than {room:.3f}." if room < 1 else ".")
    )


def waterfall_plot(run: Run, system: str) -> Plot:
    """From 100% down to the recall of one system."""
    table, k = run.waterfall(system), run.tables.k
    shown: list[Any] = list(table[table["kind"] == ALL].itertuples())
    names = ["all evidence", *(step.cause for step in shown), f"recall within {k}"]
    left = shown[-1].left if shown else 1.0
    figure = blank(yaxis=axis(range=[0, 1.12], tickformat=".0%"), showlegend=False)
    figure.add(
        "waterfall",
        x=names,
        y=[1.0, *(-step.lost for step in shown), left],
        measure=["absolute", *["relative"] * len(shown), "total"],
        text=["100%", *(f"-{step.lost:.1%}" for step in shown), f"{left:.1%}"],
        textposition="outside",
        connector={"line": {"color": GREY, "width": 1}},
        decreasing={"marker": {"color": COLOURS[1]}},
        totals={"marker": {"color": COLOURS[0]}},
        hovertemplate="%{x}: %{text}<extra></extra>",
    )
    return Plot(
        "waterfall",
        "Where recall is lost",
        f"Each step is the share of the evidence that {run.labels[system]} loses at it; "
        "what no ranking of so few hits has room for comes first. The table has every kind of "
        "question, how much is verified, and the ceiling that mending a step would give.",
        figure,
        table,
    )


def rescue_plots(run: Run, system: str) -> tuple[Plot, Plot]:
    """What changing one setting wins and loses, all else equal: seen from one system, and for the
    whole grid."""
    return _rescue_bars(run, system), _rescue_matrix(run)


def _rescue_bars(run: Run, system: str) -> Plot:
    table, short = run.rescues(), run.labels
    # Seen from the system, whichever of the two the pair names first.
    near = table[(table["a"] == system) | (table["b"] == system)].head(RESCUES)
    pairs: list[Any] = list(near.itertuples())
    ways = [
        (r.b, r.rescued, r.broken) if r.a == system else (r.a, r.broken, r.rescued) for r in pairs
    ]
    changes = [
        plain(f"{pair.setting}: {_without(short[way[0]], short[system])}")
        for pair, way in zip(pairs, ways, strict=True)
    ]
    title = f"questions, of {len(run.query_ids)}"
    figure = blank(
        title, barmode="relative", height=150 + 28 * len(ways), yaxis=axis(autorange="reversed")
    )
    for name, values, colour in (
        ("rescued", [w[1] for w in ways], COLOURS[0]),
        ("broken", [-w[2] for w in ways], COLOURS[1]),
    ):
        figure.add(
            "bar",
            y=changes,
            x=values,
            name=name,
            orientation="h",
            marker={"color": colour},
            text=[abs(value) or "" for value in values],
            textangle=0,
            hovertemplate="%{y}<br>" + name + " %{text}<extra></extra>",
        )
    return Plot(
        "rescue",
        "What one change rescues and breaks",
        f"Each bar changes one setting of {short[system]}: questions that fail with it and not "
        "after the change (rescued), and the reverse (broken). A question fails when a piece of "
        f"its evidence is missed within {run.tables.k}.",
        figure,
        _labelled(run, table),
    )


def _rescue_matrix(run: Run) -> Plot:
    """Net questions won by going from one system (row) to another that differs in one setting
    (column)."""
    table, short = run.rescues(), run.labels
    paired = {*table["a"], *table["b"]}
    systems = [system for system in run.systems if system in paired]
    place = {system: i for i, system in enumerate(systems)}
    net: list[list[int | None]] = [[None] * len(systems) for _ in systems]
    texts = [[""] * len(systems) for _ in systems]
    rows: list[Any] = list(table.itertuples())
    for r in rows:
        a, b = place[r.a], place[r.b]
        net[a][b], net[b][a] = r.net, -r.net
        texts[a][b] = f"{plain(r.setting)}: rescues {r.rescued}, breaks {r.broken}"
        texts[b][a] = f"{plain(r.setting)}: rescues {r.broken}, breaks {r.rescued}"
    shown = [plain(short[system]) for system in systems]
    ticks: dict[str, Any] = {"type": "category", "showgrid": False, "tickfont": {"size": 9}}
    figure = blank(
        height=min(220 + 14 * len(systems), 760),
        xaxis=axis(tickangle=-90, **ticks),
        yaxis=axis(autorange="reversed", **ticks),
    )
    figure.add(
        "heatmap",
        z=net,
        x=shown,
        y=shown,
        text=texts,
        zmid=0,
        xgap=1,
        ygap=1,
        colorscale=[[0, COLOURS[1]], [0.5, "#f4f4f4"], [1, COLOURS[0]]],
        hovertemplate="%{y}<br>to %{x}<br>%{text}<br>net %{z}<extra></extra>",
        colorbar={"title": {"text": "net"}},
    )
    return Plot(
        "rescue-matrix",
        "Every change of one setting",
        "Going from the system of a row to that of a column, which differs in one setting: "
        "questions rescued minus questions "
        "broken. Empty cells differ in more than one setting.",
        figure,
        _labelled(run, table),
    )


def _labelled(run: Run, table: "pd.DataFrame") -> "pd.DataFrame":
    """The table of rescues with short names, as a report shows it."""
    named = table.assign(system=table["a"].map(run.labels), changed=table["b"].map(run.labels))
    order = ["setting", "before", "after", "system", "changed", "rescued", "broken", "net", "p"]
    return named[order]


def _without(label: str, known: str) -> str:
    """A label without the words that another has too, unless nothing would be left."""
    return " ".join(word for word in label.split() if word not in known.split()) or label


def distance_plot(run: Run, systems: Sequence[str]) -> Plot:
    """The selecting metric by the distance of the evidence from the nearest cut: the boundary gap,
    drawn."""
    chosen = run.tables.select_by
    rows = run.slices(DISTANCE, systems)
    table = rows.assign(label=rows["system"].map(run.labels)).rename(
        columns={f"{chosen}_low": "low", f"{chosen}_high": "high"}
    )[["distance", "label", "questions", chosen, "low", "high"]]
    figure = blank(
        xaxis=axis("characters to the nearest cut", type="category"),
        yaxis=axis(chosen, range=[0, 1.02]),
    )
    for label, part in table.groupby("label", sort=False):
        means: Any = part[chosen]
        bars = {
            "type": "data",
            "symmetric": False,
            "array": (part["high"] - means).tolist(),
            "arrayminus": (means - part["low"]).tolist(),
        }
        figure.add(
            "scatter",
            x=part["distance"].tolist(),
            y=means.tolist(),
            error_y={**bars, "thickness": 1},
            mode="markers+lines",
            name=plain(label),
            text=part["questions"].tolist(),
            hovertemplate="%{x}: %{y:.3f}, %{text} questions",
        )
    return Plot(
        "distance",
        "Near a cut or mid-chunk",
        f"{chosen} by how far a question's evidence lies from the nearest chunk boundary, with 95% "
        "intervals. 0 is evidence that "
        "a cut parts; a curve that rises to the right is the boundary gap.",
        figure,
        table,
    )
