"""Plots of why evidence was missed: waterfall, causes by kind, rescues, distance from the nearest
cut."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.config.rows import settings_of
from lab.corpus.document import Corpus
from lab.diagnosis.causes import CAUSES
from lab.diagnosis.rescue import Rescue, rescues
from lab.diagnosis.waterfall import NO_PLACE, Step, room_for, waterfall
from lab.relevance.query import Query
from lab.report.labels import labels
from lab.report.page.plot import COLOURS, GREY, Plot, axis, blank, plain
from lab.runs.run import Run
from lab.runs.slices import DISTANCE, slice_run

if TYPE_CHECKING:
    import pandas as pd

# Changes shown in the rescue plot, the largest first; the table has all.
RESCUES = 16
EVERY_KIND = "all questions"


def waterfall_steps(run: Run, system: str) -> dict[str, tuple[Step, ...]]:
    """Kind -> the steps from 100% down to the recall of a system, all kinds together first."""
    pieces = run.evidence.loc[
        run.evidence["system"] == system, ["query_id", "piece", "reachable"]
    ].astype({"query_id": str})
    missed = run.causes.loc[
        run.causes["system"] == system, ["query_id", "piece", "cause", "verified"]
    ]
    joined = pieces.merge(
        missed.astype({"query_id": str, "cause": str}), on=["query_id", "piece"], how="left"
    )
    joined["kind"] = joined["query_id"].map(run.questions.set_index("query_id")["kind"])
    causes, verified = (
        joined["cause"].fillna("").to_numpy(dtype=str),
        joined["verified"].eq(True).to_numpy(),
    )
    ids = joined["query_id"].astype("category").cat.codes.to_numpy(dtype=np.int64)
    room = joined["reachable"].to_numpy(dtype=np.int64)
    found = {EVERY_KIND: waterfall(EVERY_KIND, ids, causes, verified, room)}
    for kind in sorted(set(joined["kind"])):
        of = (joined["kind"] == kind).to_numpy()
        found[kind] = waterfall(kind, ids[of], causes[of], verified[of], room[of])
    return found


def biggest_loss(run: Run, system: str) -> str | None:
    """The cause that costs the recommended system most, in a sentence, and what no ranking has room
    for; None if no stage lost anything."""
    steps = waterfall_steps(run, system)[EVERY_KIND]
    blamed = [step for step in steps if step.cause != NO_PLACE]
    if not blamed:
        return None
    worst, room = max(blamed, key=lambda step: step.lost), room_for(steps)
    k, meaning = run.manifest["causes"]["k"], CAUSES[worst.cause].meaning
    return (
        f"{worst.lost:.1%} of recall within {k} is lost to {worst.cause} ({meaning}), "
        f"{worst.pieces} pieces; with all of "
        f"them back it would be {worst.ceiling:.3f}"
        + (f"; no ranking of {k} hits could reach more than {room:.3f}." if room < 1 else ".")
    )


def waterfall_plot(run: Run, system: str) -> Plot:
    """From 100% down to the recall of one system."""
    import pandas as pd

    steps, k = waterfall_steps(run, system), run.manifest["causes"]["k"]
    table = pd.DataFrame(
        [
            {name: getattr(step, name) for name in Step.__slots__}
            for found in steps.values()
            for step in found
        ]
    )
    shown = steps[EVERY_KIND]
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
        f"Each step is the share of the evidence that {labels(run.systems)[system]} loses at it; "
        "what no ranking of so few hits has room for comes first. The table has every kind of "
        "question, how much is verified, and the ceiling that mending a step would give.",
        figure,
        table,
    )


def rescue_plots(run: Run, system: str) -> tuple[Plot, Plot]:
    """What changing one setting wins and loses, all else equal: seen from one system, and for the
    whole grid."""
    rescued = _rescues(run)
    return _rescue_bars(run, system, *rescued), _rescue_matrix(*rescued)


def _rescue_bars(
    run: Run, system: str, names: Sequence[str], found: Sequence[Rescue], table: "pd.DataFrame"
) -> Plot:
    k, own = run.manifest["causes"]["k"], run.systems["system"].tolist().index(system)
    # Seen from the system, whichever of the two the pair names first.
    near = [r for r in found if own in (r.a, r.b)][:RESCUES]
    ways = [(r.b, r.rescued, r.broken) if r.a == own else (r.a, r.broken, r.rescued) for r in near]
    told = [
        plain(f"{r.setting}: {_without(names[way[0]], names[own])}")
        for r, way in zip(near, ways, strict=True)
    ]
    title = f"questions, of {run.evidence['query_id'].nunique()}"
    figure = blank(
        title, barmode="relative", height=150 + 28 * len(ways), yaxis=axis(autorange="reversed")
    )
    for name, values, colour in (
        ("rescued", [w[1] for w in ways], COLOURS[0]),
        ("broken", [-w[2] for w in ways], COLOURS[1]),
    ):
        figure.add(
            "bar",
            y=told,
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
        f"Each bar changes one setting of {names[own]}: questions that fail with it and not after "
        "the change (rescued), and the "
        f"reverse (broken). A question fails when a piece of its evidence is missed within {k}.",
        figure,
        table,
    )


def _rescue_matrix(names: Sequence[str], found: Sequence[Rescue], table: "pd.DataFrame") -> Plot:
    """Net questions won by going from one system (row) to another that differs in one setting
    (column)."""
    systems = sorted({place for r in found for place in (r.a, r.b)})
    place = {system: i for i, system in enumerate(systems)}
    net: list[list[int | None]] = [[None] * len(systems) for _ in systems]
    told = [[""] * len(systems) for _ in systems]
    for r in found:
        a, b = place[r.a], place[r.b]
        net[a][b], net[b][a] = r.net, -r.net
        told[a][b] = f"{plain(r.setting)}: rescues {r.rescued}, breaks {r.broken}"
        told[b][a] = f"{plain(r.setting)}: rescues {r.broken}, breaks {r.rescued}"
    shown = [plain(names[system]) for system in systems]
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
        text=told,
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
        table,
    )


def _rescues(run: Run) -> "tuple[list[str], Sequence[Rescue], pd.DataFrame]":
    """Short names of the systems, all pairs that differ in one setting, and these as a table."""
    import pandas as pd

    short = labels(run.systems)
    names = [short[name] for name in run.systems["system"]]
    found = rescues([settings_of(row) for row in run.systems.to_dict("records")], _failed(run))
    columns = ["setting", "before", "after", "system", "changed", "rescued", "broken", "net", "p"]
    rows = [
        (r.setting, r.before, r.after, names[r.a], names[r.b], r.rescued, r.broken, r.net, r.p)
        for r in found
    ]
    return names, found, pd.DataFrame(rows, columns=columns)


def _failed(run: Run) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Systems x questions: whether a piece of the question is missed."""
    ids = {query_id: place for place, query_id in enumerate(run.evidence["query_id"].unique())}
    places = {system: place for place, system in enumerate(run.systems["system"])}
    failed = np.zeros((len(places), len(ids)), dtype=bool)
    failed[
        run.causes["system"].map(places).to_numpy(dtype=int),
        run.causes["query_id"].map(ids).to_numpy(dtype=int),
    ] = True
    return failed


def _without(label: str, known: str) -> str:
    """A label without the words that another has too, unless nothing would be left."""
    return " ".join(word for word in label.split() if word not in known.split()) or label


def distance_plot(
    run: Run, corpus: Corpus, queries: Sequence[Query], systems: Sequence[str]
) -> Plot:
    """The selecting metric by the distance of the evidence from the nearest cut: the boundary gap,
    drawn."""
    import pandas as pd

    chosen, short = run.manifest["conclusions"]["select_by"], labels(run.systems)
    rows = slice_run(run, corpus, queries, DISTANCE, systems)
    table = pd.DataFrame(
        [
            {
                "distance": r.slice,
                "label": short[r.system],
                "questions": r.questions,
                chosen: r.mean[chosen],
                "low": r.low[chosen],
                "high": r.high[chosen],
            }
            for r in rows
        ]
    )
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
