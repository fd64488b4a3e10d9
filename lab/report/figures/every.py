"""Every plot of a run, in the order of the report."""

from typing import TYPE_CHECKING

from lab.report.figures.alpha import alpha
from lab.report.figures.changes import effects, rescue
from lab.report.figures.doses import doses
from lab.report.figures.losses import distance, waterfall
from lab.report.figures.maps import heatmap, kinds_and_causes
from lab.report.figures.parallel import parallel
from lab.report.figures.plot import Plot
from lab.report.figures.questions import questions_and_systems
from lab.report.figures.separation import separation
from lab.report.figures.slices import kinds
from lab.report.figures.systems import cost, forest, recall_curve
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd


def all_plots(run: Run, interference: "pd.DataFrame | None" = None) -> list[Plot]:
    """Every plot that the run has the data for; `interference` are the rows of
    `Interference.table`, where it was measured."""
    system = run.recommended
    drawn = [
        heatmap(run),
        forest(run),
        effects(run),
        rescue(run, system),
        waterfall(run, system),
        kinds_and_causes(run, system),
        kinds(run),
        alpha(run, system),
        cost(run),
        recall_curve(run),
        distance(run),
        separation(run),
        questions_and_systems(run),
        parallel(run),
        None if interference is None else doses(run, interference),
    ]
    return [plot for plot in drawn if plot is not None]
