"""Commands that help to decide: `lab compare`, `lab ablate`."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.options import AsJson


def compare(
    a: Annotated[Path, typer.Argument(help="Run folder or TREC run: the older or the reference.")],
    b: Annotated[Path, typer.Argument(help="Run folder or TREC run: the newer.")],
    system_a: Annotated[str | None, typer.Option(help="System of A by name; the recommended one by default.")] = None,
    system_b: Annotated[str | None, typer.Option(help="System of B by name; the recommended one by default.")] = None,
    qrels: Annotated[Path | None, typer.Option(help="Judgements for TREC runs (TREC or BEIR columns).")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="Metrics for TREC runs; may be repeated.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two runs on their common questions: per metric and kind, by cause, question by question, and what changed."""
    from rich.console import Console

    from lab.experiment.compare import compare_sides
    from lab.experiment.side import METRICS, sides
    from lab.report.compare import compare_json, compare_screen

    found = compare_sides(*sides((a, b), (system_a, system_b), qrels, metric or METRICS))
    if as_json:
        typer.echo(compare_json(found))
    else:
        Console(highlight=False).print(compare_screen(found))


def ablate(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    baseline: Annotated[str | None, typer.Option(help="System by name; the recommended one by default.")] = None,
    metric: Annotated[str | None, typer.Option(help="Metric; the selecting one by default.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show which setting matters and by how much: steps from a baseline, and main effects over the whole grid."""
    from rich.console import Console

    from lab.experiment.ablate import ablate as ablate_run
    from lab.experiment.run_folder import read_run
    from lab.report.ablate import ablation_json, ablation_screen

    finished = read_run(run)
    found = ablate_run(finished, baseline or finished.manifest["recommended"], metric)
    if as_json:
        typer.echo(ablation_json(found))
    else:
        Console(highlight=False).print(ablation_screen(found))
