"""A Run in a notebook: it shows itself, and its plots are Plotly figures."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.errors import RunError
from lab.evaluation.verdict import legend, mark
from lab.report.page.alpha_plot import alpha_plot, family_of
from lab.report.page.diagnosis_plots import waterfall_plot
from lab.report.page.page import template
from lab.report.page.systems_plots import heatmap, pareto
from lab.report.phases import phase_story
from lab.report.verdict import verdict_of
from lab.runs.labels import shown_settings
from lab.runs.run import Run

if TYPE_CHECKING:
    import plotly.graph_objects as go

ROWS = 20


def html_of(run: Run) -> str:
    """The verdict and the first systems as HTML, every text escaped."""
    verdict = verdict_of(run)
    ranked = run.tables.ranked.head(ROWS)
    shown = shown_settings(run.tables.systems).loc[ranked.index]
    return template("notebook.html.j2").render(
        verdict=verdict,
        labels=run.labels,
        metrics=run.metrics,
        settings=list(shown.columns) or ["system"],
        rows=[
            (
                list(shown.loc[row.Index]) if shown.shape[1] else [row.system],
                run.tables.systems.loc[row.Index],
            )
            for row in ranked.itertuples()
        ],
        mark=mark,
        phases=phase_story(run),
        legend=legend(ranked["verdict"]),
        more=len(run.tables.systems) - len(ranked),
    )


@dataclass(frozen=True)
class Plots:
    """The report's plots of one run, as Plotly figures."""

    run: Run

    def heatmap(self) -> "go.Figure":
        """Alpha by chunks, a map for every metric, through the best system."""
        return heatmap(self.run).figure.plotly

    def pareto(self) -> "go.Figure":
        """Quality against context tokens, with the front."""
        return pareto(self.run).figure.plotly

    def waterfall(self, system: str | None = None) -> "go.Figure":
        """From 100% down to the recall of a system, by default the recommended one."""
        return waterfall_plot(self.run, system or self.run.recommended).figure.plotly

    def alpha(self, system: str | None = None) -> "go.Figure":
        """Every metric over ranks at every alpha, exactly, by kind, for the systems that differ
        from one in alpha alone. Raises RunError for a run without a hybrid system."""
        family = family_of(self.run, system or self.run.recommended)
        if family is None:
            raise RunError(
                "this run has no hybrid system, so there is no alpha to draw; expected mode "
                "'hybrid' in the grid"
            )
        return alpha_plot(self.run, family).figure.plotly
