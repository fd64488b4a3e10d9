"""report.html: one file that holds everything it shows, opens from disk and fetches nothing."""

import base64
import gzip
import json
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import TYPE_CHECKING, Any

from lab.config.rows import is_absent
from lab.evaluation.metrics import GAINS
from lab.evaluation.verdict import PLANNED, legend, mark
from lab.report.page.diagnosis_plots import biggest_loss
from lab.report.page.explorer import chosen_systems, explorer_data
from lab.report.page.plot import Plot
from lab.report.page.plots import all_plots
from lab.report.phases import phase_story
from lab.report.verdict import FirstScreen, verdict_of
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Template

SCRIPTS = ("data.js", "plots.js", "list.js", "detail.js", "main.js")


def page(run: Run, interference: "pd.DataFrame | None" = None) -> str:
    """The report of a run as HTML; `interference` are the rows of `Interference.table` where that
    was measured."""
    verdict = verdict_of(run)
    plots = all_plots(run, verdict, interference)
    explorer = explorer_data(run, verdict)
    low, high = f"{verdict.select_by}_low", f"{verdict.select_by}_high"
    ranked = run.tables.ranked
    return template("report.html.j2").render(
        verdict=verdict,
        labels=run.labels,
        systems=ranked.to_dict("records"),
        metrics=run.metrics,
        mark=mark,
        planned=PLANNED,
        legend=legend(ranked["verdict"]),
        low=low,
        high=high,
        chosen=chosen_systems(run, verdict),
        causes=explorer["causes"] is not None,
        phases=phase_story(run),
        loss=biggest_loss(run, verdict.recommended),
        inputs=_inputs(run),
        method=_method(run, verdict),
        identities=sorted(run.manifest["identities"].items()),
        versions=[(name, version) for name, version in run.manifest["versions"].items() if version],
        style=_trusted(_file("style.css")),
        script=_trusted("\n".join(_file(name) for name in SCRIPTS)),
        data=_zipped(
            _json({"explorer": explorer, "plots": [_plot(plot) for plot in plots]}).encode()
        ),
        plotly=_plotly(),
    )


def template(name: str) -> "Template":
    """A template of `html/`: everything put into it is escaped, but for the lab's own style and
    script."""
    from jinja2 import Environment

    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "number": _number,
        "signed": _signed,
        "p_value": _p,
        "baseline_words": _baseline_words,
    }
    return environment.from_string(_file(name))


def _plot(plot: Plot) -> dict[str, Any]:
    table = json.loads(plot.table.to_json(orient="split", index=False, double_precision=12))
    return {
        "key": plot.key,
        "title": plot.title,
        "says": plot.says,
        "figure": {"data": plot.figure.data, "layout": plot.figure.layout},
        "table": {"columns": table["columns"], "rows": table["data"]},
    }


def _inputs(run: Run) -> list[tuple[str, object]]:
    manifest = run.manifest
    corpus, questions = manifest["corpus"], manifest["questions"]
    return [
        (
            "documents",
            f"{corpus['documents']:,} ({corpus['characters']:,} characters) "
            f"{corpus['path'] or 'given in Python'}",
        ),
        ("corpus fingerprint", corpus["fingerprint"][:16]),
        (
            "questions",
            f"{len(run.query_ids):,} scored, {len(questions['unscored']):,} not, "
            f"{questions['pieces']:,} pieces of evidence",
        ),
        ("sets", ", ".join(questions["paths"]) or "given in Python"),
        ("set fingerprint", questions["fingerprint"][:16]),
        *(
            (
                f"chunks {fact['label']}",
                f"{fact['chunks']:,} chunks, mean {fact['mean_characters']:g} characters",
            )
            for fact in manifest["chunkings"]
        ),
    ]


def _method(run: Run, verdict: FirstScreen) -> list[tuple[str, object]]:
    manifest, found = run.manifest, run.manifest["conclusions"]
    honest, phases = found["honest"], manifest["phases"]
    judged = {
        "evidence": "pieces of evidence; a piece counts once "
        f"{manifest['measure']['hold']:.0%} of it is in the chunks so far",
        "document": "documents, each at its best chunk's rank",
    }[manifest["unit"]]
    gains = [
        f"{metric}: {GAINS[metric.split('@')[0]]}"
        for metric in manifest["measure"]["metrics"]
        if metric.split("@")[0] in GAINS
    ]
    return [
        ("judged", judged),
        ("chosen by", verdict.select_by),
        ("nDCG", "; ".join(gains) or "not measured"),
        (
            "intervals",
            f"95%, BCa bootstrap, {found['resamples']:,} resamples of {found['units']} "
            f"{found['unit']}s",
        ),
        (
            "p",
            f"against the best system, paired sign flips ({found['flips']:,}), "
            f"{verdict.among}; lowered where skew speaks against a difference, and never below the "
            "chance that losses were missed",
        ),
        (
            "honest estimate",
            f"nested cross-validation, {honest['folds']} folds grouped by {honest['grouped_by']}",
        ),
        *((("phases", ", ".join(f"{one:g}" for one in phases)),) if phases else ()),
        ("seed", manifest["measure"]["seed"]),
        (
            "seconds",
            ", ".join(f"{stage} {seconds:g}" for stage, seconds in manifest["seconds"].items()),
        ),
    ]


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


@cache
def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return _zipped(get_plotlyjs().encode())


def _zipped(content: bytes) -> str:
    # The time stamp is left out: the same run gives the same bytes.
    return base64.b64encode(gzip.compress(content, 6, mtime=0)).decode()


def _file(name: str) -> str:
    return (files("lab.report.page") / "html" / name).read_text("utf-8")


def _trusted(text: str) -> Any:
    """Text of the lab itself, not of a document."""
    from markupsafe import Markup

    return Markup(text)


def _number(value: float) -> str:
    return "–" if is_absent(value) else f"{value:.3f}" if abs(value) < 10 else f"{value:.0f}"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _p(value: float) -> str:
    return "" if not value < 1 else "< 0.001" if value < 0.001 else f"{value:.3f}"


def _baseline_words(label: str) -> str:
    return (
        "the best BM25 system without a reranker"
        if "bm25" in label
        else "the first system of the grid"
    )
