"""Commands that read a finished run: `lab show`, `lab slices`, `lab explain`, `lab report`, `lab
export`."""

from pathlib import Path
from typing import Annotated

import typer

from lab.commands.options import AsJson, CorpusPath, SetPaths, SystemName


def show(run: Annotated[Path, typer.Argument(help="Run folder.")]) -> None:
    """Show the first screen of a finished run again."""
    from lab.report.screens.console import TextConsole
    from lab.report.screens.terminal import first_screen
    from lab.runs.run import read_run

    TextConsole().print(first_screen(read_run(run)))


def slices(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    by: Annotated[
        str, typer.Option(help="kind, doctype, length, language, distance, siblings, or a tag.")
    ] = "kind",
    system: SystemName = None,
    corpus: CorpusPath = None,
    questions: SetPaths = None,
    as_json: AsJson = False,
) -> None:
    """Show a run by slices of its questions; `distance` adds the boundary gap, `siblings` the
    confusion of near misses."""
    from lab.report.screens.console import TextConsole, say_json
    from lab.report.screens.slices import sliced_json, sliced_screen
    from lab.runs.run import read_run

    parts = read_run(run, corpus, questions).sliced(by, system)
    if as_json:
        say_json(sliced_json(parts))
    else:
        TextConsole().print(sliced_screen(parts))


def explain(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    query: Annotated[str, typer.Argument(help="Question id.")],
    system: SystemName = None,
    corpus: CorpusPath = None,
    questions: SetPaths = None,
) -> None:
    """Show why a question fails: its hits with the evidence marked, the cause with its proof, and
    what would have helped."""
    from lab.report.screens.console import TextConsole
    from lab.report.screens.explanation import explanation_screen
    from lab.runs.run import read_run

    story = read_run(run, corpus, questions).explain(query, system)
    TextConsole().print(explanation_screen(story))


def report(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    corpus: CorpusPath = None,
    questions: SetPaths = None,
) -> None:
    """Write the report of a finished run anew: one file that opens from disk and fetches
    nothing."""
    from lab.answers.table import read_answer_tables
    from lab.report.figures.doses import read_doses
    from lab.report.page.page import page
    from lab.report.screens.console import say
    from lab.runs.folder import write_page
    from lab.runs.run import REPORT, read_run
    from lab.usage.written import read_drift

    opened = read_run(run, corpus, questions)
    text = page(opened, read_doses(run), read_answer_tables(run), read_drift(run))
    say(f"written: {write_page(run, REPORT, text)}")


def export(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    to: Annotated[
        str,
        typer.Option(
            help="csv, markdown, latex, figures, trec, ranx, jsonl; of one system: config, "
            "opensearch, elasticsearch."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder to write; RUN/export/FORMAT by default.")
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(help="System by name; several for markdown and latex; else the best one."),
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Metric, or several, of markdown and latex.")
    ] = None,
) -> None:
    """Write a run as files for spreadsheets, papers, trec_eval, ranx or scripts; or one system as
    an experiment file, or as another engine's index and search (from its documentation)."""
    from lab.report.export.export import export as export_run
    from lab.report.screens.console import say
    from lab.runs.run import read_run

    folder = out or run / "export" / to
    written = export_run(read_run(run), to, folder, system or (), metric or ())
    say(f"written: {len(written)} file{'s' if len(written) > 1 else ''} in {folder}")
