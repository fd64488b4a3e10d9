"""A Run in a notebook: it shows itself, and its plots by name."""

from dataclasses import dataclass

from lab.errors import RunError
from lab.evaluation.verdict import legend, mark
from lab.report.figures.alpha import alpha
from lab.report.figures.changes import effects, rescue
from lab.report.figures.every import all_plots
from lab.report.figures.losses import distance, waterfall
from lab.report.figures.maps import heatmap, kinds_and_causes
from lab.report.figures.parallel import parallel
from lab.report.figures.plot import Plot
from lab.report.figures.questions import questions_and_systems
from lab.report.figures.separation import separation
from lab.report.figures.slices import kinds
from lab.report.figures.systems import cost, forest, recall_curve
from lab.report.page.template import template
from lab.report.phases import phase_story
from lab.report.verdict import verdict_of
from lab.runs.run import Run

ROWS = 20


def html_of(run: Run) -> str:
    """The verdict and the first systems as HTML, every text escaped."""
    verdict = verdict_of(run)
    ranked = run.tables.ranked.head(ROWS)
    shown = run.tables.shown.loc[ranked.index]
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
    """The report's plots of one run. Each shows itself in a notebook, has its `table`, and is
    written by `save("name.svg", "name.pdf", "name.png")`. One that the run has no data for raises
    RunError."""

    run: Run

    def all(self) -> list[Plot]:
        """Every plot that the run has the data for, in the order of the report."""
        return all_plots(self.run)

    def forest(self) -> Plot:
        """How far the next systems lie behind the best, with intervals."""
        return _known(forest(self.run), "one system, so there is no difference")

    def heatmap(self) -> Plot:
        """Means over the two settings that vary most, a map for every metric."""
        return _known(heatmap(self.run), "no two systems that differ in one setting")

    def effects(self) -> Plot:
        """What every value of every setting is worth, with intervals."""
        return _known(effects(self.run), "no two systems that differ in one setting")

    def rescue(self, system: str | None = None) -> Plot:
        """Questions that changing one setting rescues and breaks."""
        name = self._named(system)
        return _known(rescue(self.run, name), f"no system one setting away from {name}")

    def waterfall(self, system: str | None = None) -> Plot:
        """From 100% down to the recall of a system."""
        return _known(waterfall(self.run, self._named(system)), "nothing that was missed")

    def kinds_and_causes(self, system: str | None = None) -> Plot:
        """What loses the evidence of every kind of question."""
        return _known(kinds_and_causes(self.run, self._named(system)), "nothing that was missed")

    def kinds(self) -> Plot:
        """The selecting metric by kind of question."""
        return _known(kinds(self.run), "questions of one kind only")

    def alpha(self, system: str | None = None) -> Plot:
        """Every metric over ranks at every alpha, exactly, by kind, for the systems that differ
        from one in alpha alone."""
        plot = alpha(self.run, self._named(system))
        return _known(plot, "no hybrid system; expected mode 'hybrid' in the grid")

    def cost(self) -> Plot:
        """Quality against what systems cost."""
        return _known(cost(self.run), "one system, so there is nothing to compare")

    def recall(self) -> Plot:
        """Recall within k for every k."""
        return recall_curve(self.run)

    def distance(self) -> Plot:
        """The selecting metric by the distance of the evidence from the nearest cut."""
        return _known(distance(self.run), "no evidence with a place in its document")

    def questions(self) -> Plot:
        """Every question under every system."""
        return _known(questions_and_systems(self.run), "one system")

    def parallel(self) -> Plot:
        """Every system as a line through its settings."""
        return _known(parallel(self.run), "fewer than two settings that vary, or six systems")

    def separation(self) -> Plot:
        """How well the scores of each stage tell questions without an answer."""
        return _known(separation(self.run), "no question without an answer")

    def _named(self, system: str | None) -> str:
        return self.run.tables.named(system or self.run.recommended)


def _known(plot: Plot | None, why_not: str) -> Plot:
    if plot is None:
        raise RunError(f"this plot cannot be drawn: the run has {why_not}")
    return plot
