"""`lab metrics`: a run's metrics looked at themselves."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.options import AsJson


def metrics(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    baseline: Annotated[
        str | None, typer.Option(help="System by name; the best BM25 system by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show which metrics say the same and how well each tells systems apart, and how many questions
    every system hurts."""
    from lab.report.screens.console import TextConsole, say_json
    from lab.report.screens.metrics import metrics_record, metrics_screen
    from lab.runs.run import read_run

    finished = read_run(run)
    study = finished.metric_study(baseline)
    if as_json:
        say_json(metrics_record(study))
    else:
        TextConsole().print(metrics_screen(study, finished.labels))
