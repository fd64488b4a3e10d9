"""Questions without an answer: how well scores tell them, and what a threshold on the reranker does
to them and to the others."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from lab.diagnosis.separation import KEPT
from lab.report.page.plot import COLOURS, Plot, axis, blank, plain
from lab.runs.run import Run


def unanswerable(run: Run, system: str, name: str) -> Text | None:
    """For the first screen; None for a run without such questions, or a foreign system, whose
    scores are its own affair."""
    said = _told(run, system)
    if not said:
        return None
    text = Text(f"\ncan {name} tell that there is no answer?", "bold")
    for line in said:
        text.append(f"\n  {line}", "not bold")
    return text


def unanswerable_plot(run: Run, systems: Sequence[str], short: Mapping[str, str]) -> Plot | None:
    """The AUC of every stage of some systems with its interval."""
    table = run.tables.separation[run.tables.separation["system"].isin(systems)]
    said = next((said for system in systems if (said := _told(run, system))), None)
    if said is None:
        return None
    figure = blank(scattermode="group", yaxis=axis("AUC"))
    for colour, system in zip(COLOURS, systems, strict=False):
        rows = table[table["system"] == system]
        figure.add(
            "scatter",
            x=rows["stage"].tolist(),
            y=rows["auc"].tolist(),
            mode="markers",
            name=plain(short[system]),
            marker={"size": 11, "color": colour},
            hovertemplate="%{x}: %{y:.3f}",
            error_y={
                "type": "data",
                "symmetric": False,
                "thickness": 1,
                "array": (rows["high"] - rows["auc"]).tolist(),
                "arrayminus": (rows["auc"] - rows["low"]).tolist(),
            },
        )
    return Plot(
        "silence",
        "Questions without an answer",
        f"{short[systems[0]]}: {' '.join(said)}",
        figure,
        table,
    )


def _told(run: Run, system: str) -> list[str]:
    """Sentences on one system: its stages, and the threshold that keeps 95% of the answerable
    questions."""
    stages = list(run.tables.rows("separation", system).itertuples())
    if not stages:
        return []
    one = stages[0]
    aucs = ", ".join(f"{row.stage} {row.auc:.3f} [{row.low:.3f}, {row.high:.3f}]" for row in stages)
    rejected = ", ".join(f"{row.stage} {row.rejected:.0%}" for row in stages)
    said = [
        f"Questions without an answer: {one.unanswerable:,}, with one: {one.answerable:,}. Chance "
        "that the best hit scores "
        f"higher where there is one: {aucs}.",
        f"A limit that keeps {KEPT:.0%} of the questions with an answer rejects of the others: "
        f"{rejected}.",
    ]
    rows: list[dict[str, Any]] = run.tables.rows("thresholds", system).to_dict("records")
    cut = next((row for row in reversed(rows[1:]) if row["kept"] >= KEPT), None)
    if cut is not None:
        said.append(
            f"rerank.threshold {cut['threshold']:.3f} does so and takes recall@5 from "
            f"{rows[0]['recall@5']:.3f} to "
            f"{cut['recall@5']:.3f}, since it cuts hits; refusing the same questions and cutting "
            "nothing from the others would "
            f"leave {cut['recall@5_refusing']:.3f}."
        )
    return said
