"""Alpha curves survive the table of a run."""

import numpy as np

from lab.diagnosis.alpha_summary import recall_curve
from lab.diagnosis.curve_table import curves_of
from lab.experiment.run_folder import run_of
from tests.report.given_run import small_result


def test_curves_read_back_are_those_of_the_sweep_at_every_alpha():
    result = small_result()
    table, alphas = run_of(result).curves, np.linspace(0, 1, 1001)
    for family in result.findings.families:
        read = curves_of(table[table["family"] == family.name])
        assert list(read) == [query.query_id for query in result.pieces.queries]
        for curve, back in zip(family.curves, read.values(), strict=True):
            np.testing.assert_array_equal(back.at(alphas), curve.at(alphas))


def test_mean_recall_at_grid_alphas_is_the_metric():
    """The exact curve of the small run equals the swept systems' recall@5 at their alphas."""
    result = small_result()
    for family in result.findings.families:
        steps = recall_curve(list(curves_of(run_of(result).curves.query("family == @family.name")).values()), 5)
        for system, config in zip(result.systems, result.configs, strict=True):
            if config.fusion is not None and family.name == system.replace(f" alpha={config.fusion.alpha:g}", ""):
                assert abs(steps.at(np.array([config.fusion.alpha]))[0] - result.scores(system).means()["recall@5"]) < 1e-12
