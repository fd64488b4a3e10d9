"""Commands that help to decide: `lab compare`, `lab ablate`, `lab gate`, `lab history`."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from lab.commands.options import AsJson

# The finding is negative: not wrong input, and not success.
NEGATIVE = 1


def compare(
    a: Annotated[Path, typer.Argument(help="Run folder or TREC run: the older or the reference.")],
    b: Annotated[Path, typer.Argument(help="Run folder or TREC run: the newer.")],
    system_a: Annotated[
        str | None, typer.Option(help="System of A by name; the recommended one by default.")
    ] = None,
    system_b: Annotated[
        str | None, typer.Option(help="System of B by name; the recommended one by default.")
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option(help="Judgements for TREC runs (TREC or BEIR columns).")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Metrics for TREC runs; may be repeated.")
    ] = None,
    answers: Annotated[
        bool,
        typer.Option("--answers", help="Compare the answers that lab answers --into has kept."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare two runs on their common questions: per metric and kind, by cause, question by
    question, and what changed."""
    from lab.report.screens.console import TextConsole, say_json

    if answers:
        from dataclasses import asdict

        from lab.answers.compare import compare_answers
        from lab.report.screens.answers import compared_screen

        compared = compare_answers((a, b), (system_a, system_b))
        if as_json:
            say_json(asdict(compared))
        else:
            TextConsole().print(compared_screen(compared))
        return
    from lab.report.screens.compare import compare_json, compare_screen
    from lab.runs.compare import compare_sides
    from lab.runs.side import METRICS, sides

    comparison = compare_sides(*sides((a, b), (system_a, system_b), qrels, metric or METRICS))
    if as_json:
        say_json(compare_json(comparison))
    else:
        TextConsole().print(compare_screen(comparison))


def ablate(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    baseline: Annotated[
        str | None, typer.Option(help="System by name; the recommended one by default.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="Metric; the selecting one by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show which setting matters and by how much: steps from a baseline, and main effects over the
    whole grid."""
    from lab.report.screens.ablate import ablation_json, ablation_screen
    from lab.report.screens.console import TextConsole, say_json
    from lab.runs.ablate import ablate as ablate_run
    from lab.runs.run import read_run

    finished = read_run(run)
    ablation = ablate_run(finished, baseline or finished.recommended, metric)
    if as_json:
        say_json(ablation_json(ablation))
    else:
        TextConsole().print(ablation_screen(ablation))


def gate(
    run: Annotated[
        Path, typer.Argument(help="Run folder that wants to take the baseline's place.")
    ],
    baseline: Annotated[Path, typer.Option(help="Run folder that is in force.")],
    rules: Annotated[Path, typer.Option(help="Rules file (TOML).")],
    system: Annotated[
        str | None, typer.Option(help="System of the run by name; the recommended one by default.")
    ] = None,
    baseline_system: Annotated[
        str | None, typer.Option(help="System of the baseline; the recommended one by default.")
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="JUnit XML file to write.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Markdown summary to write.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check a run against its baseline by rules; exit code 1 unless every rule is shown to hold or
    is waived."""
    from lab.report.screens.console import TextConsole, say_json
    from lab.report.screens.gate import (
        gate_json,
        gate_junit,
        gate_markdown,
        gate_screen,
        write_text,
    )
    from lab.runs.gate import judge_gate
    from lab.runs.gate_rules import read_rules
    from lab.runs.side import run_side

    judged = judge_gate(
        run_side(run, system), run_side(baseline, baseline_system), read_rules(rules), date.today()
    )
    for path, text in ((junit, gate_junit(judged)), (markdown, gate_markdown(judged))):
        if path is not None:
            write_text(path, text)
    if as_json:
        say_json(gate_json(judged))
    else:
        TextConsole().print(gate_screen(judged))
    raise typer.Exit(0 if judged.passed else NEGATIVE)


def history(
    folder: Annotated[Path, typer.Argument(help="Folder that holds run folders.")] = Path("runs"),
    name: Annotated[
        str | None, typer.Option(help="Experiment, where runs of several lie there.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="Metric; the selecting one by default.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show all runs of an experiment over time, alerts where a control limit is crossed, and the
    kinds that moved."""
    from lab.report.screens.console import TextConsole, say_json
    from lab.report.screens.history import history_json, history_screen
    from lab.runs.history import read_history

    points = read_history(folder, name, metric)
    if as_json:
        say_json(history_json(points))
    else:
        TextConsole().print(history_screen(points))
