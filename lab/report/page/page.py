"""report.html: one file that holds everything it shows, opens from disk and fetches nothing."""

import base64
import gzip
import json
from math import isfinite
from typing import TYPE_CHECKING, Any

from lab.evaluation.metrics import is_cost
from lab.evaluation.verdict import MARKS, PLANNED
from lab.report.advice import cautions, config_text, next_changes
from lab.report.chosen import chosen_systems, other_system
from lab.report.figures.answers import answer_losses
from lab.report.figures.every import all_plots
from lab.report.figures.losses import biggest_loss
from lab.report.figures.plot import Plot
from lab.report.figures.svg import panel_svg
from lab.report.page.answers import answer_section
from lab.report.page.drift import drift_section
from lab.report.page.explorer import explorer_data
from lab.report.page.listing import listed_questions
from lab.report.page.provenance import held_settings, inputs, machine, method
from lab.report.page.systems import facets, system_rows
from lab.report.page.template import html_file, template, trusted
from lab.report.phases import phase_story
from lab.report.verdict import verdict_of
from lab.report.weighing import weighing_stories
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd

    from lab.answers.table import AnswerTables
    from lab.usage.watch import Watched

SCRIPTS = (
    "data.js",
    "figures.js",
    "systems.js",
    "list.js",
    "alpha.js",
    "detail.js",
    "compare.js",
    "main.js",
)


def page(
    run: Run,
    interference: "pd.DataFrame | None" = None,
    answers: "AnswerTables | None" = None,
    drift: "Watched | None" = None,
) -> str:
    """The report of a run as HTML; `interference` are the rows of `Interference.table` where that
    was measured, `answers` what `lab answers --into` kept, `drift` what `lab watch --into` did."""
    verdict = verdict_of(run)
    plots = all_plots(run, interference)
    losses = None if answers is None else answer_losses(answers.losses)
    explorer = explorer_data(run)
    first, others = cautions(run, verdict.warnings)
    shown = run.tables.shown
    chosen = chosen_systems(run)
    tables = {plot.key: _table(plot) for plot in (*plots, losses) if plot is not None}
    return template("report.html.j2").render(
        verdict=verdict,
        labels=run.labels,
        metrics=run.metrics,
        costs=[metric for metric in run.metrics if is_cost(metric)],
        marks=MARKS,
        planned=PLANNED,
        settings=list(shown.columns),
        facets=facets(run),
        systems=system_rows(run, next((p for p in plots if p.key == "forest"), None)),
        several=len(run.systems) > 1,
        phases=phase_story(run),
        weighings=weighing_stories(run),
        chosen=chosen,
        compared=other_system(run),
        causes=explorer["causes"] is not None,
        loss=biggest_loss(run, run.recommended),
        changes=next_changes(run).to_dict("records"),
        cautions=first,
        other_cautions=others,
        config=config_text(run),
        figures=[(plot, _figures(plot)) for plot in plots],
        answers=None if answers is None else answer_section(run, answers),
        answer_figures=[(losses, _figures(losses))] if losses else [],
        drift=None if drift is None else drift_section(drift),
        questions=listed_questions(run),
        asked=len(run.query_ids),
        provenance=[
            ("Inputs", inputs(run)),
            ("The same in every system", held_settings(run)),
            ("How the numbers are made", method(run)),
            ("Models and analyzers", sorted(run.manifest["identities"].items())),
            ("When and with what", machine(run)),
        ],
        style=trusted(html_file("style.css")),
        script=trusted("\n".join(html_file(name) for name in SCRIPTS)),
        data=_zipped(_json({"explorer": explorer, "tables": tables}).encode()),
    )


def _figures(plot: Plot) -> list[tuple[str, float, Any]]:
    """Name, width in pixels and SVG of every panel."""
    return [
        (panel.name, panel.width * 96, trusted(panel_svg(panel, f"{plot.key}-{place}")))
        for place, panel in enumerate(plot.panels)
    ]


def _table(plot: Plot) -> dict[str, Any]:
    """The data of a plot, for the table beneath it and its CSV."""
    table = json.loads(plot.table.to_json(orient="split", index=False, double_precision=12))
    return {"columns": table["columns"], "rows": table["data"]}


def _json(plain: Any) -> str:
    """JSON as browsers read it, which know no NaN."""
    try:
        return json.dumps(plain, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_known(plain), ensure_ascii=False, allow_nan=False)


def _known(plain: Any) -> Any:
    """The same with None for what is not a number."""
    if isinstance(plain, dict):
        return {key: _known(value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [_known(value) for value in plain]
    return None if isinstance(plain, float) and not isfinite(plain) else plain


def _zipped(content: bytes) -> str:
    # The time stamp is left out: the same run gives the same bytes.
    return base64.b64encode(gzip.compress(content, 6, mtime=0)).decode()
