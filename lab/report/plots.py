"""All plots of a run, and `result.plot`: the same figures one by one."""

from lab.diagnosis.run import Run
from lab.report.cube import Cube
from lab.report.explorer import chosen_systems
from lab.report.plot import Plot
from lab.report.systems_plots import heatmap, kinds, pareto
from lab.report.verdict import Verdict


def all_plots(run: Run, cube: Cube, verdict: Verdict) -> list[Plot]:
    """Every plot that the run has the data for, in the order of the report."""
    by_kind = run.questions.set_index("query_id")["kind"].loc[list(cube.query_ids)]
    plots = [heatmap(run, cube), pareto(run)]
    if by_kind.nunique() > 1:
        plots.append(kinds(run, cube, chosen_systems(run, verdict), by_kind))
    return plots
