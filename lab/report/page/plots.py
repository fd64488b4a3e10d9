"""All plots of a run, in the order of the report."""

from typing import TYPE_CHECKING

from lab.report.page.alpha_plot import alpha_plot, family_of
from lab.report.page.diagnosis_plots import distance_plot, rescue_plots, waterfall_plot
from lab.report.page.dose_plot import dose_plot
from lab.report.page.explorer import chosen_systems
from lab.report.page.plot import Plot
from lab.report.page.systems_plots import heatmap, kinds, pareto
from lab.report.screens.unanswerable import unanswerable_plot
from lab.report.verdict import FirstScreen
from lab.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd


def all_plots(
    run: Run, verdict: FirstScreen, interference: "pd.DataFrame | None" = None
) -> list[Plot]:
    """Every plot that the run has the data for; `interference` are the rows of
    `Interference.table`, where it was measured."""
    chosen, family = chosen_systems(run, verdict), family_of(run, verdict.recommended)
    plots = [heatmap(run), pareto(run)]
    if run.several_kinds:
        plots.append(kinds(run, chosen))
    if not run.tables.causes.empty:
        plots += [waterfall_plot(run, verdict.recommended), *rescue_plots(run, verdict.recommended)]
    if family is not None:
        plots.append(alpha_plot(run, family))
    if run.manifest["unit"] == "evidence":
        plots.append(distance_plot(run, chosen))
    if (told := unanswerable_plot(run, chosen, run.labels)) is not None:
        plots.append(told)
    if interference is not None:
        plots.append(dose_plot(interference, verdict.select_by, chosen, run.labels))
    return plots
